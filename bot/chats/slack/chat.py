"""The Slack chat: keeps the connection open and implements what the outbox (the sender of messages to chats) needs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chats.connection import LOGIN_SECONDS, BackgroundTasks, Connection
from bot.chats.fetching import Fetcher, IsAllowed
from bot.chats.incoming import accepted, not_accepted
from bot.chats.sending import ownership_trace
from bot.chats.slack import errors, limits
from bot.chats.slack.incoming import Messages, People, Presses
from bot.chats.slack.places import API, PLATFORM, Account, own_hosts, refusing_redirects
from bot.chats.slack.sending import Sender
from bot.domain.chat import ChatError, FloodWait, Intake, OwnRecord, Record

logger = logging.getLogger(__name__)

FIRST_RETRY_SECONDS: Final = 1.0
LAST_RETRY_SECONDS: Final = 60.0
"""Pauses between attempts while Slack is unreachable; our choice."""

_SILENT: Final = logging.getLogger(f"{__name__}.library")
"""Silent logger for the library's connection, which would log message texts and addresses with tickets."""
_SILENT.setLevel(logging.CRITICAL)

_LOOK_SECONDS: Final = 0.5
"""Seconds between checks of the connection, because the library reports only orderly ends; our choice."""

_REFUSED: Final = (
    "Slack does not accept {token} ({code}), so Slack is off. Copy the token again from the page {page} of the app at "
    "https://api.slack.com/apps into {token} and restart."
)


_EVENTS: Final = frozenset({"message", "app_mention"})
"""Events that are handled. A message that mentions the bot may arrive as both, with the same id."""


class _TokenRefused(ChatError):
    """Slack does not accept a token, and will not accept it later either."""


_RENEWALS: Final = frozenset({"warning", "refresh_requested"})
"""Reasons for which Slack will close a connection that still works for some seconds (Socket Mode, disconnect)."""

_LEAVE_SECONDS: Final = 30.0
"""How long to listen on a replaced connection if Slack does not close it; our choice."""


class _Socket(SocketModeClient):
    """A Socket Mode connection that does not reconnect, because the library would try the same address for ever."""

    leaving = False
    """Whether Slack wants this connection to be replaced."""

    @property
    def is_closed(self) -> bool:
        """Whether the connection can no longer be used."""
        return self.current_session is None or self.current_session.closed

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        """Handle a message from Slack. A connection that still works is not closed before the next one is open."""
        if message.get("type") == "disconnect" and message.get("reason") in _RENEWALS:
            self.leaving = True
        else:
            await super().run_message_listeners(message, raw_message)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        """End the connection because Slack has too many or switched this one off; the chat opens the next one."""
        del force
        await self.disconnect()  # type: ignore[no-untyped-call] # as the library has it

    async def leave(self) -> None:
        """Listen until Slack closes the connection, and close it once all received events are being handled; closing it
        earlier would drop events in transit.
        """
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LEAVE_SECONDS):
                    while not self.is_closed:  # noqa: ASYNC110 - there is no event for it
                        await asyncio.sleep(_LOOK_SECONDS)
            while not self.message_queue.empty():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0)
        finally:
            await self.close()  # type: ignore[no-untyped-call] # as above


class SlackChat(Connection[AsyncWebClient, Sender]):
    """The bot of a Slack app, as a chat (`bot.domain.chat.Chat`).

    `token` is the bot's, `app_token` the app's, which only opens connections. `teams` are workspaces whose people may
    be admitted in addition to those of the bot's own. `welcome` decides whose attached files are downloaded; by default
    everybody's. `base_url` is the address of another Slack API, such as GovSlack's.
    """

    platform = PLATFORM
    capabilities = limits.CAPABILITIES

    def __init__(
        self,
        token: str,
        app_token: str,
        intake: Intake,
        *,
        teams: Sequence[str] = (),
        language: str = "auto",
        welcome: IsAllowed = lambda _person, _place: True,
        base_url: str = "",
        first_retry: float = FIRST_RETRY_SECONDS,
        clock: Callable[[], float] = time.time,
        record: Record | None = None,
    ) -> None:
        super().__init__("Slack")
        self._token, self._app_token = token, app_token
        self._base_url = base_url or API
        self._first_retry = first_retry
        self._record = record or OwnRecord()
        self._background_tasks = BackgroundTasks()
        self._socket: _Socket | None = None
        is_own, people = own_hosts(self._base_url), People(teams)
        self._sender = Sender(self.logged_in, is_own)
        headers = {"Authorization": f"Bearer {token}"}
        fetcher = Fetcher("Slack", welcome, is_own, limits.INCOMING_BYTES, headers)
        self._messages = Messages(intake, self._sender, fetcher, people, welcome, language, clock)
        self._presses = Presses(intake, self._sender, people, language)
        self._account: Account | None = None
        """The bot's identity, once it has logged in."""

    @property
    def online(self) -> bool:
        """Whether events from Slack can arrive. Messages can be sent even without that connection."""
        return self._socket is not None and not self._socket.is_closed

    async def _stay(self) -> None:
        clock, pause = asyncio.get_running_loop().time, self._first_retry
        socket: _Socket | None = None
        try:
            async with aiohttp.ClientSession(
                trace_configs=[refusing_redirects(), ownership_trace(self._record)]
            ) as session:
                client = AsyncWebClient(self._token, self._base_url, session=session, retry_handlers=[])
                while True:
                    wait, began, steady = pause, clock(), False
                    try:
                        async with errors.translated("the connection"):
                            opened = await self._opened(client)
                        if socket is not None:
                            self._background_tasks.spawn(socket.leave())
                        socket = opened
                        while not socket.is_closed and not socket.leaving:  # noqa: ASYNC110 - there is no event for it
                            await asyncio.sleep(_LOOK_SECONDS)
                        steady = clock() - began > LAST_RETRY_SECONDS
                        logger.info("The connection to Slack ends; the next one is made.")
                    except _TokenRefused:
                        raise
                    except (ChatError, FloodWait) as away:
                        wait = max(pause, away.seconds) if isinstance(away, FloodWait) else pause
                        logger.warning("Slack cannot be reached (%s); next attempt in %.1f s.", away, wait)
                    if steady:
                        pause = self._first_retry
                        continue
                    await asyncio.sleep(wait)
                    pause = min(pause * 2, LAST_RETRY_SECONDS)
        finally:
            self._online.clear()
            self._client = self._socket = None
            try:
                if socket is not None:
                    await socket.close()  # type: ignore[no-untyped-call] # as above
            finally:
                await self._background_tasks.close()

    async def _opened(self, client: AsyncWebClient) -> _Socket:
        """Log in and connect. Raises _TokenRefused."""
        me = await _accepted(client.auth_test(), "SLACK_BOT_TOKEN", "OAuth & Permissions")
        self._account, self._client = Account(me), client
        opening = client.apps_connections_open(app_token=self._app_token)
        told = await _accepted(opening, "SLACK_APP_TOKEN", "Basic Information")
        socket = _Socket(self._app_token, _SILENT, client, auto_reconnect_enabled=False)
        socket.wss_uri = str(told["url"])
        socket.socket_mode_request_listeners.append(self._received)
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                await socket.connect()  # type: ignore[no-untyped-call] # as above
        except BaseException:
            await socket.close()  # type: ignore[no-untyped-call] # as above
            raise
        self._socket = socket
        self._online.set()
        logger.info("Slack: connected as %s.", self._account.name)
        return socket

    async def _received(self, socket: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """Handle an envelope and acknowledge it when done, but after two seconds at the latest: Slack repeats what is
        not acknowledged within three, and counts it as a failure of the app. If the process dies within those two
        seconds, the envelope comes again; slower work, such as a large file, is lost. While the record does not
        answer, nothing is acknowledged.
        """
        work = self._background_tasks.spawn(self._handle(request))
        await asyncio.wait({work}, timeout=limits.ACKNOWLEDGE_SECONDS)
        if await not_accepted({work}, self._record):
            logger.info("An envelope of Slack is not acknowledged, so that it comes again: the record does not answer.")
            return
        try:
            # On the connection that brought it, if that is still open.
            assert isinstance(socket, _Socket)
            over = self._socket if socket.is_closed and self._socket is not None else socket
            await over.send_socket_mode_response(SocketModeResponse(request.envelope_id))
        except (OSError, aiohttp.ClientError) as away:
            logger.info("An envelope of Slack was not acknowledged, so it comes again: %s", type(away).__name__)

    async def _handle(self, request: SocketModeRequest) -> bool:
        """Whether it was accepted. Slack delivers only events again: a press or command that is not done says so."""
        client, account, payload = self._client, self._account, request.payload
        if client is None or account is None:
            return False
        match request.type:
            case "events_api" if (event := payload.get("event") or {}).get("type") in _EVENTS:
                return await accepted(self._messages.handle(event, client, account), "Slack")
            case "slash_commands":
                return await accepted(self._messages.slash(payload, client, account), "Slack")
            case "interactive":
                return await accepted(self._presses.handle(payload, client, account), "Slack")
        return True


async def _accepted(call: Awaitable[AsyncSlackResponse], token: str, page: str) -> Mapping[str, Any]:
    """Return the answer to a call that tests a token. Raises _TokenRefused."""
    try:
        told = (await call).data
    except SlackApiError as refused:
        if (code := errors.code_of(refused)) in errors.REFUSED_TOKEN:
            raise _TokenRefused(_REFUSED.format(token=token, code=code, page=page)) from None
        raise
    assert isinstance(told, dict)
    return told
