"""Carries out scenario events, such as waking the screen, pulling the cable or rebooting the phone."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace

from devices.geometry import Point
from devices.virtual_phone import scenario
from devices.virtual_phone.android import key_code
from devices.virtual_phone.apps import hostile
from devices.virtual_phone.device import Device
from devices.virtual_phone.state import LAUNCHER, Posted

ANSWER_SECONDS = 0.2
"""Seconds between the command and the reboot, so that the command is answered first."""
MOST_SHOWN = 50
"""Most notifications of one app (AOSP NotificationManagerService.MAX_PACKAGE_NOTIFICATIONS)."""
OFF_SECONDS, START_SECONDS = 5.0, 5.0
_running: set[asyncio.Task[None]] = set()


def reboot_soon(phone: Device) -> None:
    """Reboot the phone a moment later, like `adb reboot`."""

    def begin() -> None:
        # A task of its own: it ends every link, also the one that it was asked on.
        task = asyncio.create_task(reboot(phone, OFF_SECONDS, START_SECONDS), name=f"reboot of {phone.name}")
        _running.add(task)
        task.add_done_callback(_running.discard)

    phone.later(ANSWER_SECONDS, begin)


async def reboot(phone: Device, seconds: float, start_seconds: float) -> None:
    """Reboot the phone: it is off for `seconds`, and its adb daemon answers `start_seconds` before Android does.

    Afterwards all apps are closed and the screen is locked.
    """
    state = phone.state
    phone.boot_id = str(uuid.uuid4())
    state.tasks, state.dialogs, state.front = [], [], LAUNCHER
    state.shade = state.recents = False
    phone.windows.lock()
    phone.windows.wake()
    phone.uiautomator.crash()
    phone.starting = True
    phone.booted = phone.event_log.now()
    for one in state.posted:  # their apps post again what they had shown
        one.posted, one.changed = int(phone.booted * 1000), 0

    def started() -> None:
        phone.starting = False

    phone.later(seconds + start_seconds, started)
    await phone.drop_link(seconds)


async def happen(phone: Device, what: scenario.Happening) -> None:
    """Carry out a scenario event now, regardless of the faults `deaf` and `effect_ms`, and note it in the journal."""
    if not isinstance(what, scenario.SetFaults):  # setting a fault notes itself
        phone.journal.note(what.model_dump_json())
    match what:
        case scenario.Tap():
            phone.hand.tap(Point(what.x, what.y))
        case scenario.Swipe():
            phone.hand.swipe(Point(what.x, what.y), Point(what.to_x, what.to_y), what.ms)
        case scenario.Press():
            phone.hand.press(key_code(what.key) or 0)
        case scenario.Hostile():
            hostile.play(phone.windows, what.page, what.language)
        case scenario.Turn():
            hostile.turn(phone.windows)
        case scenario.PopUp():
            phone.pop_up(what.title, what.text, what.buttons)
        case scenario.Rotate():
            phone.rotate(what.rotation)
        case scenario.Resize():
            phone.state.resize(what.width, what.height)
        case scenario.Battery():
            phone.state.battery = what.level
            if what.charging is not None:
                phone.state.charging = what.charging
        case scenario.Notify():
            post(phone, what)
        case scenario.Dismiss():
            phone.state.posted = [one for one in phone.state.posted if one.package != what.package]
        case scenario.Price():
            phone.state.prices[what.product] = what.cents
        case scenario.Link():
            await phone.set_link(what.state)
        case scenario.CableOut():
            await phone.drop_link(what.seconds)
        case scenario.RestartAdbd():
            await phone.restart_adbd()
        case scenario.Reboot():
            await reboot(phone, what.seconds, what.start_seconds)
        case scenario.SetFaults():
            phone.faults.set(**what.values)
        case scenario.Wake():
            phone.windows.wake()
        case scenario.Sleep():
            phone.windows.sleep()
        case scenario.Lock():
            phone.windows.lock(what.pin)
        case scenario.Unlock():
            phone.state.locked = phone.state.asking_pin = False
    phone.changed()


def post(phone: Device, what: scenario.Notify) -> None:
    """Show a notification, or update the one with the same number and tag. Ignored if the app shows `MOST_SHOWN`
    already.
    """
    now = int(phone.event_log.now() * 1000)
    about = None if what.seconds_ago is None else now - round(what.seconds_ago * 1000)
    made = Posted(
        **what.model_dump(exclude={"do", "seconds_ago"}),
        posted=now,
        about=about,
    )
    for place, one in enumerate(phone.state.posted):
        if (one.package, one.number, one.tag) == (what.package, what.number, what.tag):
            phone.state.posted[place] = replace(made, posted=one.posted, changed=now)
            return
    if sum(one.package == what.package for one in phone.state.posted) < MOST_SHOWN:
        phone.state.posted.append(made)
