"""The Responses API: sends only new messages, with the id of the response that the endpoint has stored before, and
assembles the answer, streamed or not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from agent.models.base import Delta, Message, ModelReply, ModelRequest, ToolCall, ToolSpec, Usage
from agent.models.call_failure import Broken, CallFailure, CutShort
from agent.models.connection import Connection, ShownOnce
from agent.models.conversations import Conversations, Turn
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

logger = logging.getLogger(__name__)


TEXT_DELTAS = {"response.output_text.delta", "response.refusal.delta"}
REASONING_DELTAS = {"response.reasoning_text.delta", "response.reasoning_summary_text.delta"}
CALL_DELTAS = {"response.output_item.added", "response.function_call_arguments.delta"}
ENDS = {"response.completed", "response.incomplete", "response.failed"}
FINISH_REASONS = {"max_output_tokens": "length"}
"""Finish reasons of the Responses API and their names in chat completions."""
RESPONSE_ID = r"[A-Za-z0-9._~:=+-]{1,512}"
"""The form of an id, which is put into a URL again to delete the response."""


class _Part(BaseModel):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(BaseModel):
    type: str = ""
    content: list[_Part] | None = None
    summary: list[_Part] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None

    @property
    def parts(self) -> tuple[_Part, ...]:
        return (*(self.content or ()), *(self.summary or ()))


class _Error(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    code: str | None = None
    message: str | None = None


class _Why(BaseModel):
    reason: str | None = None


class _Response(BaseModel):
    id: str = Field(pattern=rf"^{RESPONSE_ID}$")
    status: str = ""
    model: str | None = None
    previous_response_id: str | None = None
    output: list[_Item] | None = None
    usage: Reported = None
    error: _Error | None = None
    incomplete_details: _Why | None = None


class _Event(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    type: str
    delta: str | None = None
    item: _Item | None = None
    response: _Response | None = None
    code: str | None = None
    message: str | None = None


class ResponseReader:
    """Assembles one answer: pass every JSON value to `feed`, then call `check` and `reply`. `show` receives
    the pieces.
    """

    def __init__(self, show: Callable[[Delta], None]) -> None:
        self.usage: ReportedUsage | None = None
        self.response = ""
        """The id of the response."""
        self.continued = ""
        """The id of the response that the endpoint says it continued."""
        self._show = show
        self._items: list[_Item] = []
        self._writing: dict[str, tuple[str, str]] = {}
        """Name and arguments of unfinished calls, by their position in the answer."""
        self._finish = ""
        self._model = ""
        self._letters = 0

    def feed(self, value: object) -> None:
        """Add a streamed event, or a whole response.

        Raises ValueError if it is neither, Broken if it is an error, and TooMuch if the answer is too long.
        """
        if isinstance(value, dict) and value.get("object") == "response":
            self._end(_Response.model_validate(value))
            return
        if isinstance(value, dict) and value.get("error") and "type" not in value:
            raise Broken(value["error"])
        if not isinstance(value, dict) or not str(value.get("type", "")).startswith(("response.", "error")):
            raise ValueError("not an event")
        if value["type"] in TEXT_DELTAS:
            self._show(Delta(text=self._shown(value)))
        elif value["type"] in REASONING_DELTAS:
            self._show(Delta(reasoning=self._shown(value)))
        elif value["type"] in CALL_DELTAS:
            self._show_call(value)
        elif value["type"] in {"error", "response.output_item.done"} or "response" in value:
            self._take(_Event.model_validate(value))

    def _show_call(self, value: dict[str, object]) -> None:
        """Show an unfinished call; the end of its item repeats all of it."""
        place, item = str(value.get("output_index")), value.get("item")
        if isinstance(item, dict):
            if item.get("type") == "function_call" and len(self._writing) < MAX_CALLS:
                self._writing[place] = (whole_signs(str(item.get("name") or "")), "")
            return
        piece = self._shown(value)
        name, written = self._writing.get(place, ("", ""))
        if name and len(written) + len(piece) <= MAX_SHOWN_ARGUMENTS:
            self._writing[place] = (name, written + piece)
            self._show(Delta(call=ToolCall("", name, written + piece)))

    def check(self) -> None:
        """Check that the answer is complete. Raises CutShort if its end is missing."""
        if not self._finish:
            raise CutShort

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the answer."""
        return tuple(
            ToolCall(
                whole_signs(item.call_id or f"call_{number}"),
                whole_signs(item.name or ""),
                whole_signs(item.arguments or ""),
            )
            for number, item in enumerate(item for item in self._items if item.type == "function_call")
        )

    def reply(self, model: str) -> ModelReply:
        """Return the answer without its usage. `model` is used if the endpoint does not name its model."""
        parts = [part for item in self._items if item.type == "message" for part in item.content or ()]
        thoughts = [part for item in self._items if item.type == "reasoning" for part in item.parts]
        return ModelReply(
            text=whole_signs("".join((part.text or "") + (part.refusal or "") for part in parts)),
            tool_calls=self.calls,
            reasoning=whole_signs("\n".join(part.text for part in thoughts if part.text)),
            model=whole_signs(self._model) or model,
            finish_reason="tool_calls" if self._finish == "stop" and self.calls else self._finish,
        )

    def _take(self, event: _Event) -> None:
        if event.type == "error":
            raise Broken({"code": event.code, "message": event.message})
        if event.item is not None:
            self._items.append(event.item)
            self._check_size()
        elif event.response is not None and event.type in ENDS:
            self._end(event.response)

    def _end(self, response: _Response) -> None:
        if response.status == "failed" or response.error is not None:
            error = response.error or _Error()
            raise Broken({"code": error.code, "message": error.message})
        self.response = response.id
        self.continued = response.previous_response_id or ""
        self.usage = response.usage
        self._model = response.model or ""
        self._items = response.output or self._items
        self._check_size()
        why = (response.incomplete_details or _Why()).reason or ""
        self._finish = FINISH_REASONS.get(why, why) or "stop"

    def _shown(self, event: dict[str, object]) -> str:
        delta = str(event.get("delta") or "")
        self._letters += len(delta)
        if self._letters > MAX_LETTERS:
            raise TooMuch(f"the answer has more than {MAX_LETTERS} letters")
        return whole_signs(delta)

    def _check_size(self) -> None:
        if len(self._items) > MAX_CALLS or sum(map(_letters_of, self._items)) > MAX_LETTERS:
            raise TooMuch(f"the answer has more than {MAX_CALLS} parts or {MAX_LETTERS} letters")


def _letters_of(item: _Item) -> int:
    texts = [text for part in item.parts for text in (part.text, part.refusal)]
    return sum(len(text or "") for text in (*texts, item.name, item.arguments))


CALL_WAS_DONE = "The next message shows what came of it."
"""The output that is sent for every tool call. The endpoint requires one; the next observation shows the real
result.
"""


def response_payload(
    model: str, request: ModelRequest, turn: Turn, quirks: EndpointQuirks, *, store: bool
) -> dict[str, object]:
    """Return the body of the HTTP request for this turn. `store` asks the endpoint to keep the response."""
    outputs = [{"type": "function_call_output", "call_id": call, "output": CALL_WAS_DONE} for call in turn.calls]
    payload: dict[str, object] = {
        "model": model,
        "input": [*outputs, *(item for message in turn.messages for item in _items(message))],
        "store": store,
        "stream": quirks.sends("stream"),
    }
    if turn.previous:
        payload["previous_response_id"] = turn.previous
    if request.tools:
        payload["tools"] = [_tool(tool, strict=quirks.sends("strict")) for tool in request.tools]
    if request.conversation and quirks.sends("prompt_cache_key"):
        payload["prompt_cache_key"] = request.conversation
    if request.deep and quirks.sends(EFFORT):
        payload["reasoning"] = {"effort": DEEP_EFFORT}
    if request.temperature is not None and quirks.sends("temperature"):
        payload["temperature"] = request.temperature
    if request.max_tokens is not None:
        payload["max_output_tokens"] = request.max_tokens
    if request.schema is not None and quirks.answer_format is AnswerFormat.JSON_SCHEMA:
        form = {"name": request.schema.__name__, "schema": strict_schema(request.schema), "strict": True}
        payload["text"] = {"format": {"type": "json_schema"} | form}
    elif request.schema is not None and quirks.answer_format is AnswerFormat.JSON_OBJECT:
        payload["text"] = {"format": {"type": "json_object"}}
    return payload


def _items(message: Message) -> list[dict[str, object]]:
    """Convert a message to input items; tool calls and their results are separate items."""
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.call_id, "output": message.text}]
    if message.role == "assistant":
        made: list[dict[str, object]] = [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.calls
        ]
        said: list[dict[str, object]] = [{"role": "assistant", "content": message.text}]
        return [*(said if message.text or not made else []), *made]
    return [{"role": message.role, "content": [_part(part) for part in message.parts]}]


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


PATH = "/responses"
MOST_LOSSES = 2
"""How many conversations in a row an endpoint may forget before it counts as storing none. One may be due to a restart
or expiry, but an account may also store nothing.
"""


class ConversationLost:
    """Returned instead of an answer if the endpoint cannot be relied on to store a conversation."""


class ResponsesApi:
    """Calls the Responses API for one model. Every request that it receives contains the whole history, so that a
    conversation which the endpoint forgot can be sent again in full.
    """

    def __init__(self, settings: EndpointSettings, connection: Connection, recovery: QuirkRecovery) -> None:
        self._settings = settings
        self._connection = connection
        self._conversations = Conversations()
        self._recovery = recovery
        self._losses = 0
        self._unbooked = Usage()
        self._deletions: set[asyncio.Task[None]] = set()

    async def one_off(self, request: ModelRequest, shown: ShownOnce) -> ModelReply | CallFailure:
        """Request one answer and ask the endpoint to store nothing. Returns the last failure if there is none."""
        outcome = await self._call(request, Turn(request.messages), shown, store=False)
        return outcome if isinstance(outcome, CallFailure) else self._reply(outcome, request)

    async def continue_conversation(
        self, request: ModelRequest, shown: ShownOnce
    ) -> ModelReply | CallFailure | ConversationLost:
        """Request one answer in the request's conversation, sending only new messages if possible.

        Returns the last failure if there is none, and Lost if the endpoint turns out not to store conversations.
        """
        name = request.conversation
        turn = self._conversations.next_turn(name, request.messages)
        outcome = await self._call(request, turn, shown, store=True)
        if turn.previous and isinstance(outcome, CallFailure) and is_lost_context(outcome):
            logger.info("%s forgot the conversation; it is sent again in full", self._settings.host)
            self._delete(self._conversations.forget(name))
            self._losses += 1
            if self._losses == MOST_LOSSES:
                return ConversationLost()
            turn = Turn(request.messages)
            outcome = await self._call(request, turn, shown, store=True)
        if isinstance(outcome, CallFailure):
            return outcome
        reply = self._reply(outcome, request)
        if turn.previous and outcome.continued != turn.previous:
            self._delete((*self._conversations.forget(name), outcome.response))
            self._unbooked += reply.usage
            return ConversationLost()
        if turn.previous:
            self._losses = 0
        self._delete(self._conversations.record_answer(name, request.messages, turn, outcome.response, reply))
        return reply

    async def probe_conversations(self, request: ModelRequest) -> bool | CallFailure:
        """Test with two tiny calls whether the endpoint stores a response and confirms that it continues it. Returns a
        failure if that cannot be determined.
        """
        limit = self._settings.limit(request.purpose)
        probe: dict[str, object] = {"model": self._settings.model, "stream": True, "max_output_tokens": 16}
        first = await self._exchange(probe | {"input": "Say: ok", "store": True}, ShownOnce(None), limit)
        if isinstance(first, CallFailure):
            return first
        self._unbooked += self._usage(first, (Message("user", ("Say: ok",)),))
        more = {"input": "Again", "store": True, "previous_response_id": first.response}
        second = await self._exchange(probe | more, ShownOnce(None), limit)
        if isinstance(second, CallFailure):
            self._delete((first.response,))
            return second if second.cause.passing else False
        self._unbooked += self._usage(second, (Message("user", ("Again",)),))
        self._delete((first.response, second.response))
        return second.continued == first.response

    def take_unbooked(self) -> Usage:
        """Return the tokens spent on answers that no caller received, such as those of `probe_conversations`. They are
        returned only once.
        """
        unbooked, self._unbooked = self._unbooked, Usage()
        return unbooked

    def end(self, conversation: str) -> None:
        """Delete, in the background, what the endpoint has stored of a conversation."""
        self._delete(self._conversations.forget(conversation))

    async def close(self) -> None:
        """Delete everything that the endpoint has stored, and wait until that is done."""
        self._delete(self._conversations.all_kept())
        await asyncio.gather(*self._deletions)

    async def _call(
        self, request: ModelRequest, turn: Turn, shown: ShownOnce, *, store: bool
    ) -> ResponseReader | CallFailure:
        limit = self._settings.limit(request.purpose)

        async def attempt(quirks: EndpointQuirks) -> ResponseReader | CallFailure:
            payload = response_payload(self._settings.model, request, turn, quirks, store=store)
            return await self._exchange(payload, shown, limit)

        return await self._recovery.send(request, attempt)

    async def _exchange(
        self, payload: dict[str, object], shown: ShownOnce, limit: float
    ) -> ResponseReader | CallFailure:
        return await self._connection.exchange(PATH, payload, lambda: ResponseReader(shown.attempt()), limit)

    def _reply(self, answer: ResponseReader, request: ModelRequest) -> ModelReply:
        return replace(answer.reply(self._settings.model), usage=self._usage(answer, request.messages))

    def _usage(self, answer: ResponseReader, messages: Iterable[Message]) -> Usage:
        usage = usage_of(answer.usage, messages, answer.reply(self._settings.model))
        return priced(usage, self._settings.prices.get(self._settings.model))

    def _delete(self, responses: Iterable[str]) -> None:
        """Delete stored responses in the background; answers do not wait for it."""
        for response in responses:
            task = asyncio.create_task(self._connection.delete(f"{PATH}/{response}"))
            self._deletions.add(task)
            task.add_done_callback(self._deletions.discard)


def is_lost_context(failure: CallFailure) -> bool:
    """Whether the failure means that the endpoint does not know the response to continue (OpenAI: 400; vLLM: 404 about
    the id).
    """
    return failure.status in {400, 404} and (
        failure.code == "previous_response_not_found" or failure.param in {"previous_response_id", "response_id"}
    )
