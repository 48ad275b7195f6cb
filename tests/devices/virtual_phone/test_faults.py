from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from devices.geometry import Size
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.runner import Control
from tests.devices.virtual_phone.conftest import Hands

pytestmark = pytest.mark.slow


@pytest.fixture
async def control(hands: Hands) -> AsyncIterator[str]:
    served = Control(hands.phone)
    await served.start()
    yield served.url
    await served.stop()


async def test_a_hanging_command_goes_on_when_the_fault_is_lifted(hands: Hands) -> None:
    hands.phone.faults.set(hang="screencap")
    waiting = asyncio.create_task(hands.adb.run("-s", hands.phone.address, "exec-out", "screencap -p"))
    assert await hands.out("echo still there") == "still there\n"
    assert not waiting.done()
    hands.phone.faults.set(hang="")
    _code, out, _err = await waiting
    assert out.startswith(b"\x89PNG")


async def test_frames_can_be_cut_black_or_without_elements(hands: Hands) -> None:
    hands.phone.faults.set(truncate=True)
    _code, out, _err = await hands.adb.run("-s", hands.phone.address, "exec-out", "screencap")
    assert len(out) == (16 + 1080 * 2400 * 4) // 2
    hands.phone.faults.set(truncate=False, black=True)
    assert (await hands.phone.frame()).image.getextrema() == ((0, 0), (0, 0), (0, 0))
    hands.phone.faults.set(black=False, no_tree=True)
    assert (await hands.shell("uiautomator dump /dev/tty"))[2] == "ERROR: could not get idle state.\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("echo x > /system/x", "/system/bin/sh: can't create /system/x: Permission denied\n"),
        ("echo x >> /system/x", "/system/bin/sh: can't create /system/x: Permission denied\n"),
        ("screencap -p /system/x.png", "Error opening file: /system/x.png (Permission denied)\n"),
        ("cp /sdcard/a /system/x", "cp: /system/x: Permission denied\n"),
        ("touch /system/x", "touch: /system/x: Permission denied\n"),
        ("mv /sdcard/a /system/x", "mv: /system/x: Permission denied\n"),
        ("mkdir /system/y", "mkdir: '/system/y': Permission denied\n"),
        ("echo x > /sdcard/Download", "/system/bin/sh: can't create /sdcard/Download: Is a directory\n"),
        ("cat < /sdcard/none", "/system/bin/sh: can't open /sdcard/none: No such file or directory\n"),
    ],
)
async def test_nothing_is_written_where_the_shell_may_not(hands: Hands, line: str, said: str) -> None:
    hands.phone.files.write("/sdcard/a", b"1")
    before = dict(hands.phone.files.files)
    assert await hands.shell(line) == (1, "", said)
    assert hands.phone.files.files == before


async def test_a_full_storage_takes_nothing_and_keeps_what_is_there(hands: Hands, tmp_path: Path) -> None:
    hands.phone.files.write("/sdcard/a", b"old")
    hands.phone.faults.set(storage_full=True)
    before = dict(hands.phone.files.files)
    assert "can't create /sdcard/a: No space left on device" in (await hands.shell("echo new > /sdcard/a"))[2]
    assert "(No space left on device)" in (await hands.shell("screencap -p /sdcard/s.png"))[2]
    assert await hands.out("uiautomator dump /sdcard/w.xml") == "UI hierchary dumped to: /sdcard/w.xml\n"
    assert "100% /storage/emulated" in await hands.out("df")
    (tmp_path / "b").write_bytes(b"new")
    code, _out, err = await hands.adb.run("-s", hands.phone.address, "push", str(tmp_path / "b"), "/sdcard/b")
    assert code
    assert b"No space left on device" in err + _out
    assert hands.phone.files.files == before
    await hands.out("mv /sdcard/a /sdcard/c; rm /sdcard/c")
    hands.phone.faults.set(storage_full=False)
    await hands.out("echo new > /sdcard/a")
    assert hands.phone.files.read("/sdcard/a") == b"new\n"


async def test_file_requests_can_hang(hands: Hands, tmp_path: Path) -> None:
    hands.phone.files.write("/sdcard/a", b"old")
    hands.phone.faults.set(hang="sync RECV")
    waiting = asyncio.create_task(hands.adb.run("-s", hands.phone.address, "pull", "/sdcard/a", str(tmp_path / "a")))
    assert (await hands.phone.journal.wait_for(lambda entry: entry.kind == "sync")).argv == ("STAT", "/sdcard/a")
    assert await hands.out("echo still there") == "still there\n"
    assert not waiting.done()
    hands.phone.faults.set(hang="")
    assert (await waiting)[0] == 0
    assert (tmp_path / "a").read_bytes() == b"old"


async def test_inputs_can_be_lost_or_late(hands: Hands) -> None:
    hands.phone.faults.set(deaf=True)
    await hands.tap("Clock")
    assert hands.truth().app == "launcher"
    hands.phone.faults.set(deaf=False, effect_ms=150, input_ms=1, frame_ms=1)
    await hands.tap("Clock")
    assert hands.truth().app == "launcher"
    async with asyncio.timeout(5):
        while "Alarms" not in await hands.texts():
            await hands.phone.frame()
    assert hands.truth().app == "clock"


async def test_slow_pages_say_so_and_then_come(hands: Hands) -> None:
    hands.phone.faults.set(page_ms=200)
    await hands.out("am start -a android.intent.action.VIEW -d https://example.org/")
    assert "Loading…" in await hands.texts()
    async with asyncio.timeout(5):
        while "Loading…" in await hands.texts():
            await hands.phone.frame()
    assert "example.org" in await hands.texts()


async def test_a_cut_link_comes_back(hands: Hands) -> None:
    hands.phone.faults.set(hang="*")
    waiting = asyncio.create_task(hands.adb.run("-s", hands.phone.address, "shell", "id"))
    await hands.adb.wait_for(hands.phone.address, "device")
    await hands.phone.drop_link(0.3)
    code, out, _err = await waiting
    assert code != 0
    assert out == b""
    hands.phone.faults.set(hang="")
    await hands.adb.disconnect(hands.phone.address)
    async with asyncio.timeout(10):
        while True:
            await hands.adb.ask(f"host:connect:{hands.phone.address}", 5)
            if (await hands.adb.states()).get(hands.phone.address) == "device":
                break
    assert (await hands.out("id")).startswith("uid=2000")


async def test_a_fault_of_another_name_or_kind_is_refused(hands: Hands) -> None:
    with pytest.raises(ValueError, match="no fault nonsense"):
        hands.phone.faults.set(nonsense=1)
    with pytest.raises(ValueError, match="frame_ms='x'"):
        hands.phone.faults.set(frame_ms="x")


async def test_the_control_interface(hands: Hands, control: str) -> None:
    async with aiohttp.ClientSession(control) as session:

        async def post(path: str, value: object) -> int:
            async with session.post(path, json=value) as answer:
                return answer.status

        await hands.out("OPENGUI_RECEIPT=r.1 input keyevent HOME")
        async with session.get("/journal") as answer:
            (entry,) = await answer.json()
        assert (entry["argv"], entry["receipt"], entry["code"]) == (["input", "keyevent", "HOME"], "r.1", 0)
        assert await post("/happen", {"do": "pop_up", "title": "Hi", "buttons": ["No", "Yes"]}) == 200
        assert await post("/happen", {"do": "lock", "pin": "1234"}) == 200
        assert await post("/happen", {"do": "sleep"}) == 200
        async with session.get("/truth") as answer:
            truth = await answer.json()
        assert (truth["dialogs"], truth["locked"], truth["awake"]) == (["Hi"], True, False)
        assert await post("/happen", {"do": "wake"}) == 200
        assert await post("/happen", {"do": "unlock"}) == 200
        assert await post("/happen", {"do": "rotate", "rotation": 3}) == 200
        assert hands.phone.state.rotation == 3
        async with session.get("/frame.png") as answer:
            assert (await answer.read()).startswith(b"\x89PNG")
        assert await post("/faults", {"frame_ms": 5}) == 200
        assert hands.phone.faults.frame_ms == 5
        assert await post("/happen", {"do": "link", "state": "unauthorized"}) == 200
        await hands.adb.wait_for(hands.phone.address, "unauthorized")
        assert await post("/happen", {"do": "link", "state": "open"}) == 200
        await hands.adb.wait_for(hands.phone.address, "device")
        assert await post("/happen", {"do": "cable_out"}) == 200
        for path, value in (
            ("/faults", {"nonsense": 1}),
            ("/faults", [1]),
            ("/happen", {"do": "dance"}),
            ("/happen", {"do": "rotate", "rotation": 9}),
            ("/happen", {"do": "link", "state": "blue"}),
        ):
            assert await post(path, value) == 400
        async with session.post("/faults", data=b"{") as answer:
            assert answer.status == 400


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
async def test_a_web_page_cannot_control_the_phone(control: str, headers: dict[str, str]) -> None:
    """Seen failing with `_refuse_strangers` left out of the application: both requests were answered with 200."""
    async with aiohttp.ClientSession(control) as session:
        async with session.get("/truth", headers=headers) as answer:
            assert answer.status == 403
        async with session.post("/happen", json={"do": "cable_out"}, headers=headers) as answer:
            assert answer.status == 403


async def test_state_outlives_the_phone(tmp_path: Path) -> None:
    file = tmp_path / "phone.json"
    async with VirtualPhone(state_file=file, size=Size(720, 1280)) as phone:
        address = phone.address
        phone.do(lambda: phone.state.searches.append("OpenGUI"))
        phone.files.write("/sdcard/Download/a.bin", b"\x00\xff\xfe")
    async with VirtualPhone(state_file=file) as phone:
        assert phone.address == address
        assert phone.truth.searches == ("OpenGUI",)
        assert phone.files.read("/sdcard/Download/a.bin") == b"\x00\xff\xfe"
        assert phone.state.width == 720
        copy = tmp_path / "copy.json"
        copy.write_bytes(file.read_bytes())
        async with VirtualPhone(state_file=copy) as second:
            assert second.address != address, "the port is taken, another one is found"
    file.write_text("{broken")
    async with VirtualPhone(state_file=file) as phone:
        assert phone.truth.searches == ()
    assert (tmp_path / "phone.broken").exists()
