"""What a member keeps between its nodes: plain data only, a tree with one branch for each subject."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypedDict, cast

from agent.graph.subjects import joined_subjects, merged
from agent.models.base import Message, ToolCall

ASK: Final = "ask_user"
GIVE_UP: Final = "give_up"
VERSION: Final = 1
"""Of the shape of this state, kept with it."""


class ConversationState(TypedDict, total=False):
    """What the member's model is told, and what the person has written."""

    history: list[dict[str, Any]]
    """The messages after the instructions."""
    user_messages: list[str]
    """What the person has answered or written since the work began."""
    overflow: str
    """What became of messages that were too long for the model: "refused", then "summed up" until it has answered."""


class CallsState(TypedDict, total=False):
    """The calls of tools."""

    turn: int
    """How often the model has answered."""
    made: int
    """How many calls were made."""
    wanted: list[dict[str, str]]
    """The calls of the last answer, each with `id`, `name` and `arguments`."""
    left_out: int
    """How many more the last answer had, which are not made."""
    strikes: int
    """Answers that nothing could be done with."""


class QuestionState(TypedDict, total=False):
    """What the person is asked."""

    pending: dict[str, Any] | None
    """The open question (agent.questions.Question)."""
    call: str
    """The id of the call that asks it; "" where a tool has to be allowed."""
    approval: str
    """What has to be allowed, as the tools know it."""
    what: str
    """The same in words."""
    answered_count: int
    """How many questions were answered."""


class SafetyState(TypedDict, total=False):
    """What people have said to tools that have to be allowed."""

    allowed: list[str]
    """What they have allowed, as the tools know it."""
    denied: list[str]
    """What they have denied, as the tools know it."""
    declined: list[str]
    """What they have denied, in words."""
    unsure: list[str]
    """What a tool may or may not have done, in words."""


class FindingsState(TypedDict, total=False):
    """What the work has brought."""

    notes: list[str]
    """What was noted."""
    data: list[str]
    """What tools have made of it: the data of the result."""
    sources: list[dict[str, str]]
    """The pages that were read (agent.events.Source)."""


class ProgressState(TypedDict, total=False):
    """What the work has cost and how it ended."""

    usage: dict[str, Any]
    """Its tokens (agent.models.base.Usage)."""
    result: dict[str, Any] | None
    """Its `outcome`, `summary` and `fault`, once it has ended."""


class MemberState(TypedDict, total=False):
    """The state of one piece of work."""

    version: int
    """The shape of the state (`VERSION`)."""
    conversation: Annotated[ConversationState, merged]
    """What the model is told."""
    calls: Annotated[CallsState, merged]
    """The calls of tools."""
    question: Annotated[QuestionState, merged]
    """What the person is asked."""
    safety: Annotated[SafetyState, merged]
    """What people have said to tools that have to be allowed."""
    findings: Annotated[FindingsState, merged]
    """What the work has brought."""
    progress: Annotated[ProgressState, merged]
    """What it has cost and how it ended."""


def begun(words: str) -> MemberState:
    """The state that a piece of work begins with; `words` are the first message."""
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
    """Several updates as one; of what two of them have, the later counts."""
    return cast("MemberState", joined_subjects(updates))


def message_of(data: dict[str, Any]) -> Message:
    """A message of the history."""
    calls = tuple(ToolCall(**call) for call in data.get("calls", []))
    return Message(data["role"], (data["text"],), calls, data.get("call", ""))


def call_data(call: ToolCall) -> dict[str, str]:
    """A call as plain data."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}
