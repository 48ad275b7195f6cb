"""What can happen to the phone from outside: somebody's hand, the lock, the cable, the battery, a new fault.

Each is one JSON object with the name under `do`, such as {"do": "tap", "x": 540, "y": 1200}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from devices.geometry import Point
from devices.simulator.adbd import LinkState
from devices.simulator.faults import Faults
from devices.simulator.keys import key_code
from devices.simulator.rebooting import reboot

if TYPE_CHECKING:
    from devices.simulator.phone import VirtualPhone

MAX_CABLE_OUT_SECONDS = 3600
Pixels = Annotated[int, Field(ge=0)]


class _Happening(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Wake(_Happening):
    """The screen goes on."""

    do: Literal["wake"] = "wake"


class Sleep(_Happening):
    """The screen goes off, and the phone is locked."""

    do: Literal["sleep"] = "sleep"


class Lock(_Happening):
    """The lock screen; `pin` sets a PIN (empty: none)."""

    do: Literal["lock"] = "lock"
    pin: str | None = Field(default=None, pattern=r"^\d{0,16}$", repr=False)


class Unlock(_Happening):
    """A person unlocks the phone."""

    do: Literal["unlock"] = "unlock"


class Rotate(_Happening):
    """The phone is turned to so many quarters."""

    do: Literal["rotate"] = "rotate"
    rotation: Literal[0, 1, 2, 3]


class Resize(_Happening):
    """The phone is folded or unfolded: another screen is used, with so many pixels."""

    do: Literal["resize"] = "resize"
    width: int = Field(ge=240, le=4096)
    height: int = Field(ge=240, le=4096)


class PopUp(_Happening):
    """A dialog comes up over whatever is there."""

    do: Literal["pop_up"] = "pop_up"
    title: str
    text: str = ""
    buttons: tuple[str, ...] = Field(default=("OK",), min_length=1)


class Tap(_Happening):
    """Somebody else touches the screen, in pixels."""

    do: Literal["tap"] = "tap"
    x: Pixels
    y: Pixels


class Swipe(_Happening):
    """Somebody else moves a finger, in pixels and milliseconds."""

    do: Literal["swipe"] = "swipe"
    x: Pixels
    y: Pixels
    to_x: Pixels
    to_y: Pixels
    ms: int = Field(default=300, ge=0)


class Press(_Happening):
    """Somebody else presses a key: `HOME`, `KEYCODE_BACK` or a number."""

    do: Literal["press"] = "press"
    key: str

    @field_validator("key")
    @classmethod
    def _known(cls, key: str) -> str:
        if key_code(key) is None:
            raise ValueError(f"no key is called {key!r}")
        return key


class Battery(_Happening):
    """The charge in percent, and whether the charger is in (left out: as before)."""

    do: Literal["battery"] = "battery"
    level: int = Field(ge=0, le=100)
    charging: bool | None = None


class Link(_Happening):
    """From now on the phone is open, unauthorized, offline or gone for whoever connects."""

    do: Literal["link"] = "link"
    state: LinkState


class CableOut(_Happening):
    """The cable is pulled and comes back after `seconds`; 0 cuts the links and takes new ones at once."""

    do: Literal["cable_out"] = "cable_out"
    seconds: float = Field(default=0, ge=0, le=MAX_CABLE_OUT_SECONDS)


class RestartAdbd(_Happening):
    """The adb daemon ends with everything that runs in it, and starts again on its port."""

    do: Literal["restart_adbd"] = "restart_adbd"


class Reboot(_Happening):
    """It goes off for `seconds`, and adb finds it `start_seconds` before Android answers."""

    do: Literal["reboot"] = "reboot"
    seconds: float = Field(default=5, ge=0, le=MAX_CABLE_OUT_SECONDS)
    start_seconds: float = Field(default=5, ge=0, le=MAX_CABLE_OUT_SECONDS)


class SetFaults(_Happening):
    """Faults are set or taken back: names and values of `Faults`."""

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
    | Tap
    | Swipe
    | Press
    | Battery
    | Link
    | CableOut
    | RestartAdbd
    | Reboot
    | SetFaults,
    Field(discriminator="do"),
]
HAPPENING: TypeAdapter[Happening] = TypeAdapter(Happening)


async def happen(phone: VirtualPhone, what: Happening) -> None:
    """Lets it happen now, whatever the faults `deaf` and `effect_ms` say, and notes it in the journal."""
    if not isinstance(what, SetFaults):  # setting a fault notes itself
        phone.journal.note(what.model_dump_json())
    match what:
        case Tap():
            phone.hand.tap(Point(what.x, what.y))
        case Swipe():
            phone.hand.swipe(Point(what.x, what.y), Point(what.to_x, what.to_y), what.ms)
        case Press():
            phone.hand.press(key_code(what.key) or 0)
        case PopUp():
            phone.pop_up(what.title, what.text, what.buttons)
        case Rotate():
            phone.rotate(what.rotation)
        case Resize():
            phone.state.resize(what.width, what.height)
        case Battery():
            phone.state.battery = what.level
            if what.charging is not None:
                phone.state.charging = what.charging
        case Link():
            await phone.set_link(what.state)
        case CableOut():
            await phone.drop_link(what.seconds)
        case RestartAdbd():
            await phone.restart_adbd()
        case Reboot():
            await reboot(phone, what.seconds, what.start_seconds)
        case SetFaults():
            phone.faults.set(**what.values)
        case _:
            _turn(phone, what)
    phone.changed()


def _turn(phone: VirtualPhone, what: Wake | Sleep | Lock | Unlock) -> None:
    """The screen and its lock."""
    match what:
        case Wake():
            phone.desk.wake()
        case Sleep():
            phone.desk.sleep()
        case Lock():
            phone.desk.lock(what.pin)
        case Unlock():
            phone.state.locked = phone.state.asking_pin = False
