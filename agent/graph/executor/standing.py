"""What a person has allowed ahead, as the state of a run keeps it: given by an answer, looked up, used, recorded."""

from __future__ import annotations

from typing import Any

from agent.effect_facts import AllowedAhead
from agent.graph.executor.state import ExecutorState
from agent.guards.recipients import Message
from agent.questions import ALLOW_FOR_TASK, Answer, Question
from agent.standing_yes import StandingYes


def given(state: ExecutorState, asked: Question, answer: Answer) -> list[dict[str, Any]]:
    """What is allowed ahead after this answer: one more where it is for the task, and the recipient is known."""
    known = state["safety"]["standing"]
    if answer.text != ALLOW_FOR_TASK or asked.to is None:
        return known
    return [*known, StandingYes(to=asked.to.name, app=asked.to.app, by=answer.by).model_dump(mode="json")]


def allowed_ahead(state: ExecutorState, message: Message) -> ExecutorState | None:
    """The update with which this message is approved without a question; None when nobody has allowed it ahead.

    What a schedule lets pass is used up before it is sent, and stays so whatever comes of it: nothing of it goes out a
    second time without a question, after a crash either.
    """
    known = [StandingYes.model_validate(each) for each in state["safety"]["standing"]]
    used = next((each for each in known if each.covers(message.to, message.text)), None)
    if used is None:
        return None
    left = [each for each in known if each is not used or not used.schedule]
    return {
        "question": {"pending": None, "standing_yes": used.model_dump(mode="json")},
        "safety": {"standing": [each.model_dump(mode="json") for each in left]},
    }


def recorded(standing_yes: dict[str, Any]) -> AllowedAhead:
    """What the record of the step says of the yes that lets it pass. It is kept before the message goes out."""
    yes = StandingYes.model_validate(standing_yes)
    return AllowedAhead(to=yes.to, by=yes.by, schedule=yes.schedule)
