"""An app on the phone that listens: which way a secret takes into the phone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from devices.adb.connection import Connection
from devices.adb.driver import AdbPhone
from devices.adb.input_commands import BROADCAST_PACKAGE
from devices.adb.server import ServerAddress
from devices.geometry import Size
from devices.inputs import TypeText
from devices.phone import Health, PhoneInfo
from devices.virtual_phone.phone import VirtualPhone
from tests.fixtures.adb import AdbServer


@pytest.fixture
async def phone(adb_server: AdbServer) -> AsyncIterator[tuple[AdbPhone, VirtualPhone]]:
    """A prepared phone with the broadcast keyboard, in front of a field for a code."""
    async with VirtualPhone() as virtual:
        await adb_server.connect(virtual.address)
        virtual.state.adb_keyboard_installed = True
        connection = Connection(ServerAddress(adb_server.host, adb_server.port), virtual.address)
        driver = AdbPhone(connection, PhoneInfo("p", virtual.address, "p", Health.READY, size=Size(1080, 2400)))
        await driver.prepare()
        virtual.windows.launch("account")
        virtual.windows.open("code", user="anna")
        virtual.windows.focus("code")
        yield driver, virtual
        await driver.restore()
        await adb_server.disconnect(virtual.address)


def broadcasts(virtual: VirtualPhone) -> list[tuple[str, ...]]:
    return [entry.argv for entry in virtual.journal.named("am") if "broadcast" in entry.argv]


async def test_a_secret_is_typed_as_keys_and_broadcast_to_nobody(phone: tuple[AdbPhone, VirtualPhone]) -> None:
    """Seen failing with `needed` always true: the code is then in a broadcast."""
    driver, virtual = phone
    await driver.observe()
    await driver.act(TypeText("hunter2!", clear=True, secret=True), receipt="s")
    assert virtual.windows.value("code") == "hunter2!"
    assert broadcasts(virtual) == []


@pytest.mark.parametrize(("text", "secret"), [("密码二", True), ("hello", False), ("grüße", False)])
async def test_what_is_broadcast_goes_to_the_keyboard_alone(
    phone: tuple[AdbPhone, VirtualPhone], text: str, secret: bool
) -> None:
    """Without `-p` every app that registers for the action hears it. Seen failing with it taken out of `_broadcast`."""
    driver, virtual = phone
    await driver.observe()
    await driver.act(TypeText(text, clear=True, secret=secret), receipt="s")
    assert virtual.windows.value("code") == text
    assert broadcasts(virtual)
    for words in broadcasts(virtual):
        assert words[words.index("-p") + 1] == BROADCAST_PACKAGE
