"""What phones are called, as people see it: names that were given, and those made of the model."""

from __future__ import annotations

import pytest

from devices.errors import NameTaken, NameUnfit, PhoneGone
from devices.phone import Health
from devices.virtual_phone.phone import VirtualPhone
from tests.devices.test_pool import healthy, of, pool_on, until
from tests.fixtures.adb import AdbServer


class Book:
    """Implements devices.pool.NameBook."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.models: dict[str, str] = {}

    async def names(self) -> dict[str, str]:
        return self.kept

    async def keep(self, phone_id: str, name: str) -> None:
        self.kept[phone_id] = name

    async def usual(self) -> dict[str, str]:
        return self.models

    async def keep_usual(self, phone_id: str, name: str) -> None:
        self.models[phone_id] = name


async def test_phones_of_one_model_keep_their_numbers(adb_server: AdbServer) -> None:
    """Seen failing without `remember`: whoever was attached first was "Virtual Phone", another one each time."""
    book = Book()
    async with VirtualPhone(number=23) as one, VirtualPhone(number=24) as two:
        serials = [one.address, two.address]
        for first in (one, two):
            await adb_server.connect(first.address)
            async with pool_on(adb_server, serials=serials, book=book) as pool:
                infos = await until(pool, lambda infos: [each.health for each in infos] == [Health.READY] * 2)
                named = {each.serial: each.name for each in infos}
                if first is one:
                    before = named
                assert sorted(named.values()) == ["Virtual Phone", "Virtual Phone 2"]
                assert named == before
            for serial in serials:
                await adb_server.disconnect(serial)
        async with pool_on(adb_server, serials=[two.address], book=book, names={two.address: "Shelf"}) as pool:
            (info,) = await until(pool, healthy(two.address, Health.READY))
            assert info.name == "Shelf", "a name from the settings is a given one"
        await adb_server.disconnect(two.address)
        wanted = before[one.address]
        async with pool_on(adb_server, serials=[two.address], book=book, names={two.address: wanted}) as pool:
            (info,) = await until(pool, healthy(two.address, Health.READY))
            assert info.name == wanted, "also one that a phone which is away is only called by its model"
        await adb_server.disconnect(two.address)
    assert set(book.models.values()) == {"Virtual Phone", "Virtual Phone 2"}
    assert book.kept == {}


async def test_a_name_that_is_given_stays_and_is_nobody_elses(adb_server: AdbServer) -> None:
    book = Book()
    async with VirtualPhone(number=18) as one, VirtualPhone(number=19) as two:
        serials = [one.address, two.address]
        async with pool_on(adb_server, serials=serials, book=book, names={one.address: "Left"}) as pool:
            infos = await until(pool, lambda infos: len(infos) == 2)
            first, second = of(infos, one.address), of(infos, two.address)
            assert first is not None
            assert second is not None
            assert (first.name, second.name) == ("Left", "Virtual Phone")
            for taken in ("LEFT", one.address, first.id):
                with pytest.raises(NameTaken):
                    await pool.rename(second.id, taken)
            for unfit in ("", "x" * 41, "-x", "a\x1bb"):
                with pytest.raises(NameUnfit):
                    await pool.rename(second.id, unfit)
            with pytest.raises(PhoneGone):
                await pool.rename("nobody", "Desk")
            assert (await pool.rename(first.id, "  The  desk ")).name == "The desk"
            assert pool.get(first.id).info.name == "The desk"
        await adb_server.disconnect(one.address)
        async with pool_on(adb_server, serials=[two.address], book=book, names={two.address: "the desk"}) as pool:
            infos = await until(pool, healthy(two.address, Health.READY))
            assert infos[0].name == "the desk 2", "the name of a phone that is away is not given again"
            with pytest.raises(NameTaken):
                await pool.rename(second.id, "The Desk")
        async with pool_on(adb_server, serials=[one.address], book=book) as pool:
            assert (await until(pool, healthy(one.address, Health.READY)))[0].name == "The desk"
        for each in serials:
            await adb_server.disconnect(each)
