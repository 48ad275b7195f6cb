"""The id of a run: what it is made of, and the one text that it is written as."""

from __future__ import annotations

import pytest

from agent.events import Started
from agent.questions import Question, QuestionKind
from agent.run import RunId


@pytest.mark.parametrize(
    ("written", "run"),
    [("7-1", RunId("7", 1)), ("12-3", RunId("12", 3)), ("a-b-2", RunId("a-b", 2))],
)
def test_it_is_read_as_it_is_written(written: str, run: RunId) -> None:
    assert RunId.parse(written) == run
    assert RunId.parse(str(run)) == run


@pytest.mark.parametrize("written", ["", "7", "-1", "7-", "7-x", "7.1", "Camera"])
def test_what_is_no_run_is_not_taken_for_one(written: str) -> None:
    with pytest.raises(ValueError, match="is not the id of a run"):
        RunId.parse(written)


def test_json_has_the_text() -> None:
    event = Started(run=RunId("7"), phone="pixel", phone_name="Pixel")
    assert event.model_dump(mode="json")["run"] == "7-1"
    assert event.model_dump()["run"] == RunId("7")
    assert Started.model_validate_json(event.model_dump_json()) == event


def test_a_question_has_its_run_from_plain_data() -> None:
    asked = Question.model_validate({"id": "7-1.1.3.1", "run": "7-1", "kind": "ask", "text": "Which?"})
    assert (asked.run, asked.kind) == (RunId("7"), QuestionKind.ASK)
