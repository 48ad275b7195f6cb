"""Scenario events: what can happen to the phone from outside (a hand, the lock, the cable, the battery, a restart, a
fault), at once or at a certain request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.android import key_code
from devices.virtual_phone.apps.hostile_pages import LANGUAGES, PAGES
from devices.virtual_phone.faults import Faults
from devices.virtual_phone.ground_truth import Journal

MAX_CABLE_OUT_SECONDS = 3600
Pixels = Annotated[int, Field(ge=0)]


class _Happening(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Wake(_Happening):
    """Scenario event: the screen is turned on."""

    do: Literal["wake"] = "wake"


class Sleep(_Happening):
    """Scenario event: the screen is turned off, and the phone is locked."""

    do: Literal["sleep"] = "sleep"


class Lock(_Happening):
    """Scenario event: the lock screen is shown. `pin` sets a PIN (empty: none; None: as before)."""

    do: Literal["lock"] = "lock"
    pin: str | None = Field(default=None, pattern=r"^\d{0,16}$", repr=False)


class Unlock(_Happening):
    """Scenario event: a person unlocks the phone."""

    do: Literal["unlock"] = "unlock"


class Rotate(_Happening):
    """Scenario event: the phone is rotated to this number of quarter turns."""

    do: Literal["rotate"] = "rotate"
    rotation: Literal[0, 1, 2, 3]


class Resize(_Happening):
    """Scenario event: the phone is folded or unfolded: it uses another screen, of this size in pixels."""

    do: Literal["resize"] = "resize"
    width: int = Field(ge=240, le=4096)
    height: int = Field(ge=240, le=4096)


class PopUp(_Happening):
    """Scenario event: a dialog appears over the current screen."""

    do: Literal["pop_up"] = "pop_up"
    title: str
    text: str = ""
    buttons: tuple[str, ...] = Field(default=("OK",), min_length=1)


class Hostile(_Happening):
    """Scenario event: a page of the hostile app (see `apps.hostile`) comes to the front, in one of its languages."""

    do: Literal["hostile"] = "hostile"
    page: str
    language: str = "en"

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.page not in PAGES or self.language not in LANGUAGES:
            raise ValueError(f"no page is called {self.page!r} in {self.language!r}")
        return self


class Turn(_Happening):
    """Scenario event: the hostile app shows the next stage of its page."""

    do: Literal["turn"] = "turn"


class Tap(_Happening):
    """Scenario event: another person touches the screen; the position is in pixels."""

    do: Literal["tap"] = "tap"
    x: Pixels
    y: Pixels


class Swipe(_Happening):
    """Scenario event: another person moves a finger from (x, y) to (to_x, to_y) in pixels, within `ms` milliseconds."""

    do: Literal["swipe"] = "swipe"
    x: Pixels
    y: Pixels
    to_x: Pixels
    to_y: Pixels
    ms: int = Field(default=300, ge=0)


class Press(_Happening):
    """Scenario event: another person presses a key: `HOME`, `KEYCODE_BACK` or a number."""

    do: Literal["press"] = "press"
    key: str

    @field_validator("key")
    @classmethod
    def _known(cls, key: str) -> str:
        if key_code(key) is None:
            raise ValueError(f"no key is called {key!r}")
        return key


class Battery(_Happening):
    """Scenario event: the battery has this charge in percent; `charging` says whether the charger is connected (None:
    as before).
    """

    do: Literal["battery"] = "battery"
    level: int = Field(ge=0, le=100)
    charging: bool | None = None


class Notify(_Happening):
    """Scenario event: an app posts a notification, or changes the one with the same number and tag. An app shows 50 at
    most.
    """

    do: Literal["notify"] = "notify"
    package: str
    title: str
    text: str
    number: int = 1
    tag: str = ""
    flags: int = 0x10
    group: str = ""
    progress_of: int = 0
    seconds_ago: float | None = None
    """How many seconds ago the reported event was; None means now."""


class Dismiss(_Happening):
    """Scenario event: all notifications of an app are dismissed."""

    do: Literal["dismiss"] = "dismiss"
    package: str


class Price(_Happening):
    """Scenario event: a product of the shop costs this many cents from now on."""

    do: Literal["price"] = "price"
    product: str
    cents: int = Field(ge=0)


class Link(_Happening):
    """Scenario event: from now on the phone is open, unauthorized, offline or gone for adb servers."""

    do: Literal["link"] = "link"
    state: LinkState


class CableOut(_Happening):
    """Scenario event: the cable is pulled, and connected again after `seconds`; 0 only cuts the connections and
    accepts new ones at once.
    """

    do: Literal["cable_out"] = "cable_out"
    seconds: float = Field(default=0, ge=0, le=MAX_CABLE_OUT_SECONDS)


class RestartAdbd(_Happening):
    """Scenario event: the adb daemon stops with everything that runs in it, and starts again on its port."""

    do: Literal["restart_adbd"] = "restart_adbd"


class Reboot(_Happening):
    """Scenario event: the phone is off for `seconds`; its adb daemon answers `start_seconds` before Android does."""

    do: Literal["reboot"] = "reboot"
    seconds: float = Field(default=5, ge=0, le=MAX_CABLE_OUT_SECONDS)
    start_seconds: float = Field(default=5, ge=0, le=MAX_CABLE_OUT_SECONDS)


class SetFaults(_Happening):
    """Scenario event: faults are set or cleared: names and values of `Faults`."""

    do: Literal["faults"] = "faults"
    values: dict[str, int | bool | str] = Field(min_length=1)

    @field_validator("values", mode="before")
    @classmethod
    def _known(cls, values: object) -> object:
        if isinstance(values, dict):
            Faults().check(values)
        return values


Happening = Annotated[
    Wake
    | Sleep
    | Lock
    | Unlock
    | Rotate
    | Resize
    | PopUp
    | Hostile
    | Turn
    | Tap
    | Swipe
    | Press
    | Battery
    | Notify
    | Dismiss
    | Price
    | Link
    | CableOut
    | RestartAdbd
    | Reboot
    | SetFaults,
    Field(discriminator="do"),
]
HAPPENING: TypeAdapter[Happening] = TypeAdapter(Happening)


class Moment(BaseModel):
    """A scenario event (`then`) that happens once, at the `times`-th request from now that contains the text `after`
    ("*": any).

    A request is a shell line, `jsonrpc METHOD` to uiautomator2's server, or `sync SEND /path`. The event happens after
    the request was carried out and before its answer is sent; with `before`, before the request is carried out. For a
    file request it happens in both cases after the request and before the file's bytes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    after: str = Field(default="*", min_length=1)
    times: int = Field(default=1, ge=1)
    before: bool = False
    then: Happening


class Triggers:
    """The scenario events of one phone that wait for their request. `happen` carries out an event."""

    def __init__(self, journal: Journal, happen: Callable[[Happening], Coroutine[None, None, None]]) -> None:
        self._journal = journal
        self._happen = happen
        self._waiting: list[Moment] = []
        self._running: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> tuple[Moment, ...]:
        """The waiting events; their `times` count down."""
        return tuple(self._waiting)

    def add(self, moment: Moment) -> None:
        """Add a waiting event."""
        self._waiting.append(moment)
        self._journal.note(moment.model_dump_json())

    def clear(self) -> None:
        """Delete all waiting events."""
        self._waiting.clear()
        self._journal.note("no more moments")

    async def happen_at(self, line: str, *, before: bool) -> None:
        """Carry out the events that are due after this request, or `before` it, in the order in which they were
        added.
        """
        due: list[Happening] = []
        left: list[Moment] = []
        for moment in self._waiting:
            if moment.before is not before or (moment.after != "*" and moment.after not in line):
                left.append(moment)
            elif moment.times > 1:
                left.append(moment.model_copy(update={"times": moment.times - 1}))
            else:
                due.append(moment.then)
        self._waiting = left
        for what in due:
            # A task of its own: a pulled cable ends the stream that waits here, and must itself come to its end.
            task = asyncio.create_task(self._happen(what), name=f"happening {what.do}")
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            await asyncio.wait({task})
            if not task.cancelled():
                task.result()
