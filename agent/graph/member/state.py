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
    """How messages that were too long for the model are being handled: "refused", then "summed up" until the model has
    answered; otherwise "".
    """


class CallsState(TypedDict, total=False):
    """The tool calls of the member's model."""

    turn: int
    """How often the model has answered."""
    made: int
    """How many calls were made."""
    wanted: list[dict[str, str]]
    """The calls of the last answer, each with `id`, `name` and `arguments`."""
    left_out: int
    """How many calls of the last answer are skipped, because it had too many."""
    strikes: int
    """How many unusable answers the model has given in a row: empty ones, or calls when none are left."""


class QuestionState(TypedDict, total=False):
    """The open question to the person."""

    pending: dict[str, Any] | None
    """The open question (agent.questions.Question)."""
    call: str
    """The id of the tool call that asks the question; "" if the question is about a tool that needs approval."""
    approval: str
    """The key with which the tools identify the action that needs approval."""
    what: str
    """A description of what needs approval."""
    answered_count: int
    """How many questions were answered."""


class SafetyState(TypedDict, total=False):
    """What people decided about tools that need approval."""

    allowed: list[str]
    """The keys with which the tools identify actions that a person approved."""
    denied: list[str]
    """The keys with which the tools identify actions that a person denied."""
    declined: list[str]
    """Descriptions of what a person denied."""
    unsure: list[str]
    """Descriptions of what a tool may or may not have done."""


class FindingsState(TypedDict, total=False):
    """What the work has produced."""

    notes: list[str]
    """The notes made."""
    data: list[str]
    """Data that tools produced for the result."""
    sources: list[dict[str, str]]
    """The pages that were read (agent.events.Source)."""


class ProgressState(TypedDict, total=False):
    """The cost of the work, and how it ended."""

    usage: dict[str, Any]
    """The tokens used (`agent.models.base.Usage`)."""
    result: dict[str, Any] | None
    """The `outcome`, `summary` and `fault` of the work; None while it runs."""


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
    """Return the initial state of an assignment; `words` are the first message to the model."""
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
    """Rebuild a message of the history from plain data."""
    calls = tuple(ToolCall(**call) for call in data.get("calls", []))
    return Message(data["role"], (data["text"],), calls, data.get("call", ""))
