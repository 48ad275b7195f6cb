"""Waiting by looking, against fixed sleeps: how long a step takes, and how often the screen is not yet the next one."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean

from benchmarks.ground import REAL_PHONE, Ground, ground
from benchmarks.row import Row
from devices.adb.connection import Connection
from devices.adb.driver import AdbPhone
from devices.geometry import Size
from devices.inputs import Input, OpenApp, Tap, TypeText
from devices.phone import Health, Observation, PhoneInfo
from devices.virtual_phone.process import StartedPhone

SLEEP_TAP, SLEEP_TEXT = 1.0, 4.0
"""Seconds that a public agent of today sleeps after a touch and after a text."""
SLOWEST_MS = 3000
PATIENCE = 2.5
LATER = 10.0
"""Seconds in which every page is there."""


@dataclass(frozen=True)
class Move:
    """An input, by the label that it touches or types into ("" opens the app `text`), and what shows that it worked."""

    touches: str
    text: str
    shows: str

    @property
    def types(self) -> bool:
        """Whether it enters text."""
        return bool(self.touches and self.text)


MOVES: Sequence[Move] = (
    Move("", "Notes", "New note"),
    Move("New note", "", "Title"),
    Move("Title", "Shopping", "Shopping"),
    Move("Note", "Milk and bread", "Milk and bread"),
    Move("", "Messages", "Alice"),
    Move("Alice", "", "Text message"),
    Move("Text message", "On my way", "On my way"),
    Move("", "Shop", "Blue mug"),
    Move("Blue mug", "", "Add to cart"),
    Move("", "Settings", "Bluetooth"),
)


@dataclass(frozen=True)
class Walked:
    """What one walk took: seconds of each touch and of each text, and how many screens were the wrong ones."""

    touches: tuple[float, ...]
    texts: tuple[float, ...]
    wrong: int

    @property
    def steps(self) -> int:
        """All moves."""
        return len(self.touches) + len(self.texts)


async def walk(place: Ground, phone: StartedPhone, *, sleeps: bool, slowest_ms: int, seed: int) -> Walked:
    """All moves on a fresh phone whose pages take up to `slowest_ms`. A wrong screen is waited out, off the clock."""
    chance = Random(seed)
    size = Size(1080, 2400)
    driver = AdbPhone(
        Connection(place.adb, phone.address), PhoneInfo(phone.address, phone.address, "bench", Health.READY, size=size)
    )
    touches: list[float] = []
    texts: list[float] = []
    wrong = 0
    async with phone.open() as control:
        await driver.prepare()
        seen = await driver.observe()
        for number, move in enumerate(MOVES):
            delay = chance.randint(0, slowest_ms)
            await control.set_faults(app_ms=delay, page_ms=delay)
            began = time.monotonic()
            await driver.act(_input(move, seen), receipt=f"b.{number}")
            if sleeps:
                await asyncio.sleep(SLEEP_TEXT if move.types else SLEEP_TAP)
                seen = await driver.observe()
            else:
                seen = await driver.observe(after=seen, patience=PATIENCE)
            (texts if move.types else touches).append(time.monotonic() - began)
            if not _shows(seen, move.shows):
                wrong += 1
                seen = await _later(driver, move)
        await driver.restore()
    return Walked(tuple(touches), tuple(texts), wrong)


async def measured(runs: int) -> list[Row]:
    """The targets: ratios of the two ways, measured on phones of one kind in one run."""
    ways: dict[tuple[int, bool], list[Walked]] = defaultdict(list)
    async with ground(4 * runs, REAL_PHONE) as place:
        phones = iter(place.phones)
        for slowest in (0, SLOWEST_MS):
            for number in range(runs):  # both ways at the same time, so that both meet the same machine
                both = await asyncio.gather(
                    *(walk(place, next(phones), sleeps=way, slowest_ms=slowest, seed=number) for way in (False, True))
                )
                for way, walked in zip((False, True), both, strict=True):
                    ways[slowest, way].append(walked)
    for (slowest, sleeps), walks in ways.items():
        name = "sleeping" if sleeps else "looking"
        print(
            f"{name}, pages of 0 to {slowest / 1000:g} s: a touch {_mean(walks, 'touches'):.2f} s,"
            f" a text {_mean(walks, 'texts'):.2f} s, wrong screens {_rate(walks):.0%}"
        )
    print()
    slow, fixed = _rate(ways[SLOWEST_MS, False]), _rate(ways[SLOWEST_MS, True])
    return [
        Row("looking against sleeping: time of a touch", _ratio(ways, "touches"), 1.0, ""),
        Row("looking against sleeping: time of a text", _ratio(ways, "texts"), 1.0, ""),
        Row("wrong screens on slow pages, by looking", slow * 100, fixed * 100, "%"),
    ]


def _mean(walks: list[Walked], kind: str) -> float:
    seconds: list[float] = [each for walked in walks for each in getattr(walked, kind)]
    return mean(seconds)


def _rate(walks: list[Walked]) -> float:
    return sum(each.wrong for each in walks) / sum(each.steps for each in walks)


def _ratio(ways: dict[tuple[int, bool], list[Walked]], kind: str) -> float:
    return _mean(ways[0, False], kind) / _mean(ways[0, True], kind)


def _input(move: Move, seen: Observation) -> Input:
    if not move.touches:
        return OpenApp(move.text)
    labels = [e for e in seen.elements or () if move.touches in {e.text, e.description, e.hint}]
    if not labels:
        raise RuntimeError(f"{move.touches!r} is not on the screen")
    at = labels[0].bounds.centre
    return TypeText(move.text, at=at) if move.text else Tap(at)


def _shows(seen: Observation, label: str) -> bool:
    return any(label in {e.text, e.description, e.hint} for e in seen.elements or ())


async def _later(driver: AdbPhone, move: Move) -> Observation:
    """The screen as soon as it is the right one."""
    async with asyncio.timeout(LATER):
        while True:
            seen = await driver.observe()
            if _shows(seen, move.shows):
                return seen
