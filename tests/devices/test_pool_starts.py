"""Phones that start again, and phones that are copies of another."""

from __future__ import annotations

import pytest

from devices.errors import PhoneGone
from devices.phone import Health
from devices.virtual_phone.happenings import happen
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.scenario import Reboot
from tests.devices.test_pool import healthy, pool_on, until
from tests.fixtures.adb import AdbServer


async def test_a_phone_that_restarts_is_waited_for_until_android_is_there(adb_server: AdbServer) -> None:
    """Seen failing without a look at `sys.boot_completed`: it was listed a second time, under its serial."""
    async with VirtualPhone(number=20) as virtual:
        async with pool_on(adb_server, serials=[virtual.address]) as pool:
            (info,) = await until(pool, healthy(virtual.address, Health.READY))
            phone = pool.get(info.id)
            await happen(virtual, Reboot(seconds=2, start_seconds=600))
            (starting,) = await until(pool, lambda infos: "starting" in infos[0].reason)
            assert (starting.health, starting.id) == (Health.SILENT, info.id)
            assert "restart the phone" in starting.fix
            with pytest.raises(PhoneGone, match="Android is starting"):
                pool.get(info.id)
            virtual.starting = False  # it has started
            assert await pool.wait_for(info.id, timeout=20) is phone
            (back,) = await until(pool, healthy(virtual.address, Health.LOCKED))
            assert back.id == info.id
            await phone.prepare()
            assert (await phone.observe()).package == "com.android.launcher3"
        await adb_server.disconnect(virtual.address)


async def test_android_starts_again_while_the_cable_stays(adb_server: AdbServer) -> None:
    """As after a crash of its services: it is no cable that has to be unplugged."""
    async with VirtualPhone(number=25) as virtual, pool_on(adb_server, serials=[virtual.address]) as pool:
        await until(pool, healthy(virtual.address, Health.READY))
        virtual.starting = True
        (info,) = await pool.refresh()
        assert (info.health, info.reason) == (Health.SILENT, "Android is starting.")
        assert info.fix.startswith("Wait until it has started")
        virtual.starting = False
        (info,) = await pool.refresh()
        assert (info.health, info.fix) == (Health.READY, "")
        await adb_server.disconnect(virtual.address)


async def test_copies_of_one_phone_are_two_phones(adb_server: AdbServer) -> None:
    """Emulators made from one image have one android_id. Seen failing with the android_id alone: one was two links."""
    async with VirtualPhone(number=21) as one, VirtualPhone(number=22) as two, VirtualPhone(number=21) as three:
        two.state.identity.android_id = one.state.identity.android_id
        serials = [one.address, two.address, three.address]
        async with pool_on(adb_server, serials=serials) as pool:
            infos = await until(pool, lambda infos: [each.health for each in infos] == [Health.READY] * 3)
            assert {each.serial for each in infos} == {*serials}
            assert len({each.id for each in infos}) == 3
            # Whichever came first has the id itself; a number tells one more apart, and the address the last.
            ids = sorted(each.id for each in infos)
            assert ids[0] == one.state.identity.android_id
            assert all(each.startswith(f"{ids[0]}@") for each in ids[1:])
            assert any("@VIRTUAL002" in each for each in ids[1:])
            two.windows.launch("notes")
            fronts = {each.serial: (await pool.get(each.id).observe()).package for each in infos}
            assert [serial for serial, app in fronts.items() if app == "org.example.notes"] == [two.address]
        for serial in serials:
            await adb_server.disconnect(serial)
