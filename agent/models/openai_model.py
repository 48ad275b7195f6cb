"""A model behind an OpenAI-compatible endpoint. It chooses between the endpoint's two APIs, chat completions and
Responses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto

from agent.models.base import Delta, ModelReply, ModelRequest, Purpose
from agent.models.call_failure import CallFailure, error_of, settings_problem, too_slow
from agent.models.chat import ChatApi
from agent.models.connection import Connection, RetryPolicy, Show, ShownOnce
from agent.models.endpoint import EndpointSettings
from agent.models.endpoint_quirks import QuirkRecovery
from agent.models.errors import NoVision
from agent.models.pictures import without_pictures
from agent.models.responses import ConversationLost, ResponsesApi
from agent.models.state import Cause
from agent.models.window import MOST_WINDOW, ContextWindow

logger = logging.getLogger(__name__)

NO_SUCH_API = {404, 405, 501}


class Route(Enum):
    """The ways to call an endpoint, from the most to the least demanding. UNKNOWN means that none was chosen yet."""

    UNKNOWN = auto()
    CONVERSATION = auto()
    ONE_OFF = auto()
    CHAT = auto()


class Router:
    """Sends each request in the best way that the endpoint supports, and remembers which ways it does not."""

    def __init__(self, settings: EndpointSettings, connection: Connection) -> None:
        self._host = settings.host
        adapting = QuirkRecovery(settings.host)
        self._chat = ChatApi(settings, connection, adapting)
        self.responses = ResponsesApi(settings, connection, adapting)
        self._route = {"chat": Route.CHAT, "responses": Route.CONVERSATION, "auto": Route.UNKNOWN}[settings.api]
        self._probing = asyncio.Lock()

    @property
    def keeps_conversation(self) -> bool:
        """Whether the endpoint stores conversations; also true as long as that is unknown."""
        return self._route in {Route.UNKNOWN, Route.CONVERSATION}

    async def complete(self, request: ModelRequest, on_delta: Show | None) -> ModelReply | CallFailure:
        """Request one answer. Returns the last failure if there is none.

        Only the steps of the acting model form a growing conversation. Any other request is sent once, and the endpoint
        is asked to store nothing.
        """
        acts = request.purpose is Purpose.ACT and bool(request.conversation)
        if acts and self._route is Route.UNKNOWN and (failure := await self._probe(request)):
            return failure
        shown = ShownOnce(on_delta)
        if acts and self._route is Route.CONVERSATION:
            answer = await self.responses.continue_conversation(request, shown)
            if isinstance(answer, ConversationLost):
                self._take(Route.ONE_OFF, "it loses the conversation")
            elif isinstance(answer, CallFailure) and (answer.status == 501 or answer.param == "store"):
                self._take(Route.ONE_OFF, "it keeps no conversation")
            elif not self._has_no_responses(answer):
                return answer
        if self._route in {Route.CONVERSATION, Route.ONE_OFF}:
            answer = await self.responses.one_off(request, shown)
            if not self._has_no_responses(answer):
                return answer
        return await self._chat.complete(request, shown)

    async def _probe(self, request: ModelRequest) -> CallFailure | None:
        async with self._probing:
            if self._route is not Route.UNKNOWN:
                return None
            found = await self.responses.probe_conversations(request)
            if isinstance(found, CallFailure) and _says_nothing_about_the_api(found):
                return found
            self._route = Route.CONVERSATION if found is True else Route.CHAT
            logger.info("%s %s conversations", self._host, "keeps" if found is True else "keeps no")
            return None

    def _has_no_responses(self, answer: ModelReply | CallFailure) -> bool:
        if not isinstance(answer, CallFailure) or not _says_no_such_api(answer):
            return False
        self._take(Route.CHAT, "it has no Responses API")
        return True

    def _take(self, route: Route, reason: str) -> None:
        logger.warning("%s: %s from now on, because %s", self._host, route.name.lower().replace("_", " "), reason)
        self._route = route


def _says_no_such_api(failure: CallFailure) -> bool:
    missing = failure.status in NO_SUCH_API and failure.cause is not Cause.UNKNOWN_MODEL
    return missing or failure.cause is Cause.NO_API


def _says_nothing_about_the_api(failure: CallFailure) -> bool:
    """Whether the failure is unrelated to the API, so that it is reported and probed again later."""
    passing = failure.cause.passing and failure.cause is not Cause.NO_API
    return passing or failure.cause in {Cause.KEY_REJECTED, Cause.NO_CREDIT, Cause.UNKNOWN_MODEL}


class OpenAIModel:
    """Implements Model with an OpenAI-compatible endpoint. Call `close` after use."""

    def __init__(self, settings: EndpointSettings, *, retry: RetryPolicy | None = None) -> None:
        self._settings = settings
        self._connection = Connection(settings, retry or RetryPolicy())
        self._router = Router(settings, self._connection)
        self._window = ContextWindow(settings, self._connection)
        self.takes_pictures = settings.pictures != "never"
        """Whether the model is sent pictures: as configured, otherwise until it refuses one."""

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        return self._settings.model

    @property
    def keeps_conversation(self) -> bool:
        """Whether the endpoint stores conversations; also true as long as that is unknown."""
        return self._router.keeps_conversation

    def end_conversation(self, conversation: str, /) -> None:
        """Delete, in the background, what the endpoint has stored of a finished conversation."""
        self._router.responses.end(conversation)

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Return the model's answer. If an attempt fails after its first pieces, they are not streamed again.
        Implements `Model.complete`.

        If the model turns out to accept no pictures, it is asked again without them. A call of the acting model raises
        NoVision once instead, because its scene must then be rendered differently.
        """
        if problem := settings_problem(self._settings):
            raise problem
        if not self.takes_pictures:
            return await self._complete(without_pictures(request), on_delta)
        try:
            return await self._complete(request, on_delta)
        except NoVision as refused:
            if self._settings.pictures == "always":
                raise
            self.takes_pictures = False
            logger.warning("%s From now on it gets no pictures.", refused)
            if request.purpose is Purpose.ACT:
                raise
        return await self._complete(without_pictures(request), on_delta)

    async def _complete(self, request: ModelRequest, on_delta: Callable[[Delta], None] | None) -> ModelReply:
        limit = self._settings.limit(request.purpose)
        try:
            async with asyncio.timeout(limit):
                outcome = await self._router.complete(request, on_delta)
        except TimeoutError:
            raise too_slow(self._settings, limit) from None
        if isinstance(outcome, CallFailure):
            if outcome.cause is Cause.TOO_LONG:
                self._window.learn_from_refusal(request, outcome)
            raise error_of(outcome, self._settings, request)
        usage = self._router.responses.take_unbooked() + outcome.usage
        logger.debug("%s for %s: %s", outcome.model, request.purpose, usage)
        return replace(outcome, usage=usage.booked_on(request.role, self.name))

    async def window(self, sent: int = MOST_WINDOW) -> int:
        """Return the model's context window in tokens, including the answer. `sent` is the size of the last request
        (see `ContextWindow.tokens`).
        """
        return await self._window.tokens(sent)

    async def close(self) -> None:
        """Delete what the endpoint has stored of open conversations, and close the connections."""
        await self._router.responses.close()
        await self._connection.close()
