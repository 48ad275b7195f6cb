"""Virtual phones as a process: for the service, and for a person with `opengui phone`."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from devices.geometry import Size
from devices.virtual import PhoneProcessFailed
from devices.virtual_phone.client import PhoneControl
from devices.virtual_phone.faults import fault_text, parse_fault
from devices.virtual_phone.options import add_options, density_for
from devices.virtual_phone.process import PhoneProcess
from tests.fixtures.adb import AdbServer

MODULE = ("-m", "devices.virtual_phone")
COMMAND = ("-m", "bot.cli", "phone")


@asynccontextmanager
async def running(*words: str, stdin: int = asyncio.subprocess.PIPE) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(40):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def next_line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode()


async def test_a_process_runs_phones_and_saves_them(adb_server: AdbServer, tmp_path: Path) -> None:
    process = PhoneProcess(
        count=2,
        size=Size(720, 1280),
        state=tmp_path,
        seed=4,
        language="zh-CN",
        dark=True,
        faults={"frame_ms": 2, "hang": "reboot now", "deaf": True},
    )
    phones = await process.start()
    try:
        assert process.running
        assert [phone.name for phone in phones] == ["virtual-1", "virtual-2"]
        await adb_server.connect(phones[1].address)
        _code, out, _err = await adb_server.run("-s", phones[1].address, "shell", "getprop ro.serialno; wm size")
        assert out == b"VIRTUAL0002\nPhysical size: 720x1280\n"
        async with phones[0].open() as control:
            truth = await control.truth()
            assert (truth.app, truth.toggles["dark"]) == ("launcher", True)
            faults = await control.faults()
            assert (faults["frame_ms"], faults["hang"], faults["deaf"]) == (2, "reboot now", True)
        await adb_server.disconnect(phones[1].address)
    finally:
        await process.stop()
    assert process.phones == ()
    saved = json.loads((tmp_path / "virtual-2.json").read_text())["state"]
    assert (saved["seed"], saved["locale"], saved["density"]) == (4, "zh-CN", 280)
    with pytest.raises(aiohttp.ClientError):
        async with phones[0].open() as control:
            await control.truth()


@pytest.mark.slow
async def test_a_process_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PhoneProcessFailed, match="could not be started"):
        await PhoneProcess(state=tmp_path / "file").start()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--size big", "no size"),
        ("--size 100x100", "no size"),
        ("--count 0", "no number from 1 to 64"),
        ("--density 9", "no number from 120"),
        ("--port 70000", "no number from 0"),
        ("--adb 127.0.0.1", "no number from 1"),
        ("--language z_h", "no language"),
        ("--fault nonsense", "no fault nonsense"),
        ("--fault frame_ms=fast", "no fault frame_ms"),
    ],
)
def test_wrong_options_are_refused(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(words.split())
    assert said in capsys.readouterr().err


def test_options_as_a_person_writes_them() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    read = parser.parse_args(
        ["--size", "1440x3120", "--language", "zh", "--adb", ":5038", "--fault", "deaf", "--fault", "hang=x=y"]
    )
    assert (read.size, read.language, read.adb) == (Size(1440, 3120), "zh-CN", ("127.0.0.1", 5038))
    assert dict(read.fault) == {"deaf": True, "hang": "x=y"}
    assert [parse_fault(fault_text(*each)) for each in read.fault] == read.fault
    assert [density_for(Size(*size)) for size in ((1080, 2400), (1440, 3120), (720, 1280), (2400, 1080))] == [
        420,
        560,
        280,
        420,
    ]


@pytest.mark.slow
async def test_phones_for_a_service_end_with_its_input() -> None:
    async with running(
        *MODULE, "--json", "--no-connect", "--until-input-closes", stdin=asyncio.subprocess.DEVNULL
    ) as process:
        out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out)["name"] == "virtual-1"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_phones_for_a_service_are_there_until_it_lets_them_go(number: signal.Signals) -> None:
    """Ctrl-C reaches every process at the terminal. Seen failing with the signals heeded: a run that was stopped found
    its phone gone, could not put it back as it was, and told a person to unplug its cable.
    """
    async with running(*MODULE, "--json", "--no-connect", "--until-input-closes") as process:
        started = json.loads(await next_line(process))
        process.send_signal(number)
        async with PhoneControl(started["control"]) as control:
            for _ in range(3):
                assert (await control.truth()).app == "launcher"
        _out, err = await process.communicate(b"")
    assert (process.returncode, err) == (0, b"")


async def test_phones_for_a_person_are_connected_and_end_with_control_c(adb_server: AdbServer) -> None:
    server = f"{adb_server.host}:{adb_server.port}"
    async with running(*COMMAND, "--adb", server, "--language", "zh", stdin=asyncio.subprocess.DEVNULL) as process:
        found = re.fullmatch(r"virtual-1: adb connect (\S+)   control: (\S+)\n", await next_line(process))
        assert found is not None
        assert await next_line(process) == "Ctrl-C ends the phones.\n"
        await adb_server.wait_for(found[1], "device")
        async with PhoneControl(found[2]) as control:
            assert (await control.truth()).app == "launcher"
        process.send_signal(signal.SIGINT)
        _out, err = await process.communicate()
    assert process.returncode == 0
    assert b"Not connected" not in err
    assert found[1] not in await adb_server.states()


@pytest.mark.slow
async def test_a_taken_port_and_an_absent_adb_server_are_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        async with running(*COMMAND, "--no-connect", "--port", port) as process:
            _out, err = await process.communicate()
        assert process.returncode == 69
        assert b"could not be started" in err
    async with running(*MODULE, "--adb", f"adb.invalid:{port}") as process:
        assert (await next_line(process)).startswith("virtual-1: adb connect 127.0.0.1:")
        assert await next_line(process) == "Ctrl-C ends the phones.\n"
        process.terminate()
        _out, err = await process.communicate()
    assert process.returncode == 0
    assert err.startswith(b"Not connected: No adb server answers at adb.invalid")
