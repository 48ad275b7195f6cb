"""Tracks the matters of a run: the actions that a person denied or approved, or the gate refused, and what became of
each.

The final report is based on them, so that it cannot claim otherwise, whatever a model says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel

from agent.actions import Action, Finish, PressKey
from agent.graph.executor.action_spec import AnySpec, PhoneTool
from agent.graph.executor.phone_files import Files
from agent.graph.executor.state import ExecutorState
from agent.guards.binding import ApprovalContext, digest
from agent.guards.gate import Gate
from agent.guards.rules import RuleName
from agent.tools.spec import Tool
from agent.wording import sentence
from devices.inputs import Key
from devices.wording import said

MAX_DEEDS: Final = 10
"""How many of the last actions are listed in a report about something that was not done."""


class MatterStatus(StrEnum):
    """What became of a matter: an action that the gate stopped to ask or refuse (see `Matter`)."""

    DENIED = "denied"
    """A person denied it."""
    REFUSED = "refused"
    """The policy forbids it, and nothing else was done since."""
    NOT_DONE = "not_done"
    """A person approved it, but it could not be done."""
    UNCERTAIN = "uncertain"
    """It was begun, and it is unknown whether it was done."""
    DONE = "done"
    """A person approved it, and it was done."""


class Matter(BaseModel, frozen=True):
    """An action that the gate stopped to ask or refuse, and what became of it.

    `about` is equal for repeated tries, such as other words to the same recipient. `what` describes it for people.
    `subtask` is the number of the last sub-task that tried it.
    """

    about: str
    what: str
    fate: MatterStatus
    subtask: int


def about_of(gate: Gate, context: ApprovalContext, consequence: str) -> str:
    """Return the key of the matter that a press belongs to: for a message, the recipient, whatever its words; otherwise
    `consequence`. A later press with the same key replaces the earlier one.
    """
    if gate.consequence == RuleName.SEND and context.kind == "page" and context.title:
        return digest([RuleName.SEND, context.title])
    return consequence


def headline(question: str, what: str) -> str:
    """Return how a matter is reported to people: the question without its question mark, or the action `what` if the
    question only asks whether it may be done.
    """
    return said(what) if question == sentence("ask.may", what=what) else question.rstrip("?？ ")


Matters = list[dict[str, Any]]
"""The matters of a run as plain data, in the order in which their results became known."""


def with_matter(matters: Matters, status: MatterStatus, known: Mapping[str, Any] | None, subtask: int) -> Matters:
    """Return the run's matters with one added, which replaces earlier tries of the same that were not done. `status` is
    what became of it.

    `known` has its `about` and `what`, like the anchor of an approval; without `about`, the matters are returned
    unchanged.
    """
    if known is None or "about" not in known:
        return matters
    matter = Matter(about=known["about"], what=known["what"], fate=status, subtask=subtask)
    kept = [each for each in matters if each["fate"] == MatterStatus.DONE or each["about"] != matter.about]
    return [*kept, matter.model_dump(mode="json")]


def acts(action: Action, spec: AnySpec) -> bool:
    """Whether the action may change something on the phone or elsewhere. Looking things up, scrolling, waiting, noting,
    ending the work, and the keys for home, back and recent apps do not count.
    """
    if isinstance(spec, Tool):
        return not spec.repeatable
    if isinstance(action, PressKey):
        return action.key not in {Key.HOME, Key.BACK, Key.RECENTS}
    if isinstance(action, Files):
        return action.do != "list"
    only_scrolls = "moves the screen" in spec.traits and "touches" not in spec.traits
    only_looks = isinstance(spec, PhoneTool) and not spec.journalled
    return not (only_scrolls or only_looks or isinstance(action, Finish))


def tried_again(state: ExecutorState, about: str) -> Matters:
    """Return the run's matters, with the one that `about` identifies assigned to the current sub-task, because this
    tried it again after a person's denial.
    """
    matters = state["safety"]["matters"]
    return [{**each, "subtask": state["order"]["subtask"]} if each["about"] == about else each for each in matters]


def without(matters: Matters, status: MatterStatus) -> Matters:
    """Return the run's matters without those of this fate: refused actions once the run has found another way, and
    actions that were not done once a person has used the phone, because they could do these.
    """
    return [each for each in matters if each["fate"] != status]


def matters_of(state: ExecutorState) -> list[Matter]:
    """Return the matters that the current sub-task has tried: actions that a person denied or approved, or the gate
    refused.
    """
    mine = [Matter.model_validate(each) for each in state["safety"]["matters"]]
    return [each for each in mine if each.subtask == state["order"]["subtask"]]


def denied(matters: Matters) -> tuple[str, ...]:
    """Return descriptions of the actions that a person denied in the whole run and did not approve later."""
    return tuple(each["what"] for each in matters if each["fate"] == MatterStatus.DENIED)


def told_open(matters: Sequence[Matter]) -> list[str]:
    """Return lines for people, one about each of these matters (actions that needed a decision) that was not done or
    may not have been.
    """
    return [sentence(f"matter.{each.fate}", what=each.what) for each in matters if each.fate is not MatterStatus.DONE]


def told_done(matters: Sequence[Matter], deeds: Sequence[str]) -> list[str]:
    """Return lines for people about what was done: one for each approved action, and one for the last of the other
    actions (`deeds`).
    """
    lines = [sentence("matter.done", what=each.what) for each in matters if each.fate is MatterStatus.DONE]
    if deeds:
        lines.append(sentence("matter.deeds", deeds=" · ".join(map(said, deeds[-MAX_DEEDS:]))))
    return lines
