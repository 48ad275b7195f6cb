"""Presses that no rule covers: which ones these are, what the independent reader (a second model) may answer, and how
long its answers are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel

from agent.actions import Action, EnterSecret, Scroll, Swipe, Type
from agent.guards.binding import ApprovalContext, approval_context, digest, picture_of, pictured
from agent.guards.keys import keys_of, stays, stays_on_button
from agent.guards.press_verdicts import KeptVerdict, PressVerdicts
from agent.guards.rules import RuleName
from agent.guards.structure import is_drawn
from agent.guards.touch_target import TouchTarget
from agent.guards.words import id_words, in_one_line
from devices.geometry import Point
from devices.phone import Element, Observation
from devices.recent import Recent

GuardMode = Literal["auto", "rules", "strict"]
"""Who judges a press that no rule covers: the independent reader if a model is configured (`auto`), nobody (`rules`),
or the reader and, if it gives no answer, a person (`strict`).
"""
RULES: Final[Mapping[str, RuleName]] = {
    "sends": RuleName.SEND,
    "pays": RuleName.PAY,
    "deletes": RuleName.DELETE,
    "installs": RuleName.INSTALL,
    "grants": RuleName.PERMISSION,
    "signs": RuleName.PERMISSION,
    "changes security": RuleName.ACCOUNT,
}
"""The policy rule for each consequence that the reader may answer."""
NOTHING: Final = "none"
MAX_OBJECT = 160
READINGS_KEPT = 2000
"""How many answers a service keeps, more than people's apps have controls."""
KEPT_S: Final = 30 * 86_400.0
"""How many seconds a stored answer is valid."""
SPOT_GRID = 40
"""Pixels within which two spots without words count as the same place."""


class Verdict(BaseModel, extra="forbid", frozen=True):
    """What the reader answers: the consequence of the press, and what it is about in the window's words."""

    consequence: Literal["none", "sends", "pays", "deletes", "installs", "grants", "signs", "changes security"]
    object: str = ""


@dataclass(frozen=True, slots=True)
class PressReading:
    """The independent reader's judgement of a press, for the record of the step.

    `consequence` is what the press does ("unknown" without a usable answer), `object` what it is about. `seconds` and
    `tokens` are what the judgement cost. `kept` means that it was made earlier for the same control in the same window.
    `key` is the key under which it may be stored, "" if it may not.
    """

    consequence: str
    object: str = ""
    seconds: float = 0.0
    tokens: int = 0
    kept: bool = False
    key: str = ""

    @property
    def rule(self) -> str:
        """The policy rule for the consequence; "" if there is none."""
        return RULES.get(self.consequence, "")

    @property
    def data(self) -> dict[str, Any]:
        """The reading as plain data for the record of the step."""
        return asdict(self)


UNKNOWN: Final = PressReading("unknown")


def strictest(verdicts: Iterable[Verdict]) -> PressReading:
    """Combine all judgements in one answer of the reader.

    A harmless one, perhaps quoted from the screen, never outweighs another. Of several consequences, the first counts,
    because a person is asked in any case. Without any judgement, the result is UNKNOWN.
    """
    found = list(verdicts)
    named = [each for each in found if each.consequence != NOTHING] or found
    if not named:
        return UNKNOWN
    return PressReading(named[0].consequence, in_one_line(" ".join(named[0].object.split()))[:MAX_OBJECT])


def is_press(action: Action, spot: TouchTarget) -> bool:
    """Whether this action presses something; scrolling and typing into a field do not.

    Any action at a place on the screen counts as a press unless it is known to be something else.
    """
    if isinstance(action, Swipe | Scroll):
        return stays(spot) or stays_on_button(spot)
    if isinstance(action, Type | EnterSecret) and (spot.target is None or spot.target.editable):
        keys = keys_of(action)
        return keys.enter or keys.moved
    return spot.has_place or keys_of(action).enter


@dataclass(frozen=True)
class Pressed:
    """A press in its window: what the independent reader, a second model, is shown, and what its answer applies to."""

    kind: str
    seen: Observation
    target: Element | None
    point: Point | None

    @property
    def near(self) -> ApprovalContext:
        """The control with its dialog or row, and its window."""
        return approval_context(self.seen, self.target, self.point)

    def lasting(self, key: str, reader: str, now: float) -> KeptVerdict | None:
        """Return this press as a harmless judgement that may be stored across restarts.

        `now` is the time in Unix seconds. Returns None if it must not be stored: in a dialog, in a web page, on a spot
        without an element, if the window's elements are unknown, or if the app's version is.
        """
        near, seen = self.near, self.seen
        is_web = any("WebView" in each.class_name for each in seen.elements or ())
        if self.target is None or near.kind == "dialog" or not near.window or is_web or not seen.app_version:
            return None
        control = " ".join(id_words(self.target.resource_id)) or self.target.class_name.rpartition(".")[2]
        return KeptVerdict(key, seen.package, seen.app_version, control, reader, now)

    def key(self, reader: str) -> str | None:
        """Return a digest that identifies this press for a reader: the app, the control, all words around it and,
        without reliable words, the picture. None if nothing distinguishes the window from others.
        """
        near, seen = self.near, self.seen
        shown = self.target.bounds if self.target is not None and is_drawn(self.target) else None
        picture = picture_of(seen, shown or pictured(seen, near, self.target, self.point))
        if not near.window and picture is None:
            return None
        control: list[Any] = [self.kind]
        if self.target is not None:
            label = "" if self.target.editable else self.target.label
            control += [self.target.resource_id, self.target.class_name, label]
        elif self.point is not None:
            control += [self.point.x // SPOT_GRID, self.point.y // SPOT_GRID]
        words = [near.own_digest([]), near.window_digest([])]
        return digest([reader, seen.package, seen.activity, control, words, picture])


@dataclass(frozen=True, slots=True)
class _Known:
    """A kept reading. `lasts` is its form that survives a restart, `before` whether an earlier process asked."""

    reading: PressReading
    lasts: KeptVerdict | None = None
    before: bool = False

    def holds(self, version: str, now: float) -> bool:
        """Whether it is valid now, in this version of the app ("" if not known yet)."""
        if self.lasts is None:
            return True
        same = version == self.lasts.version or (not version and not self.before)
        return same and now - self.lasts.at < KEPT_S


class Readings:
    """The independent reader's answers that this service keeps in memory.

    Unknown ones are never kept, nor harmless ones about the buttons of a dialog. Only harmless ones are also stored in
    `table`, to survive a restart (see `Pressed.lasting`).
    """

    def __init__(self, table: PressVerdicts | None = None, clock: Callable[[], float] = time.time) -> None:
        """`clock` returns Unix seconds."""
        self._cache: Recent[str, _Known] = Recent(READINGS_KEPT)
        self._table = table
        self._clock = clock

    async def load(self) -> None:
        """Load the answers that earlier processes stored."""
        if self._table is not None:
            for each in reversed((await self._table.all(self._clock() - KEPT_S))[:READINGS_KEPT]):
                self._cache[each.key] = _Known(PressReading(NOTHING, kept=True, key=each.key), each, before=True)

    def of(self, key: str | None, version: str) -> PressReading | None:
        """Return the answer for the press with this key, in this version of the app ("" if not known yet); None if
        there is none.
        """
        known = None if key is None else self._cache.get(key)
        return known.reading if known is not None and known.holds(version, self._clock()) else None

    async def keep(self, key: str | None, reading: PressReading, pressed: Pressed, reader: str) -> None:
        """Keep the answer about a press if that is allowed. `reader` is the name of the model that gave it."""
        harmless = reading.consequence == NOTHING
        if key is None or reading.consequence == UNKNOWN.consequence or (harmless and pressed.near.kind == "dialog"):
            return
        lasts = pressed.lasting(key, reader, self._clock()) if harmless and self._table is not None else None
        self._cache[key] = _Known(PressReading(reading.consequence, reading.object, kept=True, key=key), lasts)
        if lasts is not None and self._table is not None:
            await self._table.keep(lasts)

    def know(self, key: str, consequence: str, about: str) -> None:
        """Add an answer that was stored with a recorded skill."""
        self._cache[key] = _Known(PressReading(consequence, about, kept=True, key=key))

    def lasting(self) -> tuple[KeptVerdict, ...]:
        """Return the harmless judgements that survive a restart."""
        return tuple(known.lasts for known in self._cache.values() if known.lasts is not None)

    async def clear(self) -> None:
        """Delete all answers, including stored ones."""
        self._cache.clear()
        if self._table is not None:
            await self._table.clear()
