"""Which API a call takes: as the settings say, and as the endpoint turns out to be."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from enum import Enum, auto

from agent.models.base import ModelReply, ModelRequest, Purpose, Usage
from agent.models.chat import ChatApi
from agent.models.connection import Connection
from agent.models.endpoint import EndpointSettings
from agent.models.habits import Adapting
from agent.models.responses import Lost, ResponsesApi
from agent.models.sentences import is_unknown_model
from agent.models.shown import Show, ShownOnce
from agent.models.trouble import Kind, Trouble

logger = logging.getLogger(__name__)

NO_SUCH_API = {404, 405, 501}


class Route(Enum):
    """The APIs, from the most to the least that an endpoint must be able to do."""

    UNKNOWN = auto()
    CONVERSATION = auto()
    ONE_OFF = auto()
    CHAT = auto()


class Router:
    """Sends each request the best way that the endpoint knows. What it cannot do is found out once."""

    def __init__(self, settings: EndpointSettings, connection: Connection) -> None:
        self._host = settings.host
        adapting = Adapting(settings.host)
        self._chat = ChatApi(settings, connection, adapting)
        self._responses = ResponsesApi(settings, connection, adapting)
        self._route = {"chat": Route.CHAT, "responses": Route.CONVERSATION, "auto": Route.UNKNOWN}[settings.api]
        self._probing = asyncio.Lock()

    async def complete(self, request: ModelRequest, on_delta: Show | None) -> ModelReply | Trouble:
        """One answer. Only acting is a conversation that grows; everything else is asked once and kept nowhere."""
        acts = request.purpose is Purpose.ACT and bool(request.conversation)
        if acts and self._route is Route.UNKNOWN and (trouble := await self._probe(request)):
            return trouble
        shown = ShownOnce(on_delta)
        spent = Usage()
        if acts and self._route is Route.CONVERSATION:
            answer = await self._responses.continued(request, shown)
            if isinstance(answer, Lost):
                self._take(Route.ONE_OFF, "it loses the conversation")
                spent = answer.usage
            elif isinstance(answer, Trouble) and (answer.status == 501 or answer.param == "store"):
                self._take(Route.ONE_OFF, "it keeps no conversation")
            elif not self._has_no_responses(answer):
                return answer
        if self._route in {Route.CONVERSATION, Route.ONE_OFF}:
            answer = await self._responses.one_off(request, shown)
            if not self._has_no_responses(answer):
                return _with(answer, spent)
        return _with(await self._chat.complete(request, shown), spent)

    async def close(self) -> None:
        """Leave nothing behind at the endpoint."""
        await self._responses.close()

    async def _probe(self, request: ModelRequest) -> Trouble | None:
        async with self._probing:
            if self._route is not Route.UNKNOWN:
                return None
            found = await self._responses.keeps_context(request)
            if isinstance(found, Trouble) and _says_nothing_about_the_api(found):
                return found
            self._route = Route.CONVERSATION if found is True else Route.CHAT
            logger.info("%s %s conversations", self._host, "keeps" if found is True else "keeps no")
            return None

    def _has_no_responses(self, answer: ModelReply | Trouble) -> bool:
        if not isinstance(answer, Trouble) or not _says_no_such_api(answer):
            return False
        self._take(Route.CHAT, "it has no Responses API")
        return True

    def _take(self, route: Route, reason: str) -> None:
        logger.warning("%s: %s from now on, because %s", self._host, route.name.lower().replace("_", " "), reason)
        self._route = route


def _says_no_such_api(trouble: Trouble) -> bool:
    if trouble.kind is Kind.NONSENSE:
        return True
    return trouble.status in NO_SUCH_API and not is_unknown_model(trouble)


def _says_nothing_about_the_api(trouble: Trouble) -> bool:
    """A busy or broken endpoint, a bad key, a wrong model name: to be told, and to be probed again."""
    if trouble.kind is Kind.NONSENSE:
        return False
    return trouble.transient or trouble.status in {401, 403} or is_unknown_model(trouble)


def _with(answer: ModelReply | Trouble, spent: Usage) -> ModelReply | Trouble:
    if isinstance(answer, Trouble) or not spent.calls:
        return answer
    return replace(answer, usage=spent + answer.usage)
