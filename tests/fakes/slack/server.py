"""The fake itself: an aiohttp server on loopback that an unmodified slack_sdk talks to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from tests.fakes.slack.checks import Refused, check
from tests.fakes.slack.people import People
from tests.fakes.slack.world import Channel, Message

BOT_TOKEN = "xoxb-fake-slack-bot-token-of-the-tests"
APP_TOKEN = "xapp-fake-slack-app-token-of-the-tests"
SCOPES = (
    "app_mentions:read,channels:history,chat:write,commands,files:read,files:write,groups:history,im:history,im:write,"
    "reactions:write,users:read"
)
WAIT_SECONDS = 60.0
QUIET = frozenset({"auth.test", "apps.connections.open", "users.info", "upload", "respond"})
"""Methods that "*" does not mean: they come at any time."""

Form = dict[str, Any]


@dataclass
class Fault:
    method: str
    refusal: Refused
    times: int

    def meets(self, method: str) -> bool:
        return self.times > 0 and (self.method == method or (self.method == "*" and method not in QUIET))


class FakeSlack(People):
    """A Slack of our own. `base_url` is what a client needs, in this process or in another.

    `async with FakeSlack() as fake:` starts it on a free port of loopback. `gaps` lists methods that the fake does not
    know: a test that leaves one behind must fail.
    """

    def __init__(self) -> None:
        super().__init__(self._note)
        self.bot_token, self.app_token, self.scopes = BOT_TOKEN, APP_TOKEN, SCOPES
        self.gaps: list[str] = []
        self.calls: list[tuple[str, Form]] = []
        self.downloads: list[tuple[str, str]] = []
        """The path of each file that was asked for, and the token that came with it."""
        self.faults: list[Fault] = []
        self.slow_files = 1
        self.upload_to = ""
        """Where uploads are sent instead of here."""
        self.files_moved_to = ""
        """Where the file server sends who asks for a file; "" for none."""
        self.unreachable = False
        self._news = asyncio.Event()
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        return f"{self.origin}/api/"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/api/{method}", self._answer)
        app.router.add_get("/api/{method}", self._answer)
        app.router.add_post("/upload/{file}", self._uploaded)
        app.router.add_get("/files/{file}/{name}", self._download)
        app.router.add_post("/respond/{number}", self._responded)
        app.router.add_get("/socket", self.sockets.handle)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Go away: connections are closed, and new ones are refused."""
        await self.sockets.drop()
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def wait_until(self, condition: Callable[[], object], *, timeout: float = WAIT_SECONDS) -> None:
        """Wait until `condition()` is true; it is looked at after every event, and every 20 ms for what is outside."""
        async with asyncio.timeout(timeout):
            while not condition():
                self._news.clear()
                try:
                    async with asyncio.timeout(0.02):
                        await self._news.wait()
                except TimeoutError:
                    continue

    async def connected(self) -> None:
        """Wait until the app is connected."""
        await self.wait_until(lambda: self.sockets.connected)

    async def settled(self) -> None:
        """Wait until everything that was told is acknowledged."""
        await self.wait_until(lambda: not self.sockets.waiting)

    def fail(self, method: str, error: str, *, times: int = 1, **more: Any) -> None:
        """Refuse the next calls of a method ("*" for any that is not about the connection)."""
        self.faults.append(Fault(method, Refused(error, **more), times))

    def flood(self, seconds: int, method: str = "*", *, times: int = 1) -> None:
        """Answer 429 with Retry-After."""
        refusal = Refused("ratelimited", status=429, headers={"Retry-After": str(seconds)})
        self.faults.append(Fault(method, refusal, times))

    def called(self, method: str) -> list[Form]:
        """The fields of each call of a method."""
        return [form for name, form in self.calls if name == method]

    def _note(self) -> None:
        self._news.set()

    async def _answer(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        if self.unreachable and request.transport is not None:
            request.transport.close()
            return web.Response(status=503)
        body = await request.json() if request.content_type == "application/json" else dict(await request.post())
        form: Form = {**request.query, **body}
        self.calls.append((method, form))
        try:
            return web.json_response({"ok": True, **await self._result(request, method, form)}, headers=self._headers())
        except Refused as refused:
            answer = {"ok": False, "error": refused.error, **refused.more}
            return web.json_response(answer, status=refused.status, headers=refused.headers)
        finally:
            self._note()

    def _headers(self) -> Mapping[str, str]:
        return {"x-oauth-scopes": self.scopes}

    async def _result(self, request: web.Request, method: str, form: Form) -> Mapping[str, Any]:
        if (refused := self._fault(method)) is not None:
            raise refused
        wanted = self.app_token if method == "apps.connections.open" else self.bot_token
        if request.headers.get("Authorization") != f"Bearer {wanted}":
            raise Refused("invalid_auth")
        known: Mapping[str, Callable[[Form], Awaitable[Mapping[str, Any]]]] = {
            "auth.test": self._auth_test,
            "apps.connections.open": self._connections_open,
            "users.info": self._users_info,
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "conversations.open": self._open,
            "conversations.replies": self._replies,
            "conversations.history": self._history,
            "reactions.add": self._react,
            "files.getUploadURLExternal": self._upload_url,
            "files.completeUploadExternal": self._complete,
            "files.info": self._file_info,
        }
        if method not in known:
            self.gaps.append(method)
            raise Refused("unknown_method")
        return await known[method](form)

    def _fault(self, method: str) -> Refused | None:
        """What the next call of a method, an "upload" or a "respond" to a press is refused with."""
        fault = next((one for one in self.faults if one.meets(method)), None)
        if fault is None:
            return None
        fault.times -= 1
        return fault.refusal

    async def _auth_test(self, _: Form) -> Mapping[str, Any]:
        return {"user_id": self.bot.id, "user": self.bot.name, "team_id": self.world.team, "bot_id": "B0BOT"}

    async def _connections_open(self, _: Form) -> Mapping[str, Any]:
        return {"url": f"{self.origin.replace('http', 'ws', 1)}/socket?ticket={self.world.number('t')}"}

    async def _users_info(self, form: Form) -> Mapping[str, Any]:
        user = self.world.users.get(form["user"])
        if user is None:
            raise Refused("user_not_found")
        return {"user": user.payload()}

    async def _post(self, form: Form) -> Mapping[str, Any]:
        channel = self._channel(form)
        thread = str(form.get("thread_ts") or "")
        if thread and thread not in self.world.messages.get(channel.id, {}):
            raise Refused("thread_not_found")
        message = Message(self.world.ts(), channel, self.bot, thread=thread)
        self._fill(message, form)
        self.world.add(message)
        return {"ts": message.ts, "channel": channel.id, "message": message.payload(self.origin)}

    async def _update(self, form: Form) -> Mapping[str, Any]:
        message = self.world.messages.get(self._channel(form).id, {}).get(form["ts"])
        if message is None:
            raise Refused("message_not_found")
        if message.user is not self.bot:
            raise Refused("cant_update_message")
        self._fill(message, form)
        message.edits += 1
        return {"ts": message.ts}

    def _fill(self, message: Message, form: Form) -> None:
        blocks = form.get("blocks") or []
        blocks = json.loads(blocks) if isinstance(blocks, str) else blocks
        text = str(form.get("text") or "")
        check(text, blocks, self.world.files)
        message.text, message.blocks = text, blocks

    def _channel(self, form: Form, name: str = "channel") -> Channel:
        channel = self.world.channels.get(str(form.get(name)))
        if channel is None:
            raise Refused("channel_not_found")
        if channel.archived:
            raise Refused("is_archived")
        if self.bot.id not in channel.members:
            raise Refused("not_in_channel")
        return channel

    async def _open(self, form: Form) -> Mapping[str, Any]:
        user = self.world.users.get(str(form.get("users")))
        if user is None:
            raise Refused("user_not_found")
        return {"channel": {"id": self.private(user).id}}

    async def _replies(self, form: Form) -> Mapping[str, Any]:
        root = self.world.messages.get(self._channel(form).id, {}).get(form["ts"])
        if root is None:
            raise Refused("thread_not_found")
        return {"messages": [root.payload(self.origin)]}

    async def _history(self, form: Form) -> Mapping[str, Any]:
        self._channel(form)
        return {"messages": []}

    async def _react(self, form: Form) -> Mapping[str, Any]:
        message = self.world.messages.get(self._channel(form).id, {}).get(form["timestamp"])
        if message is None:
            raise Refused("message_not_found")
        message.reactions.append(form["name"])
        return {}

    async def _upload_url(self, form: Form) -> Mapping[str, Any]:
        if int(form["length"]) < 1:
            raise Refused("invalid_arguments")
        file = self.world.store(str(form["filename"]), b"")
        file.looks = self.slow_files
        return {"upload_url": f"{self.upload_to or self.origin}/upload/{file.id}", "file_id": file.id}

    async def _complete(self, form: Form) -> Mapping[str, Any]:
        files = [self.world.files[one["id"]] for one in json.loads(form["files"])]
        for file in files:
            if not file.data:
                raise Refused("file_not_found")
            file.whole = True
        if form.get("channel_id"):
            channel = self._channel(form, "channel_id")
            thread = str(form.get("thread_ts") or "")
            self.world.add(Message(self.world.ts(), channel, self.bot, thread=thread, files=files))
        return {"files": [{"id": file.id} for file in files]}

    async def _file_info(self, form: Form) -> Mapping[str, Any]:
        file = self.world.files[form["file"]]
        told = file.payload(self.origin)
        file.looks = max(0, file.looks - 1)
        return {"file": told}

    async def _uploaded(self, request: web.Request) -> web.Response:
        assert "Authorization" not in request.headers, "a token went with an upload"
        if (fault := self._fault("upload")) is not None:
            return web.Response(status=fault.status, headers=fault.headers)
        self.world.files[request.match_info["file"]].data = await request.read()
        return web.Response(text="OK")

    async def _download(self, request: web.Request) -> web.Response:
        self.downloads.append((request.path, request.headers.get("Authorization", "")))
        if self.files_moved_to:
            raise web.HTTPFound(self.files_moved_to)
        file = self.world.files.get(request.match_info["file"])
        if file is None or request.headers.get("Authorization") != f"Bearer {self.bot_token}":
            raise web.HTTPFound(f"{self.origin}/login")
        return web.Response(body=file.data)

    async def _responded(self, request: web.Request) -> web.Response:
        assert "Authorization" not in request.headers, "a token went with an answer"
        if (fault := self._fault("respond")) is not None:
            return web.Response(status=fault.status, headers=fault.headers)
        form = await request.json()
        assert form["response_type"] == "ephemeral"
        message = Message(self.world.ts(), Channel("whispered"), self.bot)
        try:
            self._fill(message, form)
        except Refused as refused:
            return web.json_response({"ok": False, "error": refused.error}, status=404)
        finally:
            self._note()
        self.world.whispers.append((request.match_info["number"], message))
        self._note()
        return web.json_response({"ok": True})
