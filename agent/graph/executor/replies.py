"""A model's reply, back from plain data."""

from __future__ import annotations

from agent.graph.executor.state import ExecutorState
from agent.models.base import ModelReply, ToolCall


def reply_of(state: ExecutorState) -> ModelReply:
    """The last reply of this step."""
    data = state["reply"]
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return ModelReply(data["text"], calls, reasoning=data["reasoning"])


def reply_text(reply: ModelReply) -> str:
    """What the model said, calls included, as it is shown to it again."""
    calls = "\n".join(f"{call.name}({call.arguments})" for call in reply.tool_calls)
    return "\n".join(part for part in (reply.text, calls) if part)
