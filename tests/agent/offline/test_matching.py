"""Which label is meant, and above all which is not."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.offline.matching import EXACT, GOOD, contains, folded, gist, likeness
from agent.offline.progress import time_of_day


@pytest.mark.parametrize(
    ("wanted", "label"),
    [
        ("cart", "Cart, 0"),
        ("coffee beans", "Coffee beans 500 g"),
        ("the Save button", "Save"),
        ("wifi", "WLAN"),
        ("wi fi", "Wi-Fi"),
        ("dark mode", "Dark theme"),
        ("关于手机", "About phone"),
        ("bluetoth", "Bluetooth"),
        ("conversation with Bob", "Bob"),
        ("Sound and vibration", "Sound & vibration"),
        ("ＳＡＶＥ", "save"),
        ("Don't allow", "Don’t allow"),
    ],
)
def test_the_same_thing(wanted: str, label: str) -> None:
    assert likeness(wanted, label) >= GOOD


@pytest.mark.parametrize(
    ("wanted", "label"),
    [
        ("Save", "Save as draft"),
        ("mug", "Blue mug"),
        ("Blue mug", "Red mug"),
        ("Sign in", "Sign out"),
        ("Enable sync", "Disable sync"),
        ("Install", "Uninstall"),
        ("Alarm 07:00", "Alarm 08:00"),
        ("Reply", "Replay"),
        ("Battery", "Battery Saver"),
        ("Bob", "Bobby"),
        ("Dark theme", "Dark theme, rotation, brightness"),
        ("Delete", "Delete account"),
        ("Allow", "Don't allow"),
        ("Unicorn mode", "Aeroplane mode"),
        ("", "Save"),
        ("+", "-"),
    ],
)
def test_another_thing(wanted: str, label: str) -> None:
    """Seen failing with likeness replaced by difflib's ratio over the whole label."""
    assert likeness(wanted, label) < GOOD


WORDS = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=4).map(" ".join))
def test_a_label_is_itself(label: str) -> None:
    assume(folded(label))
    assert likeness(label, label) == EXACT


@given(st.integers(0, 9999), st.integers(0, 9999))
def test_numbers_are_never_nearly_equal(one: int, other: int) -> None:
    assert (likeness(f"Room {one}", f"Room {other}") >= GOOD) == (one == other)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert 0 <= likeness(one, other) <= EXACT
    assert len(gist(one)) <= 60


def test_words_inside_a_text() -> None:
    assert contains("Signed in as Anna", "signed in")
    assert not contains("Designed in haste", "signed in")


@pytest.mark.parametrize(
    ("text", "half", "time"),
    [
        ("8:30", "", "08:30"),
        ("8.05 PM", "", "20:05"),
        ("12 am", "", "00:00"),
        ("12 p.m.", "", "12:00"),
        ("7点半", "晚上", "19:30"),
        ("7点05分", "", "07:05"),
        ("9 o'clock", "", "09:00"),
        ("13 pm", "", ""),
        ("24:00", "", ""),
        ("soon", "", ""),
    ],
)
def test_times_of_day(text: str, half: str, time: str) -> None:
    assert time_of_day(text, half) == time
