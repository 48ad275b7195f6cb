"""A press that no rule knows: which those are, what an independent reader answers, and how long its answer is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from agent.actions import Action, EnterSecret, Scroll, Swipe, Type
from agent.guards.binding import ApprovalContext, approval_context, digest, picture_of, pictured
from agent.guards.key_effects import keys_of, stays, stays_on_button
from agent.guards.press_verdicts import KeptVerdict, PressVerdicts
from agent.guards.rules import RuleName
from agent.guards.sanitise import in_one_line
from agent.guards.structure import is_drawn
from agent.guards.touch_target import TouchTarget
from agent.guards.words import id_words
from devices.geometry import Point
from devices.phone import Element, Observation
from devices.recent import Recent

GuardMode = Literal["auto", "rules", "strict"]
"""Who judges a press that no rule knows: a reader where a model is configured (`auto`), nobody (`rules`), or a reader
and, where that has no answer, a person (`strict`).
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
"""Consequence → the rule of the policy that holds it."""
NOTHING: Final = "none"
MAX_OBJECT = 160
READINGS_KEPT = 2000
"""The newest of a service: more controls than people's apps have."""
KEPT_S: Final = 30 * 86_400.0
"""Seconds for which a verdict counts."""
SPOT_GRID = 40
"""Pixels: places without a name this close to each other are the same place."""


class Verdict(BaseModel):
    """What the reader answers: the consequence of the press, and what it is about in the window's words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    consequence: Literal["none", "sends", "pays", "deletes", "installs", "grants", "signs", "changes security"]
    object: str = ""


@dataclass(frozen=True, slots=True)
class PressReading:
    """What came of one asking, for the record: "unknown" where there was no answer that could be used.

    `kept` says that it was answered before, of the same control in the same window. `key` is the word under which it
    may be kept, "" where it may not.
    """

    consequence: str
    object: str = ""
    seconds: float = 0.0
    tokens: int = 0
    kept: bool = False
    key: str = ""

    @property
    def rule(self) -> str:
        """The rule that holds it, "" for none."""
        return RULES.get(self.consequence, "")

    @property
    def data(self) -> dict[str, Any]:
        """Plain data for the record of the step."""
        return asdict(self)


UNKNOWN: Final = PressReading("unknown")


def strictest(verdicts: Iterable[Verdict]) -> PressReading:
    """One reading of all verdicts in an answer: a harmless one that is quoted from the screen outweighs no other.

    Verdicts that name different consequences are held all the same; none at all is unknown.
    """
    found = list(verdicts)
    named = [each for each in found if each.consequence != NOTHING] or found
    if not named:
        return UNKNOWN
    return PressReading(named[0].consequence, in_one_line(" ".join(named[0].object.split()))[:MAX_OBJECT])


def is_press(action: Action, spot: TouchTarget) -> bool:
    """Whether this action presses something: fingers that scroll, and letters that go into a field, do not.

    Whatever meets the screen at a place presses it, unless it is known to be something else.
    """
    if isinstance(action, Swipe | Scroll):
        return stays(spot) or stays_on_button(spot)
    if isinstance(action, Type | EnterSecret) and (spot.target is None or spot.target.editable):
        keys = keys_of(action)
        return keys.enter or keys.moved
    return spot.has_place or keys_of(action).enter


@dataclass(frozen=True)
class Pressed:
    """A press in its window, as far as a reader is told of it and its answer holds to it."""

    kind: str
    seen: Observation
    target: Element | None
    point: Point | None

    @property
    def near(self) -> ApprovalContext:
        """The control with its dialog or row, and its window."""
        return approval_context(self.seen, self.target, self.point)

    def lasting(self, key: str, reader: str, now: float) -> KeptVerdict | None:
        """How a harmless verdict may outlive the process; None where it may not: on a dialog, where words may come
        from a web page, where there are no words around it, and where the app's version is not known.
        """
        near, seen = self.near, self.seen
        is_web = any("WebView" in each.class_name for each in seen.elements or ())
        if self.target is None or near.kind == "dialog" or not near.window or is_web or not seen.app_version:
            return None
        control = " ".join(id_words(self.target.resource_id)) or self.target.class_name.rpartition(".")[2]
        return KeptVerdict(key, seen.package, seen.app_version, control, reader, now)

    def key(self, reader: str) -> str | None:
        """A word for the app, the control and all words that are bound to it, and for the picture where there are
        none, or none that are believed; None where nothing tells this window from another one.
        """
        near, seen = self.near, self.seen
        shown = self.target.bounds if self.target is not None and is_drawn(self.target) else None
        picture = picture_of(seen, shown or pictured(seen, near, self.target, self.point))
        if not near.window and picture is None:
            return None
        control: list[Any] = [self.kind]
        if self.target is not None:
            control += [
                self.target.resource_id,
                self.target.class_name,
                "" if self.target.editable else self.target.label,
            ]
        elif self.point is not None:
            control += [self.point.x // SPOT_GRID, self.point.y // SPOT_GRID]
        words = [near.own_word([]), near.window_word([])]
        return digest([reader, seen.package, seen.activity, control, words, picture])


@dataclass(frozen=True, slots=True)
class _Known:
    """A reading that is kept. `lasts` is what outlives the process of it, `before` whether a former process asked."""

    reading: PressReading
    lasts: KeptVerdict | None = None
    before: bool = False

    def holds(self, version: str, now: float) -> bool:
        """Whether it counts now, in this version of the app, "" where that is not known yet."""
        if self.lasts is None:
            return True
        same = version == self.lasts.version or (not version and not self.before)
        return same and now - self.lasts.at < KEPT_S


class Readings:
    """The readings of this service. What is unknown is never kept, nor what is harmless for the buttons of a dialog.

    Those that outlive the process are harmless ones alone (see `Pressed.lasting`).
    """

    def __init__(self, table: PressVerdicts | None = None, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives Unix seconds."""
        self._kept: Recent[str, _Known] = Recent(READINGS_KEPT)
        self._table = table
        self._clock = clock

    async def load(self) -> None:
        """Take what former processes have kept."""
        if self._table is not None:
            for each in reversed((await self._table.all(self._clock() - KEPT_S))[:READINGS_KEPT]):
                self._kept[each.key] = _Known(PressReading(NOTHING, kept=True, key=each.key), each, before=True)

    def of(self, key: str | None, version: str) -> PressReading | None:
        """What is known of it from before, in this version of its app."""
        known = None if key is None else self._kept.get(key)
        return known.reading if known is not None and known.holds(version, self._clock()) else None

    async def keep(self, key: str | None, reading: PressReading, pressed: Pressed, reader: str) -> None:
        """Keep it, where it may be kept."""
        harmless = reading.consequence == NOTHING
        if key is None or reading.consequence == UNKNOWN.consequence or (harmless and pressed.near.kind == "dialog"):
            return
        lasts = pressed.lasting(key, reader, self._clock()) if harmless and self._table is not None else None
        self._kept[key] = _Known(PressReading(reading.consequence, reading.object, kept=True, key=key), lasts)
        if lasts is not None and self._table is not None:
            await self._table.keep(lasts)

    def know(self, key: str, consequence: str, about: str) -> None:
        """Take what was kept of it with a recorded skill."""
        self._kept[key] = _Known(PressReading(consequence, about, kept=True, key=key))

    def lasting(self) -> tuple[KeptVerdict, ...]:
        """What outlives the process."""
        return tuple(known.lasts for known in self._kept.values() if known.lasts is not None)

    async def clear(self) -> None:
        """Forget all of it, also what outlives the process."""
        self._kept.clear()
        if self._table is not None:
            await self._table.clear()
