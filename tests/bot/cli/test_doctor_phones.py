"""Each state that a phone can be in, and what the doctor says to do about it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.cli.doctor import doctor
from bot.cli.doctor.phones import _limits
from bot.settings import Settings
from devices.adb.examination import Examination, examine
from devices.adb.server import ServerAddress
from devices.simulator.adbd import LinkState
from devices.simulator.phone import VirtualPhone
from tests.bot.cli.test_doctor import NOTHING, Machine, Said, here

__all__ = ["here"]

State = Callable[[VirtualPhone], None]
NOTED: dict[str, tuple[State, str]] = {
    "a lock with a PIN that is open": (
        lambda phone: setattr(phone.state, "pin", "1234"),
        (
            "has a screen lock with a PIN, pattern or password: a task that finds it locked asks for you."
            "\n    → Take the lock off"
        ),
    ),
    "locked": (
        lambda phone: phone.desk.lock("1234"),
        "· Phone Virtual Phone: locked. The screen is locked.\n    → Unlock it by hand",
    ),
    "asleep": (
        lambda phone: phone.desk.sleep(),
        "· Phone Virtual Phone: asleep. The screen is off.\n    → Nothing to do",
    ),
    "no ADBKeyboard": (
        lambda phone: setattr(phone.state, "adb_keyboard_installed", False),
        (
            "· Virtual Phone has no ADBKeyboard: other scripts than Latin go only into empty fields, by the fast lane."
            "\n    → Install ADBKeyboard"
        ),
    ),
    "over the network": (
        lambda _: None,
        (
            "· Virtual Phone is connected over the network: after a restart it may have another port, or none."
            "\n    → Use a cable, or `adb connect` it anew"
        ),
    ),
}


@pytest.mark.parametrize("state", NOTED)
async def test_what_is_worth_knowing_is_noted_and_is_no_fault(here: Machine, capsys: Said, state: str) -> None:
    into, says = NOTED[state]
    into(here.phone)
    assert await doctor(NOTHING, here.settings()) == 0
    assert says in capsys.readouterr().out


async def test_an_offline_phone(here: Machine, capsys: Said) -> None:
    await here.adb.disconnect(here.phone.address)
    await here.phone.set_link(LinkState.OFFLINE)
    assert await doctor(NOTHING, here.settings()) == 69
    told = capsys.readouterr().out
    assert "✗ Phone " in told
    assert "offline. The phone is attached but does not answer.\n    → Unplug the cable" in told


async def test_a_phone_that_answers_nothing(here: Machine, capsys: Said) -> None:
    here.phone.faults.set(hang="*")
    assert await doctor(NOTHING, here.settings()) == 69
    told = capsys.readouterr().out
    assert "offline." in told
    assert "\n    → Wait until it has started; if it stays silent, restart the phone." in told


@pytest.mark.parametrize(
    ("word", "says"),
    [
        (
            "no permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com]",
            "no permission. This computer may not use the USB device.\n    → Give your user the right",
        ),
        ("recovery", "offline. The phone is in recovery mode.\n    → Restart it into Android."),
        ("authorizing", "offline. The phone is attached but does not answer.\n    → Unplug the cable"),
    ],
)
async def test_states_that_only_usb_has(tmp_path: Path, capsys: Said, word: str, says: str) -> None:
    """An adb server that lists such a phone: over the network adb itself never says these words."""
    async with listing(f"R58M12ABCDE\t{word}\n") as port:
        settings = {"adb_servers": (("127.0.0.1", port),), "data_dir": tmp_path / "data", "console_port": 0}
        assert await doctor(NOTHING, Settings.model_validate(settings | {"android_serials": ("R58M12ABCDE",)})) == 69
    assert says in capsys.readouterr().out


@asynccontextmanager
async def listing(devices: str) -> AsyncIterator[int]:
    """The port of an adb server that knows these phones and does nothing."""
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()
        said = {"host:version": "0029"}.get(asked, devices)
        writer.write(b"OKAY" + f"{len(said):04x}{said}".encode())
        await writer.drain()
        if asked == "host:track-devices":
            await over.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        over.set()
        server.close()


def test_wifi_debugging_beside_a_cable() -> None:
    """A virtual phone has no cable."""
    found = Examination(0.1, "", (), (), None, "", wireless=True)
    (finding,) = _limits("Pixel", {"serial": "R58M12ABCDE", "virtual": False}, found)
    assert "Wi-Fi debugging on although a cable is used" in finding.text
    assert "Switch it off" in finding.fix


async def test_wifi_debugging_is_read_from_the_phone(here: Machine) -> None:
    here.phone.state.settings["global"]["adb_wifi_enabled"] = "1"
    found = await examine(ServerAddress(here.adb.host, here.adb.port), here.phone.address)
    assert found.wireless
