"""What happens from outside, through the typed client of the control interface."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.client import ControlRefused, PhoneControl
from devices.virtual_phone.faults import Faults, parse_fault
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.runner import Control
from devices.virtual_phone.scenario import (
    Battery,
    CableOut,
    Happening,
    Link,
    Lock,
    PopUp,
    Press,
    RestartAdbd,
    Rotate,
    SetFaults,
    Sleep,
    Swipe,
    Tap,
    Unlock,
    Wake,
)
from tests.devices.virtual_phone.conftest import Hands

pytestmark = pytest.mark.slow


@pytest.fixture
async def control(hands: Hands) -> AsyncIterator[PhoneControl]:
    served = Control(hands.phone)
    await served.start()
    async with PhoneControl(served.url) as client:
        yield client
    await served.stop()


async def test_somebody_else_uses_the_phone(hands: Hands, control: PhoneControl) -> None:
    await control.set_faults(deaf=True)
    at = next(node for node in hands.phone.scene().root.walk() if node.text == "Clock").bounds.centre
    await control.happen(Tap(x=at.x, y=at.y))
    assert (await control.truth()).app == "clock", "another hand is not hit by the fault that makes inputs deaf"
    for what in (Press(key="HOME"), Rotate(rotation=1), PopUp(title="Hi"), Swipe(x=9, y=900, to_x=9, to_y=100)):
        await control.happen(what)
    truth = await control.truth()
    assert (truth.app, truth.dialogs, hands.phone.state.rotation) == ("launcher", ("Hi",), 1)
    turns: tuple[tuple[Happening, bool, bool], ...] = (
        (Sleep(), False, True),
        (Wake(), True, True),
        (Unlock(), True, False),
    )
    for turn, awake, locked in turns:
        await control.happen(turn)
        truth = await control.truth()
        assert (truth.awake, truth.locked) == (awake, locked)
    await control.happen(Lock(pin="1234"))
    assert hands.phone.state.pin == "1234"
    assert (await control.frame()).startswith(b"\x89PNG")
    told = [entry for entry in await control.journal() if entry.kind == "outside"]
    assert told[0].line == "faults deaf=True"
    assert told[1].line.startswith('{"do":"tap"')
    assert len(told) == 10
    assert [entry.number for entry in await control.journal(since=told[-1].number - 1)] == [told[-1].number]


async def test_the_battery(hands: Hands, control: PhoneControl) -> None:
    await control.happen(Battery(level=9, charging=False))
    told = await hands.out("dumpsys battery")
    assert "  level: 9\n" in told
    assert "  USB powered: false\n  Wireless powered: false\n  status: 3\n" in told
    await hands.out("dumpsys battery set level 55; dumpsys battery set usb 1")
    assert (hands.phone.state.battery, hands.phone.state.charging) == (55, True)
    await hands.out("dumpsys battery unplug")
    assert not hands.phone.state.charging
    await hands.out("dumpsys battery reset; dumpsys battery frob")
    assert hands.phone.state.charging


async def test_a_moment_comes_after_the_command_it_waits_for(hands: Hands, control: PhoneControl) -> None:
    await control.after("input", PopUp(title="Update?"), times=2)
    await control.after("*", SetFaults(values={"black": True}))
    await hands.out("id")
    assert hands.phone.faults.black
    await hands.out("input tap 1 1")
    (moment,) = await control.moments()
    assert (moment.times, moment.after) == (1, "input")
    assert hands.truth().dialogs == ()
    await hands.out("input tap 1 1")
    assert hands.truth().dialogs == ("Update?",)
    assert await control.moments() == ()
    await control.after("input", Sleep())
    await control.forget_moments()
    await hands.out("input tap 1 1")
    assert hands.truth().awake


@pytest.mark.parametrize("what", [CableOut(), CableOut(seconds=0.2), RestartAdbd()], ids=str)
async def test_the_link_breaks_at_its_moment_and_comes_back(
    hands: Hands, control: PhoneControl, what: Happening
) -> None:
    port = hands.phone.address
    await control.after("echo", what)
    _code, out, _err = await hands.shell("echo lost; input keyevent SLEEP")
    assert out == "", "the answer is lost, but the command was run"
    assert not hands.truth().awake
    assert hands.phone.address == port
    await hands.adb.disconnect(hands.phone.address)
    async with asyncio.timeout(10):
        while (await hands.adb.states()).get(hands.phone.address) != "device":
            await hands.adb.ask(f"host:connect:{hands.phone.address}", 5)
    assert (await hands.out("id")).startswith("uid=2000")


async def test_a_cable_that_comes_back_leaves_the_phone_as_it_was(hands: Hands, control: PhoneControl) -> None:
    await control.happen(Link(state=LinkState.UNAUTHORIZED))
    await control.happen(CableOut(seconds=0.1))
    seen = [hands.phone.link]
    async with asyncio.timeout(5):
        while seen[-1] is LinkState.GONE:
            await control.truth()
            seen.append(hands.phone.link)
    assert (seen[0], seen[-1]) == (LinkState.GONE, LinkState.UNAUTHORIZED)


async def test_faults_are_read_back_and_wrong_ones_refused(control: PhoneControl) -> None:
    await control.set_faults(frame_ms=20, hang="monkey")
    faults = await control.faults()
    assert (faults["frame_ms"], faults["hang"], faults["deaf"]) == (20, "monkey", False)
    for wrong in ({"frame_ms": -1}, {"frame_ms": True}, {"deaf": 1}, {"nonsense": 1}):
        with pytest.raises(ControlRefused, match="no fault"):
            await control.set_faults(**wrong)
    assert await control.faults() == faults


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("/happen", {"do": "press", "key": "NOTHING"}, "no key is called"),
        ("/happen", {"do": "tap", "x": -1, "y": 0}, "tap.x"),
        ("/happen", {"do": "battery", "level": 101}, "battery.level"),
        ("/happen", {"do": "faults", "values": {"deaf": "yes"}}, "no fault deaf='yes'"),
        ("/moments", {"after": "", "then": {"do": "wake"}}, "after"),
        ("/moments", {"then": {"do": "dance"}}, "then"),
        ("/moments?", [1], "no JSON object"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(hands: Hands, path: str, value: object, said: str) -> None:
    served = Control(hands.phone)
    await served.start()
    async with aiohttp.ClientSession(served.url) as session:
        async with session.post(path, json=value) as answer:
            assert answer.status == 400
            assert said in await answer.text()
        async with session.get("/journal?since=x") as answer:
            assert answer.status == 400
    await served.stop()
    assert hands.phone.moments.waiting == ()


async def test_every_app_can_be_slow(hands: Hands) -> None:
    hands.phone.faults.set(app_ms=300)
    await hands.tap("Shop")
    assert "Loading…" in await hands.texts()
    async with asyncio.timeout(5):
        while "Umbrella" not in await hands.texts():
            await hands.phone.frame()
    await hands.tap("Umbrella")
    assert "Loading…" in await hands.texts()
    hands.phone.faults.set(app_ms=0)
    await hands.out("input keyevent HOME")
    await hands.tap("Clock")
    assert "Alarms" in await hands.texts()


def test_faults_as_words_of_a_command_line() -> None:
    assert [parse_fault(text) for text in ("frame_ms=300", "hang=input tap", "deaf", "black=false")] == [
        ("frame_ms", 300),
        ("hang", "input tap"),
        ("deaf", True),
        ("black", False),
    ]
    for wrong in ("frame_ms", "frame_ms=x", "deaf=1", "nonsense", "_note=1", ""):
        with pytest.raises(ValueError, match="no fault"):
            parse_fault(wrong)


async def test_a_phone_can_begin_with_faults_and_dark() -> None:
    async with VirtualPhone(faults={"no_tree": True}, dark=True) as phone:
        assert phone.faults.no_tree
        assert phone.truth.toggles["dark"]
        assert [entry.line for entry in phone.journal.entries] == ["faults no_tree=True"]
    assert Faults().values()["no_tree"] is False


@pytest.mark.parametrize("command", [("reboot",), ("shell", "reboot")])
async def test_it_restarts_as_adb_tells_it(hands: Hands, command: tuple[str, ...]) -> None:
    hands.phone.windows.launch("notes")
    code, _out, err = await hands.adb.run("-s", hands.phone.address, *command)
    assert (code, err) == (0, b"")
    await hands.adb.wait_for(hands.phone.address, "offline")
    assert hands.truth().locked
    assert hands.truth().app == "launcher"
    assert hands.phone.starting
