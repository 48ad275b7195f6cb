"""Video of a phone that one holds: only to whom may look, only while its stills show anything, and stills otherwise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from PIL import Image
from playwright.async_api import Page

from bot.web.hand import LiveHand
from devices.errors import CaptureFailed
from devices.geometry import Size
from devices.virtual_phone.services import Encoder
from tests.bot.web.test_hand import Looking, PicturedPhone
from tests.bot.web.world import open_world
from tests.bot.world import a_world


class FilmedPhone(PicturedPhone):
    """Each film has so many pictures; then it ends, or goes on without another one."""

    def __init__(self) -> None:
        super().__init__()
        self.films: list[Size] = []
        self.running = 0
        self.pictures = 3
        self.ends = False
        self.broken = False

    async def film(self, size: Size) -> AsyncGenerator[bytes]:
        self.films.append(size)
        if self.broken:
            raise CaptureFailed("screenrecord: inaccessible or not found")
        encoder = Encoder((32, 64), 100_000)
        self.running += 1
        try:
            for shade in range(self.pictures):
                yield encoder.encode(Image.new("RGB", (32, 64), (shade * 60, 0, 0)))
            if not self.ends:
                await asyncio.Event().wait()
        finally:
            self.running -= 1


@pytest.fixture
async def phone() -> FilmedPhone:
    return FilmedPhone()


@pytest.fixture
async def looking(real_world: None, tmp_path: Path, phone: FilmedPhone) -> AsyncIterator[Looking]:  # noqa: ARG001
    for name in ("service", "console"):
        (tmp_path / name).mkdir()
    async with a_world(tmp_path / "service") as world:
        world.phones.touchable["pixel"] = phone
        routes = LiveHand(world.services, asyncio.Event()).routes()
        async with open_world(tmp_path / "console", beside=routes) as console:
            headers = {"Authorization": f"Bearer {console.token}"}
            async with aiohttp.ClientSession(console.url, headers=headers) as session:
                yield Looking(world, phone, session)


@asynccontextmanager
async def watched(looking: Looking, query: str = "?video=1") -> AsyncIterator[aiohttp.StreamReader]:
    hold = await looking.take()
    async with looking.session.get(f"/api/hand/{hold}/stills{query}") as answer:
        assert answer.status == 200
        yield answer.content


async def told(stream: aiohttp.StreamReader) -> dict[str, Any]:
    """The head of the next record."""
    async with asyncio.timeout(5):
        head: dict[str, Any] = json.loads(await stream.readexactly(int.from_bytes(await stream.readexactly(4))))
        await stream.readexactly(head["bytes"])
    return head


async def until(so: Any) -> None:
    async with asyncio.timeout(5):
        while not so():
            await asyncio.sleep(0.01)


async def test_pictures_come_beside_the_stills_while_somebody_reads(looking: Looking, phone: FilmedPhone) -> None:
    async with watched(looking) as stream:
        heads = [await told(stream) for _ in range(4)]
        assert [head["still"] for head in heads if "still" in head] == [1]
        first, second, third = [head for head in heads if "video" in head]
        assert (first["video"], first["key"], first["codec"][:5]) == (True, True, "avc1.")
        assert [(one["key"], "codec" in one) for one in (second, third)] == [(False, False)] * 2
        assert phone.films == [Size(360, 800)]
        assert phone.running == 1
    await until(lambda: phone.running == 0)


async def test_who_asks_for_stills_gets_no_video(looking: Looking, phone: FilmedPhone) -> None:
    async with watched(looking, "") as stream:
        await told(stream)
        phone.turn()
        assert (await told(stream))["still"] == 2
    assert phone.films == []


async def test_a_screen_that_may_not_be_shown_ends_the_video(looking: Looking, phone: FilmedPhone) -> None:
    """Seen failing without the look at the still's picture: the recording went on behind it."""
    async with watched(looking) as stream:
        for _ in range(4):
            await told(stream)
        phone.hidden = True
        assert await told(stream) == {"still": 2, "bytes": 0}
        await until(lambda: phone.running == 0)
        phone.hidden = False
        heads = [await told(stream) for _ in range(4)]
        assert [head["still"] for head in heads if "still" in head] == [3]
    assert len(phone.films) == 2


async def test_a_recording_that_ends_begins_again(looking: Looking, phone: FilmedPhone) -> None:
    phone.ends = True
    async with watched(looking) as stream:
        heads = [await told(stream) for _ in range(7)]
    assert sum("codec" in head for head in heads) == 2


async def test_a_phone_that_records_nothing_gives_stills_and_is_asked_once(
    looking: Looking, phone: FilmedPhone, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    phone.broken = True
    async with watched(looking) as stream:
        for number in range(1, 5):
            assert (await told(stream))["still"] == number
            phone.turn()
    assert len(phone.films) == 1
    assert "gets stills of Pixel, and no video: screenrecord: inaccessible" in caplog.text


async def test_a_phone_that_was_given_to_others_is_not_filmed_any_more(looking: Looking, phone: FilmedPhone) -> None:
    async with watched(looking) as stream:
        for _ in range(4):
            await told(stream)
        (hold,) = [held for held in [looking.world.services.remote_control.session_on("pixel")] if held is not None]
        await looking.world.leases.release(hold.lease.run)
        await until(lambda: phone.running == 0)
        assert hold.ended.is_set()


@pytest.mark.page
async def test_what_is_seen_late_is_not_touched_and_what_moves_by_itself_is(page: Page) -> None:
    # The page has it in the one file of its modules: here it comes by itself.
    source = resources.files("bot.web").joinpath("page/video.js").read_text("utf-8")
    await page.route("**/page/video.js", lambda route: route.fulfill(body=source, content_type="text/javascript"))
    found = await page.evaluate(
        """async () => {
          const { Video, plays } = await import("/page/video.js");
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [360, 800];
          const paint = (colour) => {
            const context = canvas.getContext("2d");
            context.fillStyle = colour;
            context.fillRect(0, 0, 360, 400);
          };
          const still = async (colour) => {
            paint(colour);
            video.still(await createImageBitmap(canvas), () => {});
          };
          const video = new Video(canvas);
          const seen = () => {
            video.drawn = performance.now();
            return [video.stale({ x: .5, y: .2 }), video.stale({ x: .5, y: .8 })];
          };
          const told = { plays: plays() };
          await still("red");
          told.same = seen();
          paint("blue");
          told.late = seen();
          await still("green");
          await still("white");
          paint("blue");
          told.moving = seen();
          return told;
        }"""
    )
    assert found == {"plays": True, "same": [False, False], "late": [True, False], "moving": [False, False]}
