"""The console keeps the contract of every chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.chats.base import Address, Chat, Incoming, MessageRef, Press
from bot.chats.log import Entry
from bot.chats.web.chat import HOME, OPERATOR
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.chats.talk_contract import TalkContract
from tests.bot.chats.web.world import World, open_world


class WebBench:
    """The console over HTTP, as its page uses it."""

    def __init__(self, directory: Path, stack: AsyncExitStack) -> None:
        self.chat: Chat
        self.origin = HOME
        self.person = OPERATOR
        self._directory = directory
        self._stack = stack
        self._world: World
        self._client: aiohttp.ClientSession
        self._events = 0

    async def restart(self) -> None:
        await self._stack.aclose()
        self._world = await self._stack.enter_async_context(open_world(self._directory))
        headers = {"Authorization": f"Bearer {self._world.token}"}
        self._client = await self._stack.enter_async_context(aiohttp.ClientSession(self._world.url, headers=headers))
        self.chat = self._world.chat

    async def shown(self, place: Address) -> Sequence[Shown]:
        entries = await self._world.log.page(place.thread, before=None, limit=100)
        return [await self._as_seen(entry) for entry in entries if entry.author == "bot"]

    async def remove(self, ref: MessageRef) -> None:
        await self._world.log.remove(int(ref.message))

    async def lose(self, place: Address) -> None:
        pytest.skip(f"nobody takes {place} away from the operator")

    async def flood(self, seconds: float) -> None:
        pytest.skip(f"the console never asks for {seconds} s of silence")

    async def press(self, ref: MessageRef, data: str) -> Press:
        await self._post("press", data=data, message=ref.message, thread=ref.address.thread)
        return self._world.intake.presses[-1]

    async def write(
        self,
        text: str,
        *,
        files: Sequence[tuple[str, bytes]] = (),
        reply_to: MessageRef | None = None,
        language: str = "en",
    ) -> Incoming:
        if files:
            pytest.skip("files are handed in by /api/do, which has its own tests")
        typed = text.replace("/opengui ", "/")
        await self._post(
            "say", {"Accept-Language": language}, text=typed, reply_to=reply_to.message if reply_to else ""
        )
        return self._world.intake.messages[-1]

    async def there(self, ref: MessageRef) -> bool:
        entries = await self._world.log.page(ref.address.thread, before=None, limit=100)
        return int(ref.message) in [entry.id for entry in entries]

    async def _post(self, name: str, headers: dict[str, str] | None = None, **body: Any) -> None:
        self._events += 1
        body["event"] = f"event-{self._events:04}"
        async with self._client.post(f"/api/{name}", json=body, headers=headers) as response:
            assert response.status == 200, await response.text()

    async def _as_seen(self, entry: Entry) -> Shown:
        content = entry.content
        whole = [await self._world.frames.load(file.reference) for file in content.files if file.name == "message.txt"]
        pictures = (content.picture,) if content.picture else ()
        return Shown(
            id=str(entry.id),
            text="\n".join((content.heading, content.body, content.footer, *(data.decode() for data in whole))),
            buttons=tuple(button.data for row in content.buttons for button in row),
            files=(*pictures, *(file.name for file in content.files)),
            mentions=(OPERATOR.id,) if content.notify else (),
            silent=not content.notify,
            reply_to=content.reply_to,
        )


class TestConsole(ChatContract, TalkContract):
    @pytest.fixture
    async def bench(self, tmp_path: Path) -> AsyncIterator[WebBench]:
        async with AsyncExitStack() as stack:
            bench = WebBench(tmp_path, stack)
            await bench.restart()
            yield bench
