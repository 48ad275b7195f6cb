"""Who a phone is and how it is doing, asked in one round trip."""

from __future__ import annotations

import re
from dataclasses import dataclass

from devices.adb.kept_settings import KEPT_PREFIX
from devices.adb.shell import Shell
from devices.adb.state import COMMAND, State, parse_state
from devices.geometry import Size
from devices.phone import Health
from devices.wording import words

PROBE_TIMEOUT = 5.0

LOW_BATTERY = 15
"""Percent at which Android itself warns (config_lowBatteryWarningLevel), unless the phone is charging."""

_QUESTIONS = (
    "echo @@id; settings get secure android_id; echo @@model; getprop ro.product.model; "
    "echo @@android; getprop ro.build.version.release; echo @@size; wm size; "
    f"echo @@kept; settings list global | grep {KEPT_PREFIX}; "
)
_SIZE = re.compile(r"(Override|Physical) size: (\d+)x(\d+)")
_KEPT = re.compile(rf"^{KEPT_PREFIX}(\w+)=", re.MULTILINE)
_ID = re.compile(r"[0-9a-f]{8,16}")


@dataclass(frozen=True, slots=True)
class Identity:
    """What a phone told about itself. `android_id` is empty when it would not tell; `size` is that of its upright
    screen; `kept` are the keys of settings that a run has changed and not put back yet.
    """

    android_id: str
    model: str
    android: str
    size: Size | None
    state: State
    kept: tuple[str, ...] = ()


def health_of(state: State) -> tuple[Health, str, str]:
    """Health, its reason and its fix, as sentences for people; the latter two are empty when all is well."""
    if not state.screen_on:
        return Health.ASLEEP, words("phone.asleep.reason"), words("phone.asleep.fix")
    if state.locked:
        return Health.LOCKED, words("phone.locked.reason"), words("phone.locked.fix")
    if state.battery is not None and state.battery <= LOW_BATTERY and not state.charging:
        return Health.LOW_BATTERY, words("phone.battery.reason", percent=state.battery), words("phone.battery.fix")
    return Health.READY, "", ""


async def identify(shell: Shell) -> Identity:
    """Asks the phone. Raises PhoneGone, PhoneUnavailable, PhoneTimeout."""
    answer = await shell.run(_QUESTIONS + COMMAND, timeout=PROBE_TIMEOUT, doing=words("phone.doing.identity"))
    return parse_identity(answer.out)


def parse_identity(output: str) -> Identity:
    """Reads what the phone printed; what is missing stays empty."""

    def line(name: str) -> str:
        found = re.search(rf"^@@{name}\r?\n(?!@@)(.*)$", output, re.MULTILINE)
        return found.group(1).strip() if found else ""

    android_id = line("id")
    sizes = {kind: Size(int(width), int(height)) for kind, width, height in _SIZE.findall(output)}
    return Identity(
        android_id=android_id if _ID.fullmatch(android_id) else "",
        model=line("model").replace("_", " "),
        android=line("android"),
        size=sizes.get("Override") or sizes.get("Physical"),
        state=parse_state(output),
        kept=tuple(_KEPT.findall(output)),
    )
