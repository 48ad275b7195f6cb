"""The providers of phones keep their contract, and the pool makes one list of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from devices.adb.server import ServerAddress
from devices.errors import NameTaken, PhoneGone
from devices.pool import AdbPhones, Pool
from devices.provider import DeviceProvider
from devices.virtual_phone.direct import DirectPhones
from devices.virtual_phone.phone import VirtualPhone
from tests.devices.provider_contract import ProviderContract, started
from tests.fixtures.adb import AdbServer
from tests.toy_phones import ToyPhones

__all__ = ["started"]


class TestAdb(ProviderContract):
    @pytest.fixture
    async def provider(self, adb_server: AdbServer) -> AsyncIterator[DeviceProvider]:
        async with VirtualPhone() as phone:
            await adb_server.connect(phone.address)
            server = ServerAddress(adb_server.host, adb_server.port)
            made = AdbPhones([server], serials=[phone.address], virtual=0)
            yield made
            await made.stop()
            await adb_server.disconnect(phone.address)


class TestVirtual(ProviderContract):
    @pytest.fixture
    async def provider(self, real_world: None) -> AsyncIterator[DeviceProvider]:  # noqa: ARG002
        async with VirtualPhone() as phone:
            made = DirectPhones([phone])
            yield made
            await made.stop()


class TestToy(ProviderContract):
    @pytest.fixture
    async def provider(self) -> DeviceProvider:
        return ToyPhones()


@pytest.fixture
async def pool(real_world: None) -> AsyncIterator[Pool]:  # noqa: ARG001
    async with VirtualPhone() as phone:
        made = Pool([DirectPhones([phone]), ToyPhones()])
        await made.start()
        yield made
        await made.stop()


async def test_the_pool_has_the_phones_of_all(pool: Pool) -> None:
    virtual, toy = pool.list()
    assert (virtual.virtual, toy.id) == (True, "toy-1")
    assert [pool.get(info.id).info for info in (virtual, toy)] == [virtual, toy]
    assert {info.id for info in await pool.refresh()} == {virtual.id, toy.id}
    assert (await pool.wait_for("toy-1", timeout=1)).info == toy
    with pytest.raises(PhoneGone):
        pool.get("nobody")
    with pytest.raises(PhoneGone):
        await pool.wait_for("nobody", timeout=0.1)


async def test_no_two_phones_of_the_pool_have_one_name(pool: Pool) -> None:
    virtual, toy = pool.list()
    with pytest.raises(NameTaken):
        await pool.rename(toy.id, virtual.name)
    with pytest.raises(NameTaken):
        await pool.rename(virtual.id, toy.name)


async def test_the_pool_tells_the_news_of_each(pool: Pool) -> None:
    for number, info in enumerate(pool.list()):
        told = asyncio.ensure_future(pool.wait_for_change())
        await asyncio.sleep(0)
        await pool.rename(info.id, f"Phone {number}")
        await asyncio.wait_for(told, 5)
