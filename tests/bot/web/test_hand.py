"""A phone touched on its live picture: where somebody looks, as it was seen, and by whoever holds it."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from PIL import Image, ImageDraw

from bot.tasks.manual_input import OnStill, ScreenMoved, Still, tap
from bot.tasks.remote_control import ControlSession
from bot.web.chat import OPERATOR
from bot.web.hand import LiveHand
from devices.geometry import Bounds, Point, Size
from devices.inputs import Key, LongPress, PressKey, Swipe, Tap, TypeText
from devices.phone import Element, Observation
from tests.bot.web.world import open_world
from tests.bot.world import ADA, ANNA, World, a_world
from tests.fakes.instant_phone import InstantPhone

SIZE = Size(360, 800)
PAY = Element(Bounds(0, 80, 360, 160), text="Pay now", clickable=True)
FILM = Element(Bounds(0, 280, 360, 360), text="Bluetooth", clickable=True)
TYPED = "hunter2 hunter2"


class PicturedPhone(InstantPhone):
    """Another colour after each input; counts how often it was looked at. Something on it moves where it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.moves = False
        self.hidden = False
        self._frame = 0

    def picture(self) -> Image.Image:
        shade = 40 + self.number % 2 * 150
        image = Image.new("RGB", (SIZE.width, SIZE.height), (shade, shade, shade))
        if self.moves:
            self._frame += 1
            shade = self._frame % 2 * 255
            ImageDraw.Draw(image).rectangle((0, 0, 359, 400), fill=(shade, shade, shade))
        return image

    async def glance(self) -> Image.Image | None:
        self.looks += 1
        return None if self.hidden else self.picture()

    def page(self) -> Observation:
        return Observation(SIZE, None if self.hidden else self.picture(), (PAY, FILM), package="")


class Looking:
    """A page: what it asks for, and the stills that it reads."""

    def __init__(self, world: World, phone: PicturedPhone, session: aiohttp.ClientSession) -> None:
        self.world = world
        self.phone = phone
        self.session = session
        self._events = iter(range(10**6))

    async def post(self, path: str, **body: Any) -> tuple[int, dict[str, Any]]:
        async with self.session.post(path, json=body) as answer:
            return answer.status, await answer.json()

    async def take(self) -> str:
        status, told = await self.post("/api/hand", phone="pixel")
        assert status == 200, told
        return str(told["hand"])

    async def touch(self, hold: str, still: int, kind: str = "tap", **how: Any) -> tuple[int, dict[str, Any]]:
        return await self.post(
            f"/api/hand/{hold}/touch", event=f"touch-{next(self._events):06}", still=still, kind=kind, **how
        )

    @asynccontextmanager
    async def stills(self, hold: str) -> AsyncIterator[aiohttp.StreamReader]:
        async with self.session.get(f"/api/hand/{hold}/stills") as answer:
            assert answer.status == 200
            yield answer.content


async def still(stream: aiohttp.StreamReader) -> int:
    """The number of the next picture."""
    head = json.loads(await stream.readexactly(int.from_bytes(await stream.readexactly(4))))
    data = await stream.readexactly(head["bytes"])
    assert data[:2] == b"\xff\xd8"
    return int(head["still"])


async def live(page: Looking, hold: ControlSession) -> Still:
    """The picture of now, looked at once."""
    seen = await page.world.services.remote_control.live(hold)
    assert seen is not None
    return seen.still


@pytest.fixture
async def page(real_world: None, tmp_path: Path) -> AsyncIterator[Looking]:  # noqa: ARG001
    for name in ("service", "console"):
        (tmp_path / name).mkdir()
    async with a_world(tmp_path / "service") as world:
        phone = PicturedPhone()
        world.phones.touchable["pixel"] = phone
        routes = LiveHand(world.services, asyncio.Event()).routes()
        async with open_world(tmp_path / "console", beside=routes) as console:
            headers = {"Authorization": f"Bearer {console.token}"}
            async with aiohttp.ClientSession(console.url, headers=headers) as session:
                yield Looking(world, phone, session)


async def test_what_is_done_on_the_picture_is_done_on_the_phone(page: Looking) -> None:
    hold = await page.take()
    async with page.stills(hold) as stream:
        number = await still(stream)
        assert await page.touch(hold, number, x=0.5, y=0.75) == (200, {"app": "", "target": ""})
        assert page.phone.sent == [Tap(Point(180, 600))]
        number = await still(stream)
        await page.touch(hold, number, "swipe", x=0.5, y=0.75, to_x=0.5, to_y=0.25, milliseconds=200)
        number = await still(stream)
        await page.touch(hold, number, "long_press", x=0.5, y=0.75)
        number = await still(stream)
        await page.touch(hold, number, "key", key="home")
        number = await still(stream)
        await page.touch(hold, number, "type", text="hello")
        assert page.phone.sent[1:] == [
            Swipe(Point(180, 600), Point(180, 200), 200),
            LongPress(Point(180, 600)),
            PressKey(Key.HOME),
            TypeText("hello", secret=True),
        ]
    entries = [entry for entry in await page.world.store.audit.page(9) if entry.kind == "operated"]
    assert len(entries) == 5
    assert entries[0].detail == "pixel type (5)"


async def test_a_picture_is_told_only_when_it_is_another_and_only_while_somebody_reads(page: Looking) -> None:
    """Seen failing with every capture told, and with the capturing beside the request."""
    hold = await page.take()
    assert page.phone.looks == 0, "nobody looks yet"
    async with page.stills(hold) as stream:
        await still(stream)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.8):
                await still(stream)
        assert page.phone.looks >= 3
        page.phone.turn()
        await still(stream)
    async with asyncio.timeout(5):
        found = page.world.services.remote_control.get(hold)
        assert found is not None
        while found.watchers:
            await asyncio.sleep(0.01)
    looks = page.phone.looks
    await asyncio.sleep(0.6)
    assert page.phone.looks == looks
    async with page.stills(hold) as stream:
        assert await still(stream) == 2, "the last picture comes at once"


async def test_a_thousand_touches_on_pictures_of_before_touch_nothing(page: Looking) -> None:
    """Seen failing without the look at the place of a picture."""
    chance = random.Random(3)
    hands = page.world.services.remote_control
    hold = await hands.take("pixel", OPERATOR, idle=60)
    old = await live(page, hold)
    page.phone.turn()
    for number in range(1000):
        place = tap(Point(chance.randrange(SIZE.width), chance.randrange(SIZE.height)))
        with pytest.raises(ScreenMoved):
            await hands.touch(hold, place, f"event-{number}", OnStill(old), approves=True)
    assert page.phone.sent == []


async def test_what_moves_by_itself_may_be_touched_but_for_what_the_rules_ask_about(page: Looking) -> None:
    """Seen failing without the picture before, and with `holds` always true."""
    page.phone.moves = True
    hold = await page.take()
    hands = page.world.services.remote_control
    found = hands.get(hold)
    assert found is not None
    for _ in range(2):
        number = (await live(page, found)).number
    status, _ = await page.touch(hold, number, x=0.5, y=0.4)
    assert status == 200
    for _ in range(3):
        number = (await live(page, found)).number
    refused, told = await page.touch(hold, number, x=0.5, y=0.15)
    assert refused == 409
    assert "nothing was touched" in told["message"]
    assert len(page.phone.sent) == 1


async def test_an_old_still_a_strange_place_and_a_hold_that_is_over_touch_nothing(page: Looking) -> None:
    hold = await page.take()
    async with page.stills(hold) as stream:
        number = await still(stream)
        page.phone.turn()
        await still(stream)
        assert (await page.touch(hold, number, x=0.5, y=0.75))[0] == 409
        assert (await page.touch(hold, 99, x=0.5, y=0.75))[0] == 409
        assert (await page.touch(hold, number, x=1.5, y=0.75))[0] == 400
        assert (await page.touch(hold, number, "key"))[0] == 400
    assert (await page.post(f"/api/hand/{hold}/done")) == (200, {"task": ""})
    assert (await page.touch(hold, number, x=0.5, y=0.75))[0] == 404
    assert page.phone.sent == []


async def test_a_screen_that_may_not_be_shown_takes_keys_and_no_touches(page: Looking) -> None:
    """Seen failing without the look at whether there was a picture: a place of one pixel was touched."""
    page.phone.hidden = True
    hold = await page.take()
    found = page.world.services.remote_control.get(hold)
    assert found is not None
    number = (await live(page, found)).number
    assert (await page.touch(hold, number, x=0.5, y=0.75))[0] == 409
    assert (await page.touch(hold, number, "key", key="home"))[0] == 200
    assert page.phone.sent == [PressKey(Key.HOME)]


async def test_a_screen_that_is_covered_after_it_was_seen_is_not_touched(page: Looking) -> None:
    """Seen failing: a screen without a picture counted as the one that was seen, and was touched unseen."""
    hold = await page.take()
    found = page.world.services.remote_control.get(hold)
    assert found is not None
    for moves in (False, True):
        page.phone.moves, page.phone.hidden = moves, False
        for _ in range(2):
            number = (await live(page, found)).number
        page.phone.hidden = True
        for kind in ("tap", "long_press", "swipe", "drag"):
            status, told = await page.touch(hold, number, kind, x=0.5, y=0.4, to_x=0.5, to_y=0.2)
            assert (status, "nothing was touched" in told["message"]) == (409, True)
    assert page.phone.sent == []
    assert (await page.touch(hold, number, "key", key="home"))[0] == 200
    page.phone.hidden = False
    assert (await page.touch(hold, (await live(page, found)).number, x=0.5, y=0.75))[0] == 200
    assert len(page.phone.sent) == 2


async def test_only_one_person_holds_a_phone_and_others_are_told_who(page: Looking) -> None:
    """Seen failing without the look at the person: the second one got the phone of the first."""
    await page.world.type("people allow 42 operate", ADA)
    held = await page.world.services.remote_control.take("pixel", ANNA, idle=60)
    status, told = await page.post("/api/hand", phone="pixel")
    assert status == 409
    assert "in the hands of Anna" in told["message"]
    async with page.session.get(f"/api/hand/{held.id}/stills") as answer:
        assert answer.status == 404
    assert (await page.touch(held.id, 1, x=0.5, y=0.5))[0] == 404
    assert (await page.post("/api/hand", phone="nobody"))[0] == 404
    listed = await page.world.type("devices", ADA)
    assert listed.message is not None
    assert "in the hands of Anna" in listed.message.body
    screen = await page.world.type("screen", ADA)
    assert screen.message is not None
    assert screen.message.picture is None
    assert "in the hands of Anna" in screen.message.body


async def test_what_is_typed_is_kept_nowhere(page: Looking, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Seen failing with the action written to the journal as it came."""
    caplog.set_level("DEBUG")
    hold = await page.take()
    async with page.stills(hold) as stream:
        await page.touch(hold, await still(stream), "type", text=TYPED)
    assert len(page.phone.sent) == 1
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*.sqlite3*"))  # noqa: ASYNC240 - small
    assert b"hunter2" not in kept
    assert "hunter2" not in caplog.text


async def test_a_phone_that_was_given_to_others_is_not_shown_any_more(page: Looking) -> None:
    """Seen failing without the look at the lease: whoever held it before watched what the next one did."""
    hold = await page.world.services.remote_control.take("pixel", OPERATOR, idle=60)
    seen = await live(page, hold)
    await page.world.leases.release(hold.lease.run)
    assert await page.world.services.remote_control.live(hold) is None
    assert hold.ended.is_set()
    assert (await page.touch(hold.id, seen.number, x=0.5, y=0.75))[0] == 404
    assert page.phone.looks == 1


async def test_whoever_goes_away_loses_the_phone(page: Looking) -> None:
    """Seen failing without the watch over its time."""
    hold = await page.world.services.remote_control.take("pixel", OPERATOR, idle=0.2)
    async with page.stills(hold.id) as stream:
        await still(stream)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await hold.ended.wait()
    async with asyncio.timeout(10):
        await hold.ended.wait()
    assert page.world.services.remote_control.session_on("pixel") is None


async def test_a_touch_that_the_rules_ask_about_is_the_yes_of_whoever_may_approve(page: Looking) -> None:
    hold = await page.take()
    async with page.stills(hold) as stream:
        status, told = await page.touch(hold, await still(stream), x=0.5, y=0.15)
    assert (status, told["target"]) == (200, "Pay now")
    entry = (await page.world.store.audit.page(1))[0]
    assert "own yes" in str(entry.detail)
