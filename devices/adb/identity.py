"""Asks a phone who it is and what its condition is, in one round trip."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from devices import clock
from devices.adb.links import STARTING
from devices.adb.preparation import LIST_KEPT, kept_in
from devices.adb.shell import Shell, failure_in
from devices.adb.state import COMMAND, State, parse_state
from devices.clock import PhoneClock
from devices.errors import PhoneGone
from devices.geometry import Size
from devices.phone import Health
from devices.wording import words

IDENTITY_TIMEOUT = 5.0
"""Seconds for a phone to identify itself; a slower one counts as not answering."""

LOW_BATTERY = 15
"""Percent at which Android itself warns (config_lowBatteryWarningLevel), unless the phone is charging."""

_QUESTIONS = (
    "echo @@id; settings get secure android_id; echo @@model; getprop ro.product.model; "
    "echo @@android; getprop ro.build.version.release; echo @@size; wm size; "
    "echo @@serial; getprop ro.serialno; echo @@boot; cat /proc/sys/kernel/random/boot_id; "
    "echo @@locale; getprop persist.sys.locale; echo @@sold; getprop ro.product.locale; "
    f"{clock.ASK}"
    "echo @@booted; getprop sys.boot_completed; getprop dev.bootcomplete; "
    f"echo @@kept; {LIST_KEPT}; "
)
_SIZE = re.compile(r"(Override|Physical) size: (\d+)x(\d+)")
_KEPT = re.compile(r"^@@kept\r?\n((?:(?!@@).*\n?)*)", re.MULTILINE)
_ID = re.compile(r"[0-9a-f]{8,16}")
_BOOTED = re.compile(r"^@@booted\r?\n(?:\r?\n)?1\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a phone reported about itself; a text is "" if it was not reported.

    - `android`: The version of Android, such as "14".
    - `size`: The size of the upright screen in pixels.
    - `kept`: Keys of settings that a run changed and has not restored; None if they could not be listed.
    - `serial`: The phone's own serial number, which may differ from adb's.
    - `boot`: A random id that changes with every start.
    """

    android_id: str
    model: str
    android: str
    size: Size | None
    state: State
    kept: tuple[str, ...] | None = ()
    serial: str = ""
    boot: str = ""
    locale: str = ""
    """The phone's language setting, otherwise its factory language."""
    clock: PhoneClock | None = None

    def same_phone(self, other: Identity) -> bool:
        """Return whether two answers given at the same time may come from one phone, judged by the ids that both
        contain.
        """
        told = ((self.android_id, other.android_id), (self.serial, other.serial), (self.boot, other.boot))
        return all(one == another for one, another in told if one and another)


def health_of(state: State) -> tuple[Health, str, str]:
    """Return health, reason and fix for a phone in this state. Reason and fix are sentences for people, "" if all is
    well.
    """
    if not state.screen_on:
        return Health.ASLEEP, words("phone.asleep.reason"), words("phone.asleep.fix")
    if state.locked:
        return Health.LOCKED, words("phone.locked.reason"), words("phone.locked.fix")
    if state.battery is not None and state.battery <= LOW_BATTERY and not state.charging:
        return Health.LOW_BATTERY, words("phone.battery.reason", percent=state.battery), words("phone.battery.fix")
    return Health.READY, "", ""


async def identify(shell: Shell) -> Identity:
    """Ask the phone for its identity and state. Raises PhoneGone, PhoneUnavailable, PhoneTimeout.

    PhoneGone is also raised while Android starts, because adb runs long before anything else answers.
    """
    answer = await shell.run(_QUESTIONS + COMMAND, timeout=IDENTITY_TIMEOUT, doing=words("phone.doing.identity"))
    if not _BOOTED.search(answer.out):
        raise PhoneGone(STARTING, uncertain=False)
    return parse_identity(answer.out, time.time())


def parse_identity(output: str, now: float) -> Identity:
    """Parse what the phone printed at the Unix time `now`. Missing values stay empty."""

    def line(name: str) -> str:
        found = re.search(rf"^@@{name}\r?\n(?!@@)(.*)$", output, re.MULTILINE)
        return found.group(1).strip() if found and not failure_in(found.group(1)) else ""

    android_id = line("id")
    sizes = {kind: Size(int(width), int(height)) for kind, width, height in _SIZE.findall(output)}
    return Identity(
        android_id=android_id if _ID.fullmatch(android_id) else "",
        model=line("model").replace("_", " "),
        android=line("android"),
        size=sizes.get("Override") or sizes.get("Physical"),
        state=parse_state(output),
        kept=kept_in(section.group(1)) if (section := _KEPT.search(output)) else None,
        serial=line("serial"),
        boot=line("boot"),
        locale=line("locale") or line("sold"),
        clock=clock.clock_in(output, now),
    )
