"""The fake itself: an aiohttp server on loopback with Feishu's API, its long connection, and people in its chats."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from tests.fakes.feishu.gateway import Gateway
from tests.fakes.feishu.world import TENANT, Chat, Message, User, World

APP = "cli_a0123456789abcde"
SECRET = "FakeFeishuAppSecretOfTheTests0001"
WAIT_SECONDS = 60.0
ALL_SCOPES = frozenset(
    {
        "im:message:send_as_bot",
        "im:message.p2p_msg:readonly",
        "im:message.group_at_msg:readonly",
        "im:message.group_msg",
        "im:message:readonly",
        "im:message.reactions:write_only",
        "im:resource",
        "contact:user.base:readonly",
        "application:application:self_manage",
    }
)


class Refusal(Exception):
    def __init__(self, code: int, message: str, status: int = 400, headers: dict[str, str] | None = None) -> None:
        self.code, self.message, self.status, self.headers = code, message, status, headers or {}


@dataclass
class Fault:
    """What the next calls of a path are answered with; `refusal` None hangs up."""

    path: re.Pattern[str]
    refusal: Refusal | None
    times: int = 1


@dataclass
class FakeFeishu(World):
    """`async with FakeFeishu() as fake:` starts it on a free port of loopback. `gaps` lists calls that it does not
    know: a test that leaves one behind must fail.
    """

    base_url: str = ""
    scopes: set[str] = field(default_factory=lambda: set(ALL_SCOPES))
    events: set[str] = field(default_factory=lambda: {"im.message.receive_v1"})
    callbacks: set[str] = field(default_factory=lambda: {"card.action.trigger"})
    has_bot: bool = True
    token_seconds: int = 7200
    faults: list[Fault] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of every call of the API."""
    tokens: list[str] = field(default_factory=list)
    """All that were given out; the last one holds."""
    gaps: list[str] = field(default_factory=list)
    secret: str = SECRET
    stuck: str = ""
    """What the path of calls begins with that are never answered, "" for none."""

    def __post_init__(self) -> None:
        World.__init__(self)
        self._news = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self.gateway = Gateway(self._news.set)
        self.bot = self.new_id("ou")

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/ws/v2", self.gateway.serve)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.gateway.url = f"{self.base_url.replace('http', 'ws')}/ws/v2"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.gateway.drop()
        if self._runner is not None:
            await self._runner.cleanup()

    async def wait_until(self, condition: Callable[[], object], *, timeout: float = WAIT_SECONDS) -> None:
        """Wait until `condition()` is true; it is looked at after every call, and every 20 ms for what is outside."""
        async with asyncio.timeout(timeout):
            while not condition():
                self._news.clear()
                try:
                    async with asyncio.timeout(0.02):
                        await self._news.wait()
                except TimeoutError:
                    continue

    async def connected(self) -> None:
        await self.wait_until(lambda: self.gateway.sockets)

    def from_bot(self, chat: Chat, thread: str = "") -> list[Message]:
        """What the bot has said there and is still there, oldest first."""
        return [
            one
            for one in self.messages.values()
            if one.sender is None and one.chat is chat and one.thread == thread and not one.recalled
        ]

    def flood(
        self, seconds: int | None, *, code: int = 99991400, status: int = 429, path: str = "im/v1/messages"
    ) -> None:
        """The next call is answered with: too many."""
        headers = {} if seconds is None else {"x-ogw-ratelimit-reset": str(seconds)}
        self.refuse(path, code, "request trigger frequency limit", status=status, headers=headers)

    def refuse(
        self, path: str, code: int, message: str = "refused", *, status: int = 400, times: int = 1, headers: Any = None
    ) -> None:
        self.faults.append(Fault(re.compile(path), Refusal(code, message, status, headers), times))

    def hang_up(self, path: str, times: int = 1) -> None:
        self.faults.append(Fault(re.compile(path), None, times))

    async def say(
        self,
        user: User,
        chat: Chat,
        text: str,
        *,
        mention: bool | None = None,
        others: Sequence[User] = (),
        reply_to: Message | None = None,
        in_thread: bool | None = None,
        age: float = 0.0,
    ) -> Message:
        """Somebody writes. In groups they mention the bot first, unless `mention` says otherwise; `{0}` stands for the
        first of `others`.
        """
        mentions, keys = [], []
        if mention if mention is not None else chat.person is None:
            text = f"@_user_1 {text}"
            mentions.append(self._mention("@_user_1", self.bot, "OpenGUI"))
        for other in others:
            keys.append(f"@_user_{len(mentions) + 1}")
            mentions.append(self._mention(keys[-1], other.id, other.name))
        for number, key in enumerate(keys):
            text = text.replace(f"{{{number}}}", key)
        return await self.post(
            user, chat, "text", {"text": text}, mentions=mentions, reply_to=reply_to, in_thread=in_thread, age=age
        )

    async def post(
        self,
        user: User,
        chat: Chat,
        kind: str,
        content: dict[str, Any],
        *,
        mentions: Sequence[dict[str, Any]] = (),
        reply_to: Message | None = None,
        in_thread: bool | None = None,
        age: float = 0.0,
        inner: Sequence[Message] = (),
    ) -> Message:
        message = self.keep(
            Message(self.new_id("om"), chat, kind, content, user, mentions=list(mentions), inner=list(inner))
        )
        if reply_to is not None:
            message.root, message.parent = reply_to.root or reply_to.id, reply_to.id
        threaded = chat.topics or (reply_to is not None and reply_to.in_thread)
        message.in_thread = threaded if in_thread is None else in_thread
        if chat.topics and reply_to is None:
            message.root = ""
        await self.gateway.deliver(self.event_of(message, age=age))
        return message

    async def send_file(self, user: User, chat: Chat, name: str, data: bytes, **options: Any) -> Message:
        content = {"file_key": self.file(name, data), "file_name": name}
        return await self.post(user, chat, "file", content, **options)

    async def press(self, user: User, message: Message, data: str, *, age: float = 0.0) -> str:
        """Somebody presses a button or takes a choice; the id of the event."""
        action = next(
            one
            for one in message.actions
            if one["value"].get("data") == data or data in [option["value"] for option in one.get("options", ())]
        )
        told: dict[str, Any] = {"tag": action["tag"], "value": action["value"]}
        if action["tag"] == "select_static":
            told["option"] = data
        event = self.press_event(user, message, told, age=age)
        await self.gateway.deliver(event)
        return str(event["header"]["event_id"])

    def press_event(self, user: User, message: Message, action: dict[str, Any], *, age: float = 0.0) -> dict[str, Any]:
        return {
            "schema": "2.0",
            "header": self._header("card.action.trigger", int((time.time() - age) * 1e6)),
            "event": {
                "operator": {"tenant_key": user.tenant, "open_id": user.id, "union_id": "on_x", "user_id": None},
                "token": "c-token",
                "action": action,
                "host": "im_message",
                "context": {"open_message_id": message.id, "open_chat_id": message.chat.id},
            },
        }

    def event_of(self, message: Message, *, age: float = 0.0) -> dict[str, Any]:
        """The event that tells of a message."""
        sender = message.sender
        assert sender is not None
        written = str(int((time.time() - age) * 1000))
        told: dict[str, Any] = {
            "message_id": message.id,
            "create_time": written,
            "update_time": written,
            "chat_id": message.chat.id,
            "chat_type": "p2p" if message.chat.person is not None else "group",
            "message_type": message.kind,
            "content": json.dumps(message.content),
            "user_agent": "tests",
        }
        if message.root:
            told |= {"root_id": message.root, "parent_id": message.parent}
        if message.in_thread:
            told["thread_id"] = f"omt_{message.thread.removeprefix('om_')}"
        if message.mentions:
            told["mentions"] = message.mentions
        ids = {"open_id": sender.id, "union_id": "on_x", "user_id": None}
        return {
            "schema": "2.0",
            "header": self._header("im.message.receive_v1", int(written)),
            "event": {
                "sender": {"sender_id": ids, "sender_type": "user", "tenant_key": sender.tenant},
                "message": told,
            },
        }

    def _header(self, kind: str, created: int) -> dict[str, Any]:
        return {
            "event_id": self.new_id("ev"),
            "token": "",
            "create_time": str(created),
            "event_type": kind,
            "tenant_key": TENANT,
            "app_id": APP,
        }

    def chat_event(self, kind: str, chat: Chat) -> dict[str, Any]:
        return {
            "schema": "2.0",
            "header": self._header(kind, int(time.time() * 1000)),
            "event": {"chat_id": chat.id, "operator_id": {"open_id": "ou_x"}},
        }

    def _mention(self, key: str, user: str, name: str) -> dict[str, Any]:
        return {"key": key, "id": {"open_id": user, "union_id": "on_x"}, "name": name, "tenant_key": TENANT}

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        try:
            fault = next((one for one in self.faults if one.path.search(path)), None)
            if fault is not None:
                fault.times -= 1
                if not fault.times:
                    self.faults.remove(fault)
                if fault.refusal is None:
                    if request.transport is not None:
                        request.transport.close()
                    return web.Response()
                raise fault.refusal
            if path == "callback/ws/endpoint":
                self._check_app(await request.json(), "AppID", "AppSecret", 200)
                return web.json_response({"code": 0, "msg": "success", "data": self.gateway.address()})
            if path == "open-apis/auth/v3/tenant_access_token/internal":
                self._check_app(await request.json(), "app_id", "app_secret", 200)
                self.tokens.append(f"t-g10fake{len(self.tokens):04d}tokenofthetests.0123456789")
                answer = {"code": 0, "msg": "ok", "tenant_access_token": self.tokens[-1], "expire": self.token_seconds}
                return web.json_response(answer)
            self.calls.append((request.method, path.removeprefix("open-apis/")))
            if self.stuck and path.startswith(f"open-apis/{self.stuck}"):
                self._news.set()
                await asyncio.Event().wait()
            self._check_token(request)
            return await self._api(request, path.removeprefix("open-apis/"))
        except Refusal as refusal:
            body = {"code": refusal.code, "msg": refusal.message, "error": {"log_id": "0"}}
            return web.json_response(body, status=refusal.status, headers=refusal.headers)
        finally:
            self._news.set()

    def _check_token(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bearer {self.tokens[-1] if self.tokens else ''}":
            raise Refusal(99991663, "Invalid access token for authorization.")

    def _check_app(self, body: dict[str, Any], app: str, secret: str, status: int) -> None:
        if body.get(app) != APP:
            raise Refusal(10003, "invalid param", status)
        if body.get(secret) != self.secret:
            raise Refusal(10014, "app secret invalid", status)

    async def _api(self, request: web.Request, path: str) -> web.StreamResponse:
        match request.method, path.split("/"):
            case "GET", ["bot", "v3", "info"]:
                if not self.has_bot:
                    raise Refusal(11205, "app do not have bot")
                bot = {"activate_status": 2, "app_name": "OpenGUI", "open_id": self.bot}
                return web.json_response({"code": 0, "msg": "ok", "bot": bot})
            case "GET", ["application", "v6", "scopes"]:
                told = [{"scope_name": one, "grant_status": 1, "scope_type": "tenant"} for one in sorted(self.scopes)]
                return _ok({"scopes": told})
            case "GET", ["application", "v6", "applications", _]:
                self._need("application:application:self_manage")
                event = {"subscription_type": "websocket", "subscribed_events": sorted(self.events)}
                callback = {"callback_type": "websocket", "subscribed_callbacks": sorted(self.callbacks)}
                return _ok({"app": {"app_id": APP, "event": event, "callback": callback}})
            case "GET", ["contact", "v3", "users", person]:
                self._need("contact:user.base:readonly")
                return _ok({"user": {"open_id": person, "name": self.users[person].name}})
            case "POST", ["im", "v1", "images"]:
                return _ok({"image_key": await self._upload(request, "image", "")})
            case "POST", ["im", "v1", "files"]:
                form = await request.post()
                return _ok({"file_key": self._kept(form, "file", str(form["file_name"]))})
            case "POST", ["im", "v1", "messages"]:
                self._need("im:message:send_as_bot")
                body = await request.json()
                return _ok(self._send(self._receiver(request.query["receive_id_type"], body["receive_id"]), body))
            case "POST", ["im", "v1", "messages", number, "reply"]:
                self._need("im:message:send_as_bot")
                above, body = self._message(number), await request.json()
                return _ok(self._send(above.chat, body, above))
            case "PATCH", ["im", "v1", "messages", number]:
                message = self._message(number)
                if message.sender is not None or message.kind != "interactive":
                    raise Refusal(230001, "This message is NOT a card of the bot.")
                message.content = self._card(json.loads((await request.json())["content"]))
                message.edits += 1
                return _ok({})
            case "DELETE", ["im", "v1", "messages", number]:
                message = self._message(number)
                if message.sender is not None and not message.chat.bot_admin:
                    raise Refusal(230026, "No permission to recall this message.")
                message.recalled = True
                return _ok({})
            case "GET", ["im", "v1", "messages", number]:
                self._need("im:message:readonly")
                message = self._message(number)
                return _ok({"items": [_item(message), *(_item(one, message.id) for one in message.inner)]})
            case "POST", ["im", "v1", "messages", number, "reactions"]:
                self._need("im:message.reactions:write_only")
                kind = (await request.json())["reaction_type"]["emoji_type"]
                self._message(number).reactions.append(kind)
                return _ok({"reaction_id": "r"})
            case "GET", ["im", "v1", "messages", number, "resources", key]:
                self._need("im:resource")
                if key not in json.dumps(self._message(number).content):
                    raise Refusal(234003, "File not in msg.")
                name, data = self.files[key]
                kind = "application/json" if name.endswith(".json") else "application/octet-stream"
                return web.Response(body=data, content_type=kind)
            case _:
                self.gaps.append(f"{request.method} {path}")
                raise Refusal(404, "not found", 404)

    def _need(self, scope: str) -> None:
        if scope not in self.scopes:
            raise Refusal(99991672, f"Access denied. One of the following scopes is required: [{scope}, im:message].")

    def _message(self, number: str) -> Message:
        message = self.messages.get(number)
        if message is None:
            raise Refusal(231003, "The message is not found.")
        if not message.chat.bot_in:
            raise Refusal(230002, "The bot can not be outside the group.")
        if message.recalled:
            raise Refusal(230011, "The message was withdrawn.")
        return message

    def _receiver(self, kind: str, number: str) -> Chat:
        if kind == "open_id":
            user = self.users.get(number)
            if user is None:
                raise Refusal(230001, "invalid receive_id")
            return self.private(user)
        assert kind == "chat_id"
        return self.chats[number]

    def _send(self, chat: Chat, body: dict[str, Any], above: Message | None = None) -> dict[str, Any]:
        if not chat.bot_in:
            raise Refusal(230002, "The bot can not be outside the group.")
        assert 0 < len(body["uuid"]) <= 50
        known = next((one for one in self.messages.values() if one.uuid == body["uuid"]), None)
        if known is None:
            content = json.loads(body["content"])
            content = self._card(content) if body["msg_type"] == "interactive" else content
            known = self.keep(Message(self.new_id("om"), chat, body["msg_type"], content, uuid=body["uuid"]))
            if above is not None:
                known.root, known.parent = above.root or above.id, above.id
                known.in_thread = above.in_thread or bool(body["reply_in_thread"])
        return {"message_id": known.id, "chat_id": chat.id, "root_id": known.root, "parent_id": known.parent}

    def _card(self, card: dict[str, Any]) -> dict[str, Any]:
        if fault := self.fault_of(card):
            raise Refusal(230099, f"Failed to create card content, ext=ErrMsg: {fault}")
        return card

    async def _upload(self, request: web.Request, name: str, called: str) -> str:
        return self._kept(await request.post(), name, called)

    def _kept(self, form: Any, name: str, called: str) -> str:
        self._need("im:resource")
        data = form[name].file.read()
        if not data:
            raise Refusal(234010, "File's size can't be 0.")
        return self.file(called, data)


def _item(message: Message, bundle: str = "") -> dict[str, Any]:
    sender = message.sender
    return {
        "message_id": message.id,
        "msg_type": message.kind,
        "chat_id": message.chat.id,
        "upper_message_id": bundle or None,
        "sender": {"id": APP, "id_type": "app_id", "sender_type": "app"}
        if sender is None
        else {"id": sender.id, "id_type": "open_id", "sender_type": "user", "tenant_key": sender.tenant},
        "body": {"content": json.dumps(message.content)},
    }


def _ok(data: dict[str, Any]) -> web.Response:
    return web.json_response({"code": 0, "msg": "success", "data": data})
