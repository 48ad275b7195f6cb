"""What a run was held up at (denied by a person, refused by the gate) and what became of what a person allowed: by
this, and not by what a model says of it, is known what no ending may claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from agent.actions import Action, ListApps, Note, PressKey, Scroll, Wait, WaitFor
from agent.graph.executor.covered_words import ReadWords
from agent.graph.executor.field_text import CopyText, ReadText
from agent.graph.executor.long_lists import ReadList, ScrollTo
from agent.graph.executor.phone_files import Files
from agent.graph.executor.state import ExecutorState
from agent.graph.executor.whole_list import ShowAll
from agent.guards.binding import ApprovalContext, digest
from agent.guards.gate import Gate
from agent.guards.rules import RuleName
from agent.wording import sentence
from devices.inputs import Key
from devices.wording import said

MAX_DEEDS: Final = 10
"""The last things that were done, as they are told beside something that was not."""


class MatterFate(StrEnum):
    """What has become of it."""

    DENIED = "denied"
    """A person did not allow it."""
    REFUSED = "refused"
    """The policy does not allow it, and nothing else was done since."""
    NOT_DONE = "not_done"
    """A person allowed it, and then it could not be done."""
    UNCERTAIN = "uncertain"
    """It was begun, and nobody knows whether it was done."""
    DONE = "done"
    """A person allowed it, and it was done."""


class Matter(BaseModel):
    """Something that the gate held, and its fate. `about` is the same for another try of the same, such as other words
    to the same recipient; `what` is told to people. `subtask` is the last one that tried it.
    """

    model_config = ConfigDict(frozen=True)

    about: str
    what: str
    fate: MatterFate
    subtask: int


def about_of(gate: Gate, near: ApprovalContext, consequence: str) -> str:
    """What a press is about, as far as another one could take its place: a message to the same recipient, whatever its
    words, else the same `consequence` alone.
    """
    if gate.consequence == RuleName.SEND and near.kind == "page" and near.title:
        return digest([RuleName.SEND, near.title])
    return consequence


def headline(question: str, what: str) -> str:
    """What is told of it: the question without its mark, or the action where it asks for no more than that."""
    return said(what) if question == sentence("ask.may", what=what) else question.rstrip("?？ ")


Matters = list[dict[str, Any]]
"""The matters of a run as data, in the order in which their fates were known."""


def with_fate(matters: Matters, fate: MatterFate, known: Mapping[str, Any] | None, subtask: int) -> Matters:
    """The matters with one more, which takes the place of an earlier try of the same. `known` has its `about` and
    `what`, as the anchor of an approval does; nothing is known of another one.
    """
    if known is None or "about" not in known:
        return matters
    matter = Matter(about=known["about"], what=known["what"], fate=fate, subtask=subtask)
    kept = [each for each in matters if each["fate"] == MatterFate.DONE or each["about"] != matter.about]
    return [*kept, matter.model_dump(mode="json")]


_LOOKS: Final = (*(Scroll, ScrollTo, ReadList, ShowAll, ListApps, ReadText, CopyText, ReadWords, Wait, WaitFor, Note),)
"""Actions that only lead somewhere or look."""


def acts(action: Action) -> bool:
    """Whether the action changes something on the phone or elsewhere, and does not only lead somewhere or look."""
    if isinstance(action, PressKey):
        return action.key not in {Key.HOME, Key.BACK, Key.RECENTS}
    if isinstance(action, Files):
        return action.do != "list"
    return not isinstance(action, _LOOKS)


def done_by_hand(matters: Matters) -> Matters:
    """The matters once a person has had the phone: what they had allowed, and was not pressed for them, was theirs."""
    return [each for each in matters if each["fate"] != MatterFate.NOT_DONE]


def tried_again(state: ExecutorState, about: str) -> Matters:
    """The matters of the run when this sub-task has tried what a person had denied before."""
    matters = state["safety"]["matters"]
    return [{**each, "subtask": state["order"]["subtask"]} if each["about"] == about else each for each in matters]


def without_refused(matters: Matters) -> Matters:
    """The matters of a run that has gone another way than the one that was refused."""
    return [each for each in matters if each["fate"] != MatterFate.REFUSED]


def matters_of(state: ExecutorState) -> list[Matter]:
    """Those that the sub-task has tried."""
    mine = [Matter.model_validate(each) for each in state["safety"]["matters"]]
    return [each for each in mine if each.subtask == state["order"]["subtask"]]


def denied(matters: Matters) -> tuple[str, ...]:
    """What a person did not allow and did not allow since either, in the whole run."""
    return tuple(each["what"] for each in matters if each["fate"] == MatterFate.DENIED)


def told_open(matters: Sequence[Matter]) -> list[str]:
    """A line for each that was not done, or that may not have been."""
    return [sentence(f"matter.{each.fate}", what=each.what) for each in matters if each.fate is not MatterFate.DONE]


def told_done(matters: Sequence[Matter], deeds: Sequence[str]) -> list[str]:
    """What was done all the same: a line for each thing that a person has allowed, and one for the last of the rest."""
    lines = [sentence("matter.done", what=each.what) for each in matters if each.fate is MatterFate.DONE]
    if deeds:
        lines.append(sentence("matter.deeds", deeds=" · ".join(map(said, deeds[-MAX_DEEDS:]))))
    return lines
