"""The chat completions API: sends requests that every compatible endpoint accepts, and assembles the answer, streamed
or not, in the many variants of endpoints.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from agent.models.base import Delta, Message, ModelReply, ModelRequest, ToolCall, ToolSpec
from agent.models.call_failure import Broken, CallFailure, CutShort
from agent.models.connection import Connection, ShownOnce
from agent.models.endpoint import MAX_CALLS, MAX_LETTERS, MAX_SHOWN_ARGUMENTS, EndpointSettings, TooMuch
from agent.models.endpoint_quirks import (
    DEEP_EFFORT,
    EFFORT,
    AnswerFormat,
    EndpointQuirks,
    QuirkRecovery,
    is_strict,
    strict_schema,
)
from agent.models.json_answers import whole_signs
from agent.models.pictures import data_url
from agent.models.pricing import priced
from agent.models.tokens import Reported, ReportedUsage, usage_of
from agent.scene import ImagePart


class _Function(BaseModel):
    name: str | None = None
    arguments: str | None = None

    @field_validator("arguments", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """Accept servers that send an object instead of its text."""
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


class _CallPiece(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Piece(BaseModel):
    content: str | None = None
    refusal: str | None = None
    reasoning: str | None = Field(default=None, validation_alias=AliasChoices("reasoning_content", "reasoning"))
    tool_calls: list[_CallPiece] | None = None

    @field_validator("content", mode="before")
    @classmethod
    def _joined(cls, value: object) -> object:
        """Accept servers that send a list of parts; only their text counts."""
        if isinstance(value, list):
            return "".join(str(part["text"]) for part in value if isinstance(part, dict) and "text" in part)
        return value


class _Choice(BaseModel):
    piece: _Piece | None = Field(default=None, validation_alias=AliasChoices("delta", "message"))
    finish_reason: str | None = None
    usage: Reported = None
    """Where Moonshot puts the usage when it streams."""


class _Chunk(BaseModel):
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: Reported = None


@dataclass(slots=True)
class _Call:
    """A tool call that is being assembled."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    letters: int = 0


class ChatReader:
    """Assembles one answer: pass every JSON value to `feed`, then call `check` and `reply`. `show` receives
    the pieces.
    """

    def __init__(self, show: Callable[[Delta], None]) -> None:
        self.usage: ReportedUsage | None = None
        self._show = show
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._begun = False
        self._finish = ""
        self._model = ""
        self._letters = 0

    def feed(self, value: object) -> None:
        """Add a streamed chunk, or a whole answer.

        Raises ValueError if it is neither, Broken if it is an error (LM Studio sends one with status 200), and TooMuch
        if the answer is too long.
        """
        if isinstance(value, dict) and value.get("error"):
            raise Broken(value["error"])
        chunk = _Chunk.model_validate(value)
        self._model = chunk.model or self._model
        self.usage = chunk.usage or self.usage
        for choice in (chunk.choices or ())[:1]:
            self._begun = True
            self.usage = choice.usage or self.usage
            self._finish = choice.finish_reason or self._finish
            if choice.piece is not None:
                self._take(choice.piece)

    def check(self) -> None:
        """Check that the answer is complete. Raises CutShort if it has no finish reason, and ValueError if no answer
        came at all.
        """
        if not self._begun:
            raise ValueError("no answer")
        if not self._finish:
            raise CutShort

    def reply(self, model: str) -> ModelReply:
        """Return the answer without its usage. `model` is used if the endpoint does not name its model."""
        calls = tuple(
            ToolCall(
                whole_signs(call.id) or f"call_{number}", whole_signs(call.name), whole_signs("".join(call.arguments))
            )
            for number, call in enumerate(self._calls)
        )
        text, reasoning = whole_signs("".join(self._text)), whole_signs("".join(self._reasoning))
        named = whole_signs(self._model) or model
        return ModelReply(text, calls, reasoning, model=named, finish_reason=whole_signs(self._finish))

    def _take(self, piece: _Piece) -> None:
        text = (piece.content or "") + (piece.refusal or "")
        reasoning = piece.reasoning or ""
        if text:
            self._text.append(text)
        if reasoning:
            self._reasoning.append(reasoning)
        if text or reasoning:
            self._count(len(text) + len(reasoning))
            self._show(Delta(whole_signs(text), whole_signs(reasoning)))
        for part in piece.tool_calls or ():
            call = self._call_for(part)
            call.id = call.id or part.id or ""
            if part.function is not None:
                name, arguments = part.function.name or "", part.function.arguments or ""
                call.name = call.name or name
                self._count(len(name) + len(arguments))
                call.arguments.append(arguments)
                call.letters += len(arguments)
                if call.letters <= MAX_SHOWN_ARGUMENTS:
                    written = whole_signs("".join(call.arguments))
                    self._show(Delta(call=ToolCall(call.id, whole_signs(call.name), written)))

    def _count(self, letters: int) -> None:
        self._letters += letters
        if self._letters > MAX_LETTERS:
            raise TooMuch(f"the answer has more than {MAX_LETTERS} letters")

    def _call_for(self, part: _CallPiece) -> _Call:
        """Find the call of a piece: by index, or by id if the server numbers all calls 0 or not at all."""
        begins = part.index is None and not part.id and part.function is not None and bool(part.function.name)
        for call in reversed(self._calls):
            if part.index is not None and call.index != part.index:
                continue
            if begins or (part.id and call.id and part.id != call.id):
                continue
            return call
        if len(self._calls) >= MAX_CALLS:
            raise TooMuch(f"the answer has more than {MAX_CALLS} calls")
        call = _Call(part.index)
        self._calls.append(call)
        return call


PATH = "/chat/completions"


class ChatApi:
    """Calls the chat completions API for one model."""

    def __init__(self, settings: EndpointSettings, connection: Connection, recovery: QuirkRecovery) -> None:
        self._settings = settings
        self._connection = connection
        self._recovery = recovery

    async def complete(self, request: ModelRequest, shown: ShownOnce) -> ModelReply | CallFailure:
        """Request one answer. Returns the answer or, after all retries, the last failure. `shown` passes the streamed
        pieces on.
        """
        limit = self._settings.limit(request.purpose)

        async def attempt(quirks: EndpointQuirks) -> ChatReader | CallFailure:
            payload = chat_payload(self._settings.model, request, quirks)
            return await self._connection.exchange(PATH, payload, lambda: ChatReader(shown.attempt()), limit)

        outcome = await self._recovery.send(request, attempt)
        if isinstance(outcome, CallFailure):
            return outcome
        reply = outcome.reply(self._settings.model)
        usage = usage_of(outcome.usage, request.messages, reply)
        return replace(reply, usage=priced(usage, self._settings.prices.get(self._settings.model)))


def chat_payload(model: str, request: ModelRequest, quirks: EndpointQuirks) -> dict[str, object]:
    """Return the body of the HTTP request, without the parameters that the endpoint is known to refuse."""
    payload: dict[str, object] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "stream": quirks.sends("stream"),
    }
    if request.tools:
        payload["tools"] = [_tool(tool, strict=quirks.sends("strict")) for tool in request.tools]
    if request.conversation:
        payload["prompt_cache_key"] = request.conversation
    if request.deep:
        payload[EFFORT] = DEEP_EFFORT
    if request.temperature is not None:
        payload["temperature"] = request.temperature
    if request.max_tokens is not None:
        # OpenAI's reasoning models only know the second name, most other servers only the first.
        payload["max_tokens" if quirks.sends("max_tokens") else "max_completion_tokens"] = request.max_tokens
    payload["stream_options"] = {"include_usage": True}
    if request.schema is not None:
        match quirks.answer_format:
            case AnswerFormat.JSON_SCHEMA:
                form = {"name": request.schema.__name__, "schema": strict_schema(request.schema), "strict": True}
                payload["response_format"] = {"type": "json_schema", "json_schema": form}
            case AnswerFormat.JSON_OBJECT:
                payload["response_format"] = {"type": "json_object"}
            case AnswerFormat.TEXT:
                pass
    return {name: value for name, value in payload.items() if quirks.sends(name) or name == "stream"}


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
