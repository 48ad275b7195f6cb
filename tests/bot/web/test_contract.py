"""The console keeps what every chat must."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest

from bot.domain.address import Address, MessageRef, Person
from bot.domain.incoming import Press
from bot.web.chat import HOME, OPERATOR, WebChat
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.web.world import World


class WebBench:
    """The console over HTTP, as the page sees it and presses in it."""

    def __init__(self, world: World, client: aiohttp.ClientSession) -> None:
        self._world = world
        self._client = client
        self.chat: WebChat = world.chat
        self.origin: Address = HOME
        self.person: Person = OPERATOR

    async def shown(self, place: Address) -> Sequence[Shown]:
        async with self._client.get("/api/console/messages", params={"thread": place.thread}) as response:
            entries = (await response.json())["messages"]
        return [await self._seen(entry) for entry in entries]

    async def _seen(self, entry: dict[str, Any]) -> Shown:
        content = entry["content"]
        texts = [content["heading"], content["body"], content["footer"]]
        files = [content["picture"]] if content["picture"] else []
        for file in content["files"]:
            files.append(file["name"])
            if file["name"] == "message.txt":
                async with self._client.get(f"/api/frames/{file['reference']}") as response:
                    texts.append(await response.text())
        return Shown(
            id=str(entry["id"]),
            text="\n".join(filter(None, texts)),
            buttons=tuple(button["data"] for row in content["buttons"] for button in row),
            files=tuple(files),
            # Only one person is there: what rings, rings for the operator.
            mentions=(OPERATOR.id,) if content["notify"] else (),
            silent=not content["notify"],
            choices=tuple(choice["data"] for choice in (content["menu"] or {}).get("choices", ())),
            reply_to=content["reply_to"],
        )

    async def remove(self, ref: MessageRef) -> None:
        await self.chat.delete(ref)

    async def lose(self, place: Address) -> None:
        pytest.skip(f"nobody can take {place} away from the console")

    async def press(self, ref: MessageRef, data: str) -> Press:
        said = {"data": data, "message": ref.message, "thread": ref.address.thread, "event": f"event-{data}"}
        async with self._client.post("/api/console/presses", json=said) as response:
            assert response.status == 200
        return self._world.intake.presses[-1]

    async def flood(self, seconds: float) -> None:
        pytest.skip(f"the console takes everything at once, and never asks for {seconds} s of silence")


class TestWeb(ChatContract):
    @pytest.fixture
    def bench(self, world: World, client: aiohttp.ClientSession) -> WebBench:
        return WebBench(world, client)
