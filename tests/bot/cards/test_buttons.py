"""Button data: made here, read here, and nothing else is taken for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cards.buttons import (
    MAX_BYTES,
    ButtonAction,
    ButtonData,
    button,
    pause_button,
    read_button,
    resume_button,
    stop_button,
)
from bot.domain.task import locator


def test_what_is_made_is_read() -> None:
    assert read_button(stop_button("12").data) == ButtonData(ButtonAction.STOP, "12")
    assert read_button(pause_button("12").data) == ButtonData(ButtonAction.PAUSE, "12")
    assert read_button(resume_button("12").data) == ButtonData(ButtonAction.RESUME, "12")
    made = button(ButtonAction.ANSWER, locator("any id"), "Allow", choice="allow")
    assert read_button(made.data) == ButtonData(ButtonAction.ANSWER, locator("any id"), "allow")


@pytest.mark.parametrize(
    "data",
    ["", "1", "1:stop", "2:stop:12", "0:stop:12", "1:explode:12", "1:stop:", "1:ans:x:", "1:ans:x:1:2", "stop:12"],
)
def test_what_was_never_made_is_not_read(data: str) -> None:
    assert read_button(data) is None


@given(st.text(max_size=100))
def test_any_text_is_read_or_refused(data: str) -> None:
    read = read_button(data)
    if read is not None:
        assert len(data.encode()) <= MAX_BYTES


@given(st.text(max_size=500))
def test_a_locator_has_always_the_same_size(question: str) -> None:
    assert len(locator(question)) == 16


def test_data_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="bytes"):
        button(ButtonAction.STOP, "1" * 64, "Stop")


def test_long_labels_are_cut() -> None:
    assert len(button(ButtonAction.STOP, "1", "x" * 200).label) == 80
