"""A model's reply, back from plain data."""

from __future__ import annotations

from agent.dialects.base import BadReply
from agent.graph.executor.state import ExecutorState
from agent.models.base import ModelReply, ToolCall


def reply_of(state: ExecutorState) -> ModelReply:
    """The last reply of this step."""
    data = state["reply"]
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return ModelReply(data["text"], calls, reasoning=data["reasoning"], finish_reason=data.get("finish_reason", ""))


def why_unusable(reply: ModelReply, error: BadReply) -> str:
    """What was wrong with an answer, in words for the model: how it ended explains more than how it reads."""
    if reply.finish_reason == "length":
        return f"It was cut off because it was too long; think and write less. {error}"
    if reply.finish_reason == "content_filter":
        return f"It was stopped by the content filter of your endpoint. Say less about the content. {error}"
    if not (reply.text.strip() or reply.tool_calls):
        return f"It was empty. {error}"
    return str(error)


def reply_text(reply: ModelReply) -> str:
    """What the model said, calls included, as it is shown to it again."""
    calls = "\n".join(f'{{"name": "{call.name}", "arguments": {call.arguments}}}' for call in reply.tool_calls)
    return "\n".join(part for part in (reply.text, calls) if part)
