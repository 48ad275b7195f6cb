"""Each state that a phone can be in, and what the doctor says to do about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.run import RunId
from bot.chats.installed import installed, model_of
from bot.cli.doctor import doctor
from bot.cli.phones import devices
from bot.tasks.queue import Waiter, assign_phones, unservable_reason
from devices.adb.examination import examine
from devices.adb.server import ServerAddress
from devices.pool import AdbPhones
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.phone import VirtualPhone
from tests.bot.cli.test_doctor import NOTHING, Machine, Said, here
from tests.fixtures.adb import AdbServer
from tests.fixtures.usb import NO_PERMISSIONS, usb_server

__all__ = ["here"]

State = Callable[[VirtualPhone], object]


def put(phone: VirtualPhone, table: str, name: str, value: str) -> None:
    phone.state.settings[table][name] = value


NOTED: dict[str, tuple[State, str]] = {
    "a lock with a PIN that is open": (
        lambda phone: setattr(phone.state, "pin", "1234"),
        (
            "has a screen lock with a PIN, pattern or password: if a task finds it locked, it asks you to unlock it."
            "\n    → Remove the lock"
        ),
    ),
    "locked": (
        lambda phone: phone.windows.lock("1234"),
        "· Phone Virtual Phone: locked. The screen is locked.\n    → Unlock it by hand",
    ),
    "asleep": (
        lambda phone: phone.windows.sleep(),
        "· Phone Virtual Phone: asleep. The screen is off.\n    → Nothing to do",
    ),
    "no ADBKeyboard": (
        lambda phone: setattr(phone.state, "adb_keyboard_installed", False),
        (
            "· Virtual Phone has no ADBKeyboard: scripts other than Latin can only be typed into empty fields, "
            "using the fast lane."
            "\n    → Install ADBKeyboard"
        ),
    ),
    "animations": (
        lambda phone: put(phone, "global", "window_animation_scale", "1.0"),
        "· Virtual Phone has animations on: every step waits for them.\n    → Turn off the three animation scales",
    ),
    "animations that nobody has set": (
        lambda phone: phone.state.settings["global"].pop("transition_animation_scale"),
        "· Virtual Phone has animations on: every step waits for them.\n    → Turn off the three animation scales",
    ),
    "Battery Saver": (
        lambda phone: put(phone, "global", "low_power", "1"),
        (
            "· Virtual Phone has Battery Saver on: apps may respond late and get no updates in the background."
            "\n    → Turn it off"
        ),
    ),
    "aeroplane mode": (
        lambda phone: put(phone, "global", "airplane_mode_on", "1"),
        ("· Virtual Phone is in airplane mode: it has no network unless Wi-Fi was turned back on.\n    → Turn it off"),
    ),
    "Pointer location": (
        lambda phone: put(phone, "system", "pointer_location", "1"),
        (
            "· Virtual Phone shows where it is touched (Pointer location): lines and numbers cover every picture."
            "\n    → Turn off Pointer location"
        ),
    ),
    "a language without a table": (
        lambda phone: setattr(phone.state, "locale", "ka-GE"),
        (
            "· Virtual Phone is set to a language that the rules do not know (ka-GE)."
            "\n    → The bot asks about unknown buttons in dialogs."
        ),
    ),
    "over the network": (
        lambda _: None,
        (
            "· Virtual Phone is connected over the network: after a restart its port may change or be gone."
            "\n    → Use a cable, or run `adb connect` again"
        ),
    ),
}

TRUST = "Unlock the phone, accept 'Allow USB debugging' and tick 'Always allow'."
RESTART = "Restart it into Android."
USB_STATES = {
    NO_PERMISSIONS: (
        "no permission",
        "This computer is not allowed to use the USB device.",
        "Give your user the right to use the USB device (udev rules, group plugdev), then plug the phone in again.",
    ),
    "unauthorized": ("unauthorized", "The phone does not trust this computer yet.", TRUST),
    "authorizing": (
        "offline",
        "adb is still connecting to it, or the phone is asking whether to trust this computer.",
        "Wait a moment; if nothing changes, unlock the phone and accept 'Allow USB debugging'.",
    ),
    "recovery": ("offline", "The phone is in recovery mode.", RESTART),
    "sideload": ("offline", "The phone is in sideload mode.", RESTART),
    "rescue": ("offline", "The phone is in rescue mode.", RESTART),
    "bootloader": ("offline", "The phone is in bootloader mode.", RESTART),
    "host": ("offline", "What is attached is another computer, not a phone.", "Unplug it."),
    "detached": (
        "offline",
        "It was detached from adb.",
        "Reattach it with `adb attach`, or restart the adb server.",
    ),
}


@pytest.mark.parametrize("state", NOTED)
async def test_what_is_worth_knowing_is_noted_and_is_no_fault(here: Machine, capsys: Said, state: str) -> None:
    into, says = NOTED[state]
    into(here.phone)
    assert await doctor(NOTHING, here.settings()) == 0
    assert says in capsys.readouterr().out


async def test_a_phone_in_its_shop_state_is_silent_about_switches(here: Machine, capsys: Said) -> None:
    """What is noted above is noted of the phone in that state alone."""
    assert await doctor(NOTHING, here.settings()) == 0
    told = capsys.readouterr().out
    assert not [word for word in ("animations", "Saver", "aeroplane", "Pointer", "PIN", "ADBKeyboard") if word in told]
    assert not [name for name in here.phone.state.settings["global"] if name.startswith("opengui")]
    assert here.phone.journal.named("settings")[-1].argv[:3] == ("settings", "delete", "global")


async def test_a_maker_that_lets_adb_change_no_settings(here: Machine, capsys: Said) -> None:
    here.phone.faults.set(no_settings=True)
    assert await doctor(NOTHING, here.settings()) == 69
    told = capsys.readouterr().out
    assert "✗ Virtual Phone does not let adb change any settings: its screen may turn off during a task" in told
    assert "\n    → Switch on what its maker requires besides USB debugging, and restart the phone" in told


async def test_an_offline_phone(here: Machine, capsys: Said) -> None:
    await here.adb.disconnect(here.phone.address)
    await here.phone.set_link(LinkState.OFFLINE)
    assert await doctor(NOTHING, here.settings()) == 69
    told = capsys.readouterr().out
    assert "✗ Phone " in told
    assert "offline. The phone is attached but does not answer.\n    → Start the virtual phone" in told


async def test_a_phone_that_answers_nothing(here: Machine, capsys: Said) -> None:
    here.phone.faults.set(hang="*")
    assert await doctor(NOTHING, here.settings()) == 69
    told = capsys.readouterr().out
    assert "not answering." in told
    assert "\n    → Wait until it has started; if it stays silent, restart the phone." in told


@pytest.mark.parametrize("word", USB_STATES)
async def test_states_that_only_usb_has(adb_server: AdbServer, tmp_path: Path, capsys: Said, word: str) -> None:
    """Told by `doctor` and by `devices`, with what to do; and no task waits for such a phone or gets it."""
    async with usb_server(adb_server) as usb:
        await usb.plug("R58M12ABCDE", state=word)
        where = (("127.0.0.1", usb.address.port),)
        given = {"adb_servers": where, "data_dir": tmp_path / "data", "console_port": 0, "virtual_phones": 0}
        settings = model_of(installed()).model_validate(given)
        state, reason, fix = USB_STATES[word]
        assert await doctor(NOTHING, settings) == 69
        assert f"✗ Phone R58M12ABCDE: {state}. {reason}\n    → {fix}" in capsys.readouterr().out
        assert await devices(NOTHING, settings) == 0
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith(f"R58M12ABCDE           {state:<13}  R58M12ABCDE  {reason} {fix}")
        phones = AdbPhones([usb.address], virtual=0)
        await phones.start()
        try:
            infos = phones.list()
        finally:
            await phones.stop()
        assert len(infos) == 1
        assert assign_phones([Waiter(RunId("1"), "", 0), Waiter(RunId("2"), "R58M12ABCDE", 1)], infos, ()) == ()
        assert fix in str(unservable_reason("", infos, ()))
        assert fix in str(unservable_reason("R58M12ABCDE", infos, ()))


async def test_wifi_debugging_beside_a_cable(here: Machine, capsys: Said) -> None:
    here.phone.state.settings["global"]["adb_wifi_enabled"] = "1"
    async with usb_server(here.adb) as usb:
        await usb.plug("R58M12ABCDE", behind=here.phone.address)
        where = (("127.0.0.1", usb.address.port),)
        assert await doctor(NOTHING, here.settings(adb_servers=where, android_serials=())) == 0
    told = capsys.readouterr().out
    assert (
        "has Wi-Fi debugging on although it is connected by cable: "
        "computers that were paired with it can reach it.\n    → Turn" in told
    )
    assert "connected over the network" not in told


async def test_wifi_debugging_is_read_from_the_phone(here: Machine) -> None:
    here.phone.state.settings["global"]["adb_wifi_enabled"] = "1"
    found = await examine(ServerAddress(here.adb.host, here.adb.port), here.phone.address)
    assert found.wireless
