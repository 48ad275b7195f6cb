"""Phones over Wi-Fi: what is asked of an adb server, and what it is never asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from devices.adb.host import Announced, Invitation, WifiPhones
from devices.adb.server import ServerAddress
from devices.errors import PairingFailed
from tests.fixtures.adb import AdbServer

pytestmark = pytest.mark.slow


@asynccontextmanager
async def answering(answers: Mapping[str, str]) -> AsyncIterator[tuple[WifiPhones, list[str]]]:
    """An adb server that gives these answers, and what it was asked."""
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            service = (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()
        except asyncio.IncompleteReadError:
            writer.close()  # it was only looked whether anything listens
            return
        asked.append(service)
        text = answers.get(service, "no").encode()
        failed = b"FAIL" if service.startswith("host:pair") and service not in answers else b""
        writer.write(b"OKAY%s%04x%s" % (failed, len(text), text))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield WifiPhones(ServerAddress("127.0.0.1", server.sockets[0].getsockname()[1])), asked


async def test_a_phone_is_found_paired_and_connected() -> None:
    listed = (
        "adb-1\t_adb-tls-pairing._tcp\t192.168.1.20:37045\n"
        "adb-1\t_adb-tls-connect._tcp.\t192.168.1.20:41005\n"
        "tv\t_googlecast._tcp\t192.168.1.9:8009\n"
        "odd\t_adb-tls-connect._tcp\tnowhere\n"
    )
    answers = {
        "host:mdns:services": listed,
        "host:pair:123456:192.168.1.20:37045": "Successfully paired to 192.168.1.20:37045 [guid=adb-1]\n",
        "host:connect:192.168.1.20:41005": "connected to 192.168.1.20:41005",
    }
    async with answering(answers) as (wifi, asked):
        assert await wifi.announced() == (
            Announced("adb-1", "pairing", "192.168.1.20:37045"),
            Announced("adb-1", "connect", "192.168.1.20:41005"),
        )
        await wifi.pair("192.168.1.20:37045", "123456")
        await wifi.connect("192.168.1.20:41005")
        with pytest.raises(PairingFailed, match="the code is wrong"):
            await wifi.pair("192.168.1.20:37045", "654321")
        with pytest.raises(PairingFailed, match="Nothing answers"):
            await wifi.connect("192.168.1.20:5555")
    assert set(answers) < set(asked)


async def test_a_phone_that_has_read_the_qr_code_is_paired_with() -> None:
    invitation = Invitation.new()
    assert invitation.text == f"WIFI:T:ADB;S:{invitation.name};P:{invitation.password};;"
    assert invitation.password not in repr(invitation)
    answers = {"host:mdns:services": "adb-1\t_adb-tls-pairing._tcp\t192.168.1.9:37001\n"}
    async with answering(answers) as (wifi, asked):
        assert await wifi.pair_invited(invitation) == "", "another phone announces itself"
        answers["host:mdns:services"] += f"{invitation.name}\t_adb-tls-pairing._tcp\t192.168.1.20:37045\n"
        pair = f"host:pair:{invitation.password}:192.168.1.20:37045"
        answers[pair] = "Successfully paired to 192.168.1.20:37045"
        assert await wifi.pair_invited(invitation) == "192.168.1.20:37045"
        assert [service for service in asked if service.startswith("host:pair")] == [pair]


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("192.168.1.20", "123456"),
        ("192.168.1.20:0", "123456"),
        ("192.168.1.20:70000", "123456"),
        ("a:5555;reboot", "123456"),
        ("-a x:5555\n", "123456"),
        ("192.168.1.20:5555", "12345"),
        ("192.168.1.20:5555", "123456:10.0.0.1"),
        ("192.168.1.20:5555", "１２３４５６"),
    ],
)
async def test_what_is_no_address_or_no_code_is_not_sent(address: str, code: str) -> None:
    """Seen failing without the forms: a code with a colon names another phone."""
    async with answering({}) as (wifi, asked):
        with pytest.raises(PairingFailed) as refused:
            await wifi.pair(address, code)
    assert asked == []
    assert code not in str(refused.value)


async def test_the_real_server_understands_what_it_is_asked(adb_server: AdbServer, free_port: int) -> None:
    wifi = WifiPhones(ServerAddress("127.0.0.1", adb_server.port))
    with pytest.raises(PairingFailed, match="was not paired"):
        await wifi.pair(f"127.0.0.1:{free_port}", "123456")
    with pytest.raises(PairingFailed, match="Nothing answers"):
        await wifi.connect(f"127.0.0.1:{free_port}")
    assert await wifi.announced() == ()
