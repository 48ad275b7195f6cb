"""Calls Feishu's HTTP API, with its token and time limits, and translates refusals into the errors that the outbox (the
sender of messages to chats) handles.

The token is only sent to the configured root: no redirect is followed.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import aiohttp

from bot.chats.feishu import limits
from bot.domain.chat import ChatError, ChatGone, ChatRefused, FloodWait
from bot.texts import words

JsonObject = dict[str, Any]

RECALLED: Final = frozenset({230011, 230110, 231003})
"""The message was recalled, deleted or does not exist (Get the content of a message)."""
_GONE: Final = RECALLED | {230002, 230013, 230018, 230019, 230029, 230031, 230034, 230035, 230038, 230053, 232009}
"""The bot is not in the chat or may not write there, nobody else is there, or the message is too old to edit (Send a
message, Update a card).
"""
_TOO_MANY: Final = frozenset({99991400, 230020, 11232, 11233})
"""Too many calls, of the gateway or of messages (Frequency control, Send a message)."""
_TOKEN: Final = frozenset({99991661, 99991663, 99991664, 99991665, 99991668, 99991671})
"""The tenant's token is missing, wrong or expired (General error codes)."""
NO_SCOPES: Final = frozenset({99991672, 99991679, 230027})
"""The app lacks a permission (General error codes)."""
_NOT_THE_APP: Final = frozenset({10003, 10012, 10014})
"""The app's id or secret is wrong (Get the tenant's token of an own app)."""
_NO_BOT: Final = frozenset({11205, 230006})
"""The app has no bot, or none that is published."""
_SCOPE_NAME: Final = re.compile(r"\b[a-z_]+(?::[a-z_.]+)+\b")


class Refused(Exception):
    """Feishu answered a call with a `code` other than 0."""

    def __init__(self, code: int, message: str, status: int, wait: float) -> None:
        super().__init__(f"code {code}")
        self.code = code
        self.message = message
        """Feishu's own text, which names what is missing."""
        self.status = status
        self.wait = wait
        """Seconds for which Feishu asks to wait, 0 if it does not."""


class Unusable(ChatError):
    """The app cannot be used as it is: its id or secret is not accepted, or it has no bot."""


class Api:
    """A client of Feishu's API for one app."""

    def __init__(self, session: aiohttp.ClientSession, root: str, app: str, secret: str) -> None:
        self.session, self.root, self.app = session, root, app
        self._secret = secret
        self._token, self._until = "", -math.inf
        self._asking = asyncio.Lock()

    async def call(
        self, method: str, path: str, body: object = None, *, form: Mapping[str, str | bytes] | None = None
    ) -> JsonObject:
        """Call an API method at a path below /open-apis/, and return its answer. `body` is sent as JSON; alternatively,
        `form` is sent as a form, whose bytes values are files.

        Raises Refused; for problems with the token also Unusable and FloodWait; ChatError if Feishu is unreachable.
        """
        for known in (True, False):
            headers = {"Authorization": f"Bearer {await self._tenant_token()}"}
            data = None if form is None else _form_of(form)
            try:
                return await self._ask(method, f"/open-apis/{path}", headers=headers, json=body, data=data)
            except Refused as refused:
                if refused.code not in _TOKEN or not known:
                    raise
                self._until = -math.inf  # it expired early; a new one is tried once
        raise AssertionError("the second attempt returns or raises")

    async def endpoint(self) -> JsonObject:
        """Ask for the address of the long connection (the WebSocket for events), authenticated by the app's secret.
        Returns the data of Feishu's answer, with the address as `URL`. Raises Unusable, FloodWait, ChatGone or
        ChatError.
        """
        body = {"AppID": self.app, "AppSecret": self._secret}
        try:
            answer = await self._ask("POST", "/callback/ws/endpoint", headers={"locale": "zh"}, json=body, data=None)
        except Refused as refused:
            raise _as_app(refused) from None
        found = answer.get("data")
        return found if isinstance(found, dict) else {}

    async def download(self, path: str, room: int) -> bytes | None:
        """Return the bytes of the file at `path`, None if it is larger than `room` bytes. Raises like `call`."""
        headers = {"Authorization": f"Bearer {await self._tenant_token()}"}
        try:
            async with self.session.get(
                f"{self.root}/open-apis/{path}",
                headers=headers,
                timeout=aiohttp.ClientTimeout(limits.TRANSFER_SECONDS),
                allow_redirects=False,
            ) as response:
                if response.status != HTTPStatus.OK:
                    raise _refusal(response, await _read(response, limits.ANSWER_BYTES) or b"")
                return await _read(response, room)
        except (aiohttp.ClientError, OSError, TimeoutError):
            raise ChatError(words("feishu.unreachable")) from None

    async def _tenant_token(self) -> str:
        async with self._asking:
            if time.monotonic() >= self._until:
                body = {"app_id": self.app, "app_secret": self._secret}
                path = "/open-apis/auth/v3/tenant_access_token/internal"
                try:
                    answer = await self._ask("POST", path, headers={}, json=body, data=None)
                except Refused as refused:
                    raise _as_app(refused) from None
                self._token = str(answer.get("tenant_access_token", ""))
                lasts = float(answer.get("expire") or 0)
                self._until = time.monotonic() + max(lasts - limits.TOKEN_SPARE_SECONDS, lasts / 2)
            return self._token

    async def _ask(
        self, method: str, path: str, *, headers: Mapping[str, str], json: object, data: aiohttp.FormData | None
    ) -> JsonObject:
        seconds = limits.REQUEST_SECONDS if data is None else limits.TRANSFER_SECONDS
        try:
            async with self.session.request(
                method,
                self.root + path,
                headers=headers,
                json=json,
                data=data,
                timeout=aiohttp.ClientTimeout(seconds),
                allow_redirects=False,
            ) as response:
                body = await _read(response, limits.ANSWER_BYTES) or b""
        except (aiohttp.ClientError, OSError, TimeoutError):
            # The library's errors contain the address with ids of people and messages.
            raise ChatError(words("feishu.unreachable")) from None
        answer = _json_object(body)
        if response.status == HTTPStatus.OK and answer.get("code") == 0:
            return answer
        raise _refusal(response, body)


def meaning(refused: Refused, doing: str) -> Exception:
    """Translate a refusal to the exception that the outbox handles: FloodWait, ChatGone, ChatRefused or ChatError.
    `doing` is a text key below `feishu.doing` that says what was tried.
    """
    code, status = refused.code, refused.status
    what = words(f"feishu.doing.{doing}")
    if status == HTTPStatus.TOO_MANY_REQUESTS or code in _TOO_MANY:
        return FloodWait(refused.wait or limits.FLOOD_SECONDS)
    if code in RECALLED:
        return ChatGone(words("feishu.recalled", what=what))
    if code in _GONE:
        return ChatGone(words("feishu.gone", what=what, code=code))
    if code in NO_SCOPES:
        lacking = list(dict.fromkeys(_SCOPE_NAME.findall(refused.message)))[:5]
        return ChatError(words("feishu.scope", what=what, scopes=", ".join(lacking) or code))
    if code in _NO_BOT:
        return Unusable(words("feishu.no_bot"))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or code in _TOKEN:
        return ChatError(words("feishu.failed", what=what, code=code))
    return ChatRefused(words("feishu.refused", what=what, code=code))


def _as_app(refused: Refused) -> Exception:
    if refused.code in _NOT_THE_APP:
        return Unusable(words("feishu.secret"))
    return meaning(refused, "connect")


def _refusal(response: aiohttp.ClientResponse, body: bytes) -> Refused:
    answer = _json_object(body)
    code = answer.get("code")
    return Refused(
        code if isinstance(code, int) else response.status,
        str(answer.get("msg", ""))[:2000],
        response.status,
        _seconds(response.headers.get("x-ogw-ratelimit-reset") or response.headers.get("Retry-After") or "0"),
    )


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return 0.0
    return min(found, limits.FLOOD_MOST_SECONDS) if found > 0 else 0.0


def _json_object(body: bytes) -> JsonObject:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _form_of(fields: Mapping[str, str | bytes]) -> aiohttp.FormData:
    form = aiohttp.FormData()
    for name, value in fields.items():
        form.add_field(name, value, filename=None if isinstance(value, str) else name)
    return form


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes | None:
    body = bytearray()
    async for piece in response.content.iter_chunked(64 * 1024):
        body += piece
        if len(body) > most:
            return None
    return bytes(body)
