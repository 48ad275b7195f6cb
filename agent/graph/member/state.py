"""What a member keeps between its nodes: plain data only."""

from __future__ import annotations

from typing import Any, Final, TypedDict

from agent.models.base import Message, ToolCall

ASK: Final = "ask_user"
GIVE_UP: Final = "give_up"


class MemberState(TypedDict, total=False):
    """The state of one piece of work.

    `history` are the messages after the instructions, `turn` counts the model's answers and `made` its calls of
    tools; `wanted` are the calls of the last answer, `left_out` how many more it had. `question` is the open one,
    `call` the id of the call that asks it, "" where a tool has to be allowed; `allowed` and `denied` are what people
    have said to such, `what` would be done by it, `said_no` what was denied, and `unsure` what a tool may or may not
    have done. `refused` is what became of messages that were too long for the model: "refused", then "summed up", until
    it has answered. `strikes` counts answers that nothing could be done with.
    """

    goal: str
    history: list[dict[str, Any]]
    turn: int
    made: int
    wanted: list[dict[str, str]]
    left_out: int
    question: dict[str, Any] | None
    call: str
    approval: str
    what: str
    askings: int
    allowed: list[str]
    denied: list[str]
    said_no: list[str]
    unsure: list[str]
    strikes: int
    refused: str
    said: list[str]
    notes: list[str]
    data: list[str]
    sources: list[dict[str, str]]
    usage: dict[str, Any]
    result: dict[str, Any] | None


def message_of(data: dict[str, Any]) -> Message:
    """A message of the history."""
    calls = tuple(ToolCall(**call) for call in data.get("calls", []))
    return Message(data["role"], (data["text"],), calls, data.get("call", ""))


def call_data(call: ToolCall) -> dict[str, str]:
    """A call as plain data."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}
