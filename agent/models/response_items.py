"""The request of the Responses API."""

from __future__ import annotations

from agent.models.base import Message, ModelRequest, ToolSpec
from agent.models.conversations import Turn
from agent.models.formats import AnswerFormat, is_strict, strict_schema
from agent.models.habits import DEEP_EFFORT, EFFORT, Habits
from agent.models.picture_url import data_url
from agent.picture import ImagePart

CALL_WAS_DONE = "The next message shows what came of it."
"""The output of every tool call: the endpoint insists on one, and the new observation says it better."""


def response_payload(
    model: str, request: ModelRequest, turn: Turn, habits: Habits, *, store: bool
) -> dict[str, object]:
    """The body of the request for this turn."""
    outputs = [{"type": "function_call_output", "call_id": call, "output": CALL_WAS_DONE} for call in turn.calls]
    payload: dict[str, object] = {
        "model": model,
        "input": [*outputs, *(_item(message) for message in turn.messages)],
        "store": store,
        "stream": habits.sends("stream"),
    }
    if turn.previous:
        payload["previous_response_id"] = turn.previous
    if request.tools:
        payload["tools"] = [_tool(tool, strict=habits.sends("strict")) for tool in request.tools]
    if request.conversation and habits.sends("prompt_cache_key"):
        payload["prompt_cache_key"] = request.conversation
    if request.deep and habits.sends(EFFORT):
        payload["reasoning"] = {"effort": DEEP_EFFORT}
    if request.schema is not None and habits.answer_format is AnswerFormat.JSON_SCHEMA:
        form = {"name": request.schema.__name__, "schema": strict_schema(request.schema), "strict": True}
        payload["text"] = {"format": {"type": "json_schema"} | form}
    elif request.schema is not None and habits.answer_format is AnswerFormat.JSON_OBJECT:
        payload["text"] = {"format": {"type": "json_object"}}
    return payload


def _item(message: Message) -> dict[str, object]:
    if message.role == "assistant":
        return {"role": "assistant", "content": "\n".join(part for part in message.parts if isinstance(part, str))}
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: str | ImagePart) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    return {"type": "input_image", "image_url": data_url(part), "detail": "high"}


def _tool(tool: ToolSpec, *, strict: bool) -> dict[str, object]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        # Absent would mean true here, unlike in chat completions.
        "strict": strict and is_strict(tool.parameters),
    }
