"""The state of a member's graph: plain data only, as a tree with one branch per subject."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypedDict, cast

from agent.graph.subjects import joined_subjects, merged
from agent.models.base import Message, ToolCall

ASK: Final = "ask_user"
GIVE_UP: Final = "give_up"
VERSION: Final = 1
"""The version of this state's format, stored with it."""


class ConversationState(TypedDict, total=False):
    """What the member's model is told, and what the person has written."""

    history: list[dict[str, Any]]
    """The messages after the instructions."""
    user_messages: list[str]
    """What the person has answered or written since the work began."""
    overflow: str
    """The state of messages that were too long: "refused", then "summed up" until the model has answered."""


class CallsState(TypedDict, total=False):
    """The tool calls."""

    turn: int
    """How often the model has answered."""
    made: int
    """How many calls were made."""
    wanted: list[dict[str, str]]
    """The calls of the last answer, each with `id`, `name` and `arguments`."""
    left_out: int
    """How many further calls of the last answer are not made."""
    strikes: int
    """Unusable answers."""


class QuestionState(TypedDict, total=False):
    """The question to the person."""

    pending: dict[str, Any] | None
    """The open question (agent.questions.Question)."""
    call: str
    """The id of the call that asks it; "" if a tool needs approval."""
    approval: str
    """What needs approval, as the tools identify it."""
    what: str
    """What needs approval, in words."""
    answered_count: int
    """How many questions were answered."""


class SafetyState(TypedDict, total=False):
    """What people decided about tools that need approval."""

    allowed: list[str]
    """What they approved, as the tools identify it."""
    denied: list[str]
    """What they denied, as the tools identify it."""
    declined: list[str]
    """What they denied, in words."""
    unsure: list[str]
    """What a tool may or may not have done, in words."""


class FindingsState(TypedDict, total=False):
    """What the work has produced."""

    notes: list[str]
    """The notes made."""
    data: list[str]
    """What tools made of it: the data of the result."""
    sources: list[dict[str, str]]
    """The pages that were read (agent.events.Source)."""


class ProgressState(TypedDict, total=False):
    """What the work has cost and how it ended."""

    usage: dict[str, Any]
    """Its tokens (agent.models.base.Usage)."""
    result: dict[str, Any] | None
    """Its `outcome`, `summary` and `fault`, once it has ended."""


class MemberState(TypedDict, total=False):
    """The state of one assignment."""

    version: int
    """The version of the format (`VERSION`)."""
    conversation: Annotated[ConversationState, merged]
    """What the model is told."""
    calls: Annotated[CallsState, merged]
    """The tool calls."""
    question: Annotated[QuestionState, merged]
    """The question to the person."""
    safety: Annotated[SafetyState, merged]
    """What people decided about tools that need approval."""
    findings: Annotated[FindingsState, merged]
    """What the work has produced."""
    progress: Annotated[ProgressState, merged]
    """What it has cost and how it ended."""


def begun(words: str) -> MemberState:
    """Return the initial state of an assignment; `words` are the first message."""
    return {
        "version": VERSION,
        "conversation": {"history": [{"role": "user", "text": words}], "user_messages": [], "overflow": ""},
        "calls": {"turn": 0, "made": 0, "wanted": [], "left_out": 0, "strikes": 0},
        "question": {"pending": None, "call": "", "approval": "", "what": "", "answered_count": 0},
        "safety": {"allowed": [], "denied": [], "declined": [], "unsure": []},
        "findings": {"notes": [], "data": [], "sources": []},
        "progress": {"usage": {}, "result": None},
    }


def joined(*updates: MemberState) -> MemberState:
    """Combine several updates; for a key in two of them, the later one wins."""
    return cast("MemberState", joined_subjects(updates))


def message_of(data: dict[str, Any]) -> Message:
    """Return a message of the history."""
    calls = tuple(ToolCall(**call) for call in data.get("calls", []))
    return Message(data["role"], (data["text"],), calls, data.get("call", ""))


def call_data(call: ToolCall) -> dict[str, str]:
    """Convert a call to plain data."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}
