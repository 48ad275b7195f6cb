"""The Responses API: like chat completions, or as a conversation that the endpoint keeps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent.models.base import ModelReply, ModelRequest, Usage
from agent.models.connection import Connection
from agent.models.conversations import Conversations, Turn
from agent.models.endpoint import EndpointSettings
from agent.models.habits import Adapting, Habits
from agent.models.pricing import priced
from agent.models.response_items import response_payload
from agent.models.response_stream import ResponseReader
from agent.models.shown import ShownOnce
from agent.models.tokens import usage_of
from agent.models.trouble import Trouble

logger = logging.getLogger(__name__)

PATH = "/responses"
MOST_LOSSES = 2
"""Forgotten conversations in a row, none continued between them, after which an endpoint counts as one that keeps
none: one is a restart or an expiry, always is an account that may store nothing."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The endpoint cannot be trusted to keep a conversation; what finding that out cost."""

    usage: Usage


class ResponsesApi:
    """Responses of one model. The whole history comes with every request, so a lost context is sent again in full."""

    def __init__(self, settings: EndpointSettings, connection: Connection, adapting: Adapting) -> None:
        self._settings = settings
        self._connection = connection
        self._conversations = Conversations()
        self._adapting = adapting
        self._losses = 0
        self._deletions: set[asyncio.Task[None]] = set()

    async def one_off(self, request: ModelRequest, shown: ShownOnce) -> ModelReply | Trouble:
        """One answer to the whole request; the endpoint is asked to keep nothing."""
        outcome = await self._call(request, Turn(request.messages), shown, store=False)
        return outcome if isinstance(outcome, Trouble) else self._reply(outcome, request)

    async def continued(self, request: ModelRequest, shown: ShownOnce) -> ModelReply | Trouble | Lost:
        """One answer in the request's conversation, of which only what is new is sent where that is possible."""
        name = request.conversation
        turn = self._conversations.next_turn(name, request.messages)
        outcome = await self._call(request, turn, shown, store=True)
        if turn.previous and isinstance(outcome, Trouble) and is_lost_context(outcome):
            logger.info("%s forgot the conversation; it is sent again in full", self._settings.host)
            self._delete(self._conversations.lost(name))
            self._losses += 1
            if self._losses == MOST_LOSSES:
                return Lost(Usage())
            turn = Turn(request.messages)
            outcome = await self._call(request, turn, shown, store=True)
        if isinstance(outcome, Trouble):
            return outcome
        reply = self._reply(outcome, request)
        if turn.previous and outcome.continued != turn.previous:
            self._delete((*self._conversations.lost(name), outcome.response))
            return Lost(reply.usage)
        if turn.previous:
            self._losses = 0
        stale = self._conversations.answered(name, request.messages, turn, outcome.response, reply)
        self._delete(stale)
        return reply

    async def keeps_context(self, request: ModelRequest) -> bool | Trouble:
        """Try with two tiny calls whether the endpoint keeps a response and says that it continues it.

        Returns a trouble when that could not be found out.
        """
        limit = self._settings.limit(request.purpose)
        probe: dict[str, object] = {"model": self._settings.model, "stream": True, "max_output_tokens": 16}
        first = await self._exchange(probe | {"input": "Say: ok", "store": True}, ShownOnce(None), limit)
        if isinstance(first, Trouble):
            return first
        more = {"input": "Again", "store": True, "previous_response_id": first.response}
        second = await self._exchange(probe | more, ShownOnce(None), limit)
        if isinstance(second, Trouble):
            self._delete((first.response,))
            return second if second.transient else False
        self._delete((first.response, second.response))
        return second.continued == first.response

    async def close(self) -> None:
        """Delete what the endpoint still keeps, and wait for it."""
        self._delete(self._conversations.all_kept())
        await asyncio.gather(*self._deletions)

    async def _call(
        self, request: ModelRequest, turn: Turn, shown: ShownOnce, *, store: bool
    ) -> ResponseReader | Trouble:
        limit = self._settings.limit(request.purpose)

        async def attempt(habits: Habits) -> ResponseReader | Trouble:
            payload = response_payload(self._settings.model, request, turn, habits, store=store)
            return await self._exchange(payload, shown, limit)

        return await self._adapting.send(request, attempt)

    async def _exchange(self, payload: dict[str, object], shown: ShownOnce, limit: float) -> ResponseReader | Trouble:
        return await self._connection.exchange(PATH, payload, lambda: ResponseReader(shown.attempt()), limit)

    def _reply(self, answer: ResponseReader, request: ModelRequest) -> ModelReply:
        reply = answer.reply(self._settings.model)
        usage = usage_of(answer.usage, request.messages, reply)
        return replace(reply, usage=priced(usage, self._settings.prices.get(self._settings.model)))

    def _delete(self, responses: Iterable[str]) -> None:
        """Delete stored responses in the background; an answer does not wait for that."""
        for response in responses:
            task = asyncio.create_task(self._connection.delete(f"{PATH}/{response}"))
            self._deletions.add(task)
            task.add_done_callback(self._deletions.discard)


def is_lost_context(trouble: Trouble) -> bool:
    """Whether the endpoint does not know the response to continue (OpenAI: 400; vLLM: 404 about the id)."""
    return trouble.status in {400, 404} and (
        trouble.code == "previous_response_not_found" or trouble.param in {"previous_response_id", "response_id"}
    )
