"""Calls the Responses API. Only new messages are sent, with the id of the response that the endpoint has
stored before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace

from agent.models.base import Message, ModelReply, ModelRequest, ToolSpec, Usage
from agent.models.call_failure import CallFailure
from agent.models.connection import Connection
from agent.models.conversations import Conversations, Turn
from agent.models.endpoint import EndpointSettings
from agent.models.endpoint_quirks import DEEP_EFFORT, EFFORT, Adapting, Habits
from agent.models.formats import AnswerFormat, is_strict, strict_schema
from agent.models.picture_url import data_url
from agent.models.pricing import priced
from agent.models.response_stream import ResponseReader
from agent.models.stream_dedup import ShownOnce
from agent.models.tokens import usage_of
from agent.picture import ImagePart

CALL_WAS_DONE = "The next message shows what came of it."
"""The output that is sent for every tool call. The endpoint requires one; the next observation shows the real
result.
"""


def response_payload(
    model: str, request: ModelRequest, turn: Turn, habits: Habits, *, store: bool
) -> dict[str, object]:
    """Return the body of the HTTP request for this turn. `store` asks the endpoint to keep the response."""
    outputs = [{"type": "function_call_output", "call_id": call, "output": CALL_WAS_DONE} for call in turn.calls]
    payload: dict[str, object] = {
        "model": model,
        "input": [*outputs, *(item for message in turn.messages for item in _items(message))],
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
    if request.temperature is not None and habits.sends("temperature"):
        payload["temperature"] = request.temperature
    if request.max_tokens is not None:
        payload["max_output_tokens"] = request.max_tokens
    if request.schema is not None and habits.answer_format is AnswerFormat.JSON_SCHEMA:
        form = {"name": request.schema.__name__, "schema": strict_schema(request.schema), "strict": True}
        payload["text"] = {"format": {"type": "json_schema"} | form}
    elif request.schema is not None and habits.answer_format is AnswerFormat.JSON_OBJECT:
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


logger = logging.getLogger(__name__)

PATH = "/responses"
MOST_LOSSES = 2
"""How many conversations in a row an endpoint may forget before it counts as storing none. One may be due to a restart
or expiry, but an account may also store nothing.
"""


class Lost:
    """Returned instead of an answer if the endpoint cannot be relied on to store a conversation."""


class ResponsesApi:
    """Calls the Responses API for one model. Every request that it receives contains the whole history, so that a
    conversation which the endpoint forgot can be sent again in full.
    """

    def __init__(self, settings: EndpointSettings, connection: Connection, adapting: Adapting) -> None:
        self._settings = settings
        self._connection = connection
        self._conversations = Conversations()
        self._adapting = adapting
        self._losses = 0
        self._unbooked = Usage()
        self._deletions: set[asyncio.Task[None]] = set()

    async def one_off(self, request: ModelRequest, shown: ShownOnce) -> ModelReply | CallFailure:
        """Request one answer and ask the endpoint to store nothing. Returns the last failure if there is none."""
        outcome = await self._call(request, Turn(request.messages), shown, store=False)
        return outcome if isinstance(outcome, CallFailure) else self._reply(outcome, request)

    async def continued(self, request: ModelRequest, shown: ShownOnce) -> ModelReply | CallFailure | Lost:
        """Request one answer in the request's conversation, sending only new messages if possible.

        Returns the last failure if there is none, and Lost if the endpoint turns out not to store conversations.
        """
        name = request.conversation
        turn = self._conversations.next_turn(name, request.messages)
        outcome = await self._call(request, turn, shown, store=True)
        if turn.previous and isinstance(outcome, CallFailure) and is_lost_context(outcome):
            logger.info("%s forgot the conversation; it is sent again in full", self._settings.host)
            self._delete(self._conversations.lost(name))
            self._losses += 1
            if self._losses == MOST_LOSSES:
                return Lost()
            turn = Turn(request.messages)
            outcome = await self._call(request, turn, shown, store=True)
        if isinstance(outcome, CallFailure):
            return outcome
        reply = self._reply(outcome, request)
        if turn.previous and outcome.continued != turn.previous:
            self._delete((*self._conversations.lost(name), outcome.response))
            self._unbooked += reply.usage
            return Lost()
        if turn.previous:
            self._losses = 0
        stale = self._conversations.answered(name, request.messages, turn, outcome.response, reply)
        self._delete(stale)
        return reply

    async def keeps_context(self, request: ModelRequest) -> bool | CallFailure:
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
            return second if second.transient else False
        self._unbooked += self._usage(second, (Message("user", ("Again",)),))
        self._delete((first.response, second.response))
        return second.continued == first.response

    def take_unbooked(self) -> Usage:
        """Return the tokens spent on answers that no caller received, such as those of `keeps_context`. They are
        returned only once.
        """
        unbooked, self._unbooked = self._unbooked, Usage()
        return unbooked

    def end(self, conversation: str) -> None:
        """Delete, in the background, what the endpoint has stored of a conversation."""
        self._delete(self._conversations.lost(conversation))

    async def close(self) -> None:
        """Delete everything that the endpoint has stored, and wait until that is done."""
        self._delete(self._conversations.all_kept())
        await asyncio.gather(*self._deletions)

    async def _call(
        self, request: ModelRequest, turn: Turn, shown: ShownOnce, *, store: bool
    ) -> ResponseReader | CallFailure:
        limit = self._settings.limit(request.purpose)

        async def attempt(habits: Habits) -> ResponseReader | CallFailure:
            payload = response_payload(self._settings.model, request, turn, habits, store=store)
            return await self._exchange(payload, shown, limit)

        return await self._adapting.send(request, attempt)

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
