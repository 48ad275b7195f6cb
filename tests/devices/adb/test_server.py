import asyncio
import contextlib
import sys
from pathlib import Path

import pytest

from devices.adb.host import ask, connect, states
from devices.adb.server import ServerAddress, adb_binary, answers, ensure_running, server_environment
from devices.errors import PhoneGone
from devices.virtual_phone.phone import VirtualPhone
from tests.fixtures.adb import AdbServer


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", ServerAddress("127.0.0.1", 5037)),
        ("pi", ServerAddress("pi", 5037)),
        ("pi:5038", ServerAddress("pi", 5038)),
        (":5038", ServerAddress("127.0.0.1", 5038)),
        (" 10.0.0.2:5037 ", ServerAddress("10.0.0.2", 5037)),
    ],
)
def test_addresses(text: str, address: ServerAddress) -> None:
    assert ServerAddress.parse(text) == address
    assert ServerAddress.parse(str(address)) == address


@pytest.mark.parametrize("text", ["pi:adb", "pi:0", "pi:70000", "pi:５"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        ServerAddress.parse(text)


def environment_of_server(port: int) -> str:
    """What the adb server on this port has in its environment, as any process of this user can read it."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if f":{port}".encode() in b" ".join(words) and b"server" in words:
                return (process / "environ").read_bytes().replace(b"\0", b"\n").decode()
    raise AssertionError(f"no adb server on port {port}")


async def test_a_server_that_is_away_is_started_and_can_be_ended(
    free_port: int, tmp_path: Path, adb_server: AdbServer
) -> None:
    """In a process of its own, so that the server gets its own home and no emulators.

    The server stays when that has ended, and whoever may read its environment finds no key there: seen failing with the
    whole environment of the service.
    """
    code = (
        "import asyncio\n"
        "from devices.adb.server import ServerAddress, ensure_running\n"
        f"asyncio.run(ensure_running(ServerAddress('127.0.0.1', {free_port})))\n"
    )
    secrets = {name: f"secret-{name}" for name in ("VLM_API_KEY", "DISCORD_TOKEN", "TELEGRAM_TOKEN", "X_OF_OTHERS")}
    environment = {**adb_server.environment, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), **secrets}
    environment["ADBUTILS_ADB_PATH"] = str(adb_server.binary)
    del environment["ANDROID_ADB_SERVER_PORT"]
    address = ServerAddress("127.0.0.1", free_port)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=environment, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(40):
            _, said = await process.communicate()
        assert process.returncode == 0, said.decode()
        assert await answers(address)
        assert await ask(address, "host:version") == "0029"
        told = await asyncio.to_thread(environment_of_server, free_port)
        assert "secret-" not in told
        assert f"HOME={tmp_path}" in told, "where it has its keys"
        assert "ADB_EMU=0" in told
    finally:
        with contextlib.suppress(PhoneGone):  # it ends without an answer
            await ask(address, "host:kill")
    await ensure_running(ServerAddress(adb_server.host, adb_server.port))


@pytest.mark.slow
async def test_a_server_elsewhere_is_not_started(free_port: int) -> None:
    # 127.0.0.2 is this machine too, but not under a name that is taken for it.
    with pytest.raises(PhoneGone, match="adb -a nodaemon server start"):
        await ensure_running(ServerAddress("127.0.0.2", free_port))


@pytest.mark.slow
async def test_a_server_that_does_not_start_says_why(free_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADBUTILS_ADB_PATH", "/nowhere/adb")
    with pytest.raises(PhoneGone, match="/nowhere/adb"):
        await ensure_running(ServerAddress("127.0.0.1", free_port))


def test_the_adb_of_the_wheel_is_used_unless_another_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADBUTILS_ADB_PATH", raising=False)
    assert Path(adb_binary()).parts[-3:] == ("adbutils", "binaries", "adb")
    monkeypatch.setenv("ADBUTILS_ADB_PATH", "/opt/adb")
    assert adb_binary() == "/opt/adb"


def test_no_usb_no_waiting_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADB_LIBUSB", raising=False)
    environment = server_environment(ServerAddress("127.0.0.1", 5099))
    assert environment["ANDROID_ADB_SERVER_PORT"] == "5099"
    assert (environment.get("ADB_LIBUSB") == "0") is not Path("/dev/bus/usb").exists()


async def test_connecting_is_repeatable(adb_server: AdbServer) -> None:
    address = ServerAddress(adb_server.host, adb_server.port)
    async with VirtualPhone() as phone:
        await connect(address, phone.address)
        await adb_server.wait_for(phone.address, "device")
        await connect(address, phone.address)
        assert (await states(address))[phone.address] == "device"
        await adb_server.disconnect(phone.address)


@pytest.mark.slow
async def test_a_server_that_is_away(free_port: int) -> None:
    assert not await answers(ServerAddress("127.0.0.1", free_port))
    with pytest.raises(PhoneGone, match="cannot be reached"):
        await ask(ServerAddress("127.0.0.1", free_port), "host:version")
