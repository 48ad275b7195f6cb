"""Calls the chat completions API with requests that every compatible endpoint accepts."""

from __future__ import annotations

from dataclasses import replace

from agent.models.base import Message, ModelReply, ModelRequest, ToolSpec
from agent.models.call_failure import CallFailure
from agent.models.chat_stream import ChatReader
from agent.models.connection import Connection
from agent.models.endpoint import EndpointSettings
from agent.models.endpoint_quirks import DEEP_EFFORT, EFFORT, Adapting, Habits
from agent.models.formats import AnswerFormat, is_strict, strict_schema
from agent.models.picture_url import data_url
from agent.models.pricing import priced
from agent.models.stream_dedup import ShownOnce
from agent.models.tokens import usage_of
from agent.picture import ImagePart

PATH = "/chat/completions"


class ChatApi:
    """Calls the chat completions API for one model."""

    def __init__(self, settings: EndpointSettings, connection: Connection, adapting: Adapting) -> None:
        self._settings = settings
        self._connection = connection
        self._adapting = adapting

    async def complete(self, request: ModelRequest, shown: ShownOnce) -> ModelReply | CallFailure:
        """Request one answer. Returns the answer or, after all retries, the last failure. `shown` passes the streamed
        pieces on.
        """
        limit = self._settings.limit(request.purpose)

        async def attempt(habits: Habits) -> ChatReader | CallFailure:
            payload = chat_payload(self._settings.model, request, habits)
            return await self._connection.exchange(PATH, payload, lambda: ChatReader(shown.attempt()), limit)

        outcome = await self._adapting.send(request, attempt)
        if isinstance(outcome, CallFailure):
            return outcome
        reply = outcome.reply(self._settings.model)
        usage = usage_of(outcome.usage, request.messages, reply)
        return replace(reply, usage=priced(usage, self._settings.prices.get(self._settings.model)))


def chat_payload(model: str, request: ModelRequest, habits: Habits) -> dict[str, object]:
    """Return the body of the HTTP request, without the parameters that the endpoint is known to refuse."""
    payload: dict[str, object] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "stream": habits.sends("stream"),
    }
    if request.tools:
        payload["tools"] = [_tool(tool, strict=habits.sends("strict")) for tool in request.tools]
    if request.conversation:
        payload["prompt_cache_key"] = request.conversation
    if request.deep:
        payload[EFFORT] = DEEP_EFFORT
    if request.temperature is not None:
        payload["temperature"] = request.temperature
    if request.max_tokens is not None:
        # OpenAI's reasoning models only know the second name, most other servers only the first.
        payload["max_tokens" if habits.sends("max_tokens") else "max_completion_tokens"] = request.max_tokens
    payload["stream_options"] = {"include_usage": True}
    if request.schema is not None:
        match habits.answer_format:
            case AnswerFormat.JSON_SCHEMA:
                form = {"name": request.schema.__name__, "schema": strict_schema(request.schema), "strict": True}
                payload["response_format"] = {"type": "json_schema", "json_schema": form}
            case AnswerFormat.JSON_OBJECT:
                payload["response_format"] = {"type": "json_object"}
            case AnswerFormat.TEXT:
                pass
    return {name: value for name, value in payload.items() if habits.sends(name) or name == "stream"}


def _message(message: Message) -> dict[str, object]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.calls:
        made = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
        return {"role": message.role, "content": message.text, "tool_calls": made}
    if all(isinstance(part, str) for part in message.parts):
        # A plain string is what text-only templates of local servers understand.
        return {"role": message.role, "content": message.text}
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: str | ImagePart) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": data_url(part), "detail": "high"}}


def _tool(tool: ToolSpec, *, strict: bool) -> dict[str, object]:
    function: dict[str, object] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if strict and is_strict(tool.parameters):
        function["strict"] = True
    return {"type": "function", "function": function}
