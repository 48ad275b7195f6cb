"""Video of a screen: H.264 as `screenrecord` writes it, cut into pictures."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing

import av
import pytest
from PIL import Image

from devices.adb.film import AccessUnits
from devices.errors import CaptureFailed
from devices.geometry import Size
from devices.inputs import Key, OpenApp, PressKey
from devices.phone import VideoSource
from devices.virtual_phone.services import Encoder
from tests.devices.adb.conftest import Bench

SCREEN = Size(1080, 2400)


def pictures(units: list[bytes]) -> list[Image.Image]:
    """What a decoder makes of them."""
    decoder = av.CodecContext.create("h264", "r")
    frames = [frame for unit in units for frame in decoder.decode(av.Packet(unit))]
    frames += decoder.decode(None)
    return [frame.to_image() for frame in frames]  # type: ignore[no-untyped-call]  # PyAV leaves it open


async def next_unit(film: AsyncGenerator[bytes]) -> bytes:
    async with asyncio.timeout(10):
        return await anext(film)


def test_a_stream_is_cut_where_pictures_begin_however_it_arrives() -> None:
    encoder = Encoder((64, 128), 500_000)
    whole = [encoder.encode(Image.new("RGB", (64, 128), (shade * 8, 40, 200))) for shade in range(30)]
    stream, chance = b"".join(whole), random.Random(5)
    for longest in (1, 3, 400, len(stream)):
        units, cut, at = [], AccessUnits(), 0
        while at < len(stream):
            step = chance.randint(1, longest)
            units += cut.feed(stream[at : at + step])
            at += step
        assert cut.whole
        assert [*units, cut.take()] == whole
    assert len(pictures(whole)) == 30


async def test_a_change_on_the_screen_is_a_picture_and_nothing_else_is(bench: Bench) -> None:
    assert isinstance(bench.phone, VideoSource)
    async with aclosing(bench.phone.film(SCREEN)) as film:
        units = [await next_unit(film)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await anext(film)
    async with aclosing(bench.phone.film(SCREEN)) as film:
        units = [await next_unit(film)]
        await bench.phone.act(OpenApp("Clock"), receipt="c")
        units.append(await next_unit(film))
    first, last = pictures(units)
    assert first.size == last.size == (720, 1600)
    assert first.tobytes() != last.tobytes()


async def test_a_phone_that_records_nothing_says_what_it_told(bench: Bench) -> None:
    """Seen failing without the look at whether there was a picture: the film ended as if it had been one."""
    bench.virtual.faults.no_recording = True
    with pytest.raises(CaptureFailed, match="screenrecord: inaccessible or not found"):
        async with aclosing(bench.phone.film(SCREEN)) as film:
            await next_unit(film)


async def test_the_recording_ends_with_whoever_watches(bench: Bench) -> None:
    async with aclosing(bench.phone.film(SCREEN)) as film:
        await next_unit(film)
        (entry,) = [entry for entry in bench.virtual.journal.entries if entry.name == "screenrecord"]
        assert entry.code is None
    await bench.phone.act(PressKey(Key.HOME), receipt="h")
    async with asyncio.timeout(5):
        while entry.code is None:
            await asyncio.sleep(0.01)
