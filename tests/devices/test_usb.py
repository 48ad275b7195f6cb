"""Phones on USB: states that adb has for them alone, and phones that share a serial number."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uiautomator2

from devices.errors import PhoneGone, PhoneUnavailable
from devices.phone import Health
from devices.pool import AdbPhones
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.uiautomator_server import JAR
from tests.devices.test_pool import healthy, of, until
from tests.fixtures.adb import AdbServer
from tests.fixtures.usb import NO_PERMISSIONS, UsbPhone, UsbServer, usb_server

SERIAL = "R58M12ABCDE"
STATES: dict[str, tuple[Health, str, str]] = {
    NO_PERMISSIONS: (Health.NO_PERMISSION, "not allowed to use the USB device", "plugdev"),
    "unauthorized": (Health.UNAUTHORIZED, "does not trust this computer", "Allow USB debugging"),
    "authorizing": (Health.OFFLINE, "still connecting", "Allow USB debugging"),
    "connecting": (Health.OFFLINE, "still connecting", "Allow USB debugging"),
    "offline": (Health.OFFLINE, "does not answer", "Unplug the cable"),
    "recovery": (Health.OFFLINE, "in recovery mode", "Restart it into Android"),
    "sideload": (Health.OFFLINE, "in sideload mode", "Restart it into Android"),
    "rescue": (Health.OFFLINE, "in rescue mode", "Restart it into Android"),
    "bootloader": (Health.OFFLINE, "in bootloader mode", "Restart it into Android"),
    "host": (Health.OFFLINE, "another computer", "Unplug"),
    "detached": (Health.OFFLINE, "detached", "adb attach"),
}


@pytest.fixture
async def usb(adb_server: AdbServer) -> AsyncIterator[UsbServer]:
    async with usb_server(adb_server) as server:
        yield server


@asynccontextmanager
async def pool_of(*servers: UsbServer, **options: object) -> AsyncIterator[AdbPhones]:
    pool = AdbPhones([each.address for each in servers], **{"virtual": 0, **options})  # type: ignore[arg-type]  # of tests
    await pool.start()
    try:
        yield pool
    finally:
        await pool.stop()


@pytest.mark.parametrize("state", STATES)
async def test_a_state_is_shown_with_its_fix_and_never_given_to_a_run(usb: UsbServer, state: str) -> None:
    health, reason, fix = STATES[state]
    await usb.plug(SERIAL, state=state)
    async with pool_of(usb) as pool:
        (info,) = await until(pool, healthy(SERIAL, health))
        assert reason in info.reason
        assert fix in info.fix
        refused = PhoneUnavailable if health in {Health.UNAUTHORIZED, Health.NO_PERMISSION} else PhoneGone
        with pytest.raises(refused, match=fix):
            pool.get(info.id)
        with pytest.raises(PhoneGone, match=fix):
            await pool.wait_for(info.id, timeout=0.05)
        assert not info.health.usable
        assert await pool.refresh() == (info,)
    assert usb.refused == [], "it is not even asked"


async def test_every_change_of_state_is_told(usb: UsbServer) -> None:
    """From the shelf into use, out of it into recovery, and back: one phone with one name all the way."""
    async with VirtualPhone(number=30) as virtual, pool_of(usb) as pool:
        assert pool.list() == ()
        phone = await usb.plug(SERIAL, state=NO_PERMISSIONS, behind=virtual.address)
        (first,) = await until(pool, healthy(SERIAL, Health.NO_PERMISSION))
        usb.turn(phone, "unauthorized")
        await until(pool, healthy(SERIAL, Health.UNAUTHORIZED))
        usb.turn(phone, "device")
        (ready,) = await until(pool, healthy(SERIAL, Health.READY))
        assert (first.id, ready.id) == (SERIAL, virtual.state.identity.android_id)
        kept = pool.get(ready.id)
        for state in ("recovery", "sideload", "bootloader", "unauthorized", NO_PERMISSIONS, "offline"):
            usb.turn(phone, state)
            (info,) = await until(pool, healthy(SERIAL, STATES[state][0]))
            assert STATES[state][1] in info.reason
            assert (info.id, info.name) == (ready.id, ready.name)
            waiting = asyncio.create_task(pool.wait_for(ready.id, timeout=15))
            usb.turn(phone, "device")
            assert await waiting is kept
            assert (await until(pool, healthy(SERIAL, Health.READY)))[0].fix == ""
        usb.unplug(phone)
        (gone,) = await until(pool, healthy(SERIAL, Health.OFFLINE))
        assert "not attached" in gone.reason


async def test_asking_a_phone_whether_it_trusts_is_no_news_when_it_is_quick(usb: UsbServer) -> None:
    """Every plugging in passes through these states."""
    async with VirtualPhone(number=31) as virtual, pool_of(usb) as pool:
        phone = await usb.plug(SERIAL, state="offline", behind=virtual.address)
        usb.turn(phone, "authorizing")
        usb.turn(phone, "device")
        (info,) = await until(pool, bool)
        assert info.health is Health.READY


async def test_a_phone_without_permission_does_not_stand_in_the_way_of_another(usb: UsbServer) -> None:
    """adb then says "insufficient permissions" for every phone that it does not find, also one whose cable is out.

    Seen failing with that taken for what is wrong with the phone that was asked for: its run would have ended at once.
    """
    async with VirtualPhone(number=32) as virtual:
        phone = await usb.plug(SERIAL, behind=virtual.address)
        async with pool_of(usb) as pool:
            (info,) = await until(pool, healthy(SERIAL, Health.READY))
            used = pool.get(info.id)
            await usb.plug("OTHER", path="usb:1-2", state=NO_PERMISSIONS)
            await until(pool, healthy("OTHER", Health.NO_PERMISSION))
            usb.unplug(phone)
            with pytest.raises(PhoneGone) as gone:
                await used.observe()
            assert not gone.value.uncertain
            await usb.plug(SERIAL, behind=virtual.address)
            assert await pool.wait_for(info.id, timeout=15) is used


async def test_two_phones_with_one_serial_number_are_two_phones(usb: UsbServer) -> None:
    """As many cheap ones have it. Seen failing with the short list alone: neither could be used."""
    same = "0123456789ABCDEF"
    async with VirtualPhone(number=33) as one, VirtualPhone(number=34) as two:
        left = await usb.plug(same, path="usb:1-1", behind=one.address)
        async with pool_of(usb, serials=[same], fast_lane=True) as pool:
            (first,) = await until(pool, healthy(same, Health.READY))
            kept = pool.get(first.id)
            right = await usb.plug(same, path="usb:1-1.2", behind=two.address)
            infos = await until(pool, lambda infos: {info.serial for info in infos} == names(left, right))
            assert [info.health for info in infos] == [Health.READY] * 2
            assert {info.id for info in infos} == {one.state.identity.android_id, two.state.identity.android_id}
            assert pool.get(first.id) is kept, "it has another name at adb now, and is the same phone"
            assert usb.meant(same) == "more than one device", "adb does not guess"
            two.windows.launch("notes")
            looks = [await pool.get(info.id).observe() for info in sorted(infos, key=lambda info: info.id != first.id)]
            assert [look.package for look in looks] == ["com.android.launcher3", "org.example.notes"]
            await pool.get(infos[1].id).push("a.txt", b"a")
            two.files.write(JAR, (Path(uiautomator2.__file__).parent / "assets" / "u2.jar").read_bytes())
            other = pool.get(two.state.identity.android_id)
            await other.prepare()
            async with asyncio.timeout(15):
                while other.info.lane != "fast":
                    await asyncio.sleep(0)
            assert two.uiautomator.running
            assert not one.uiautomator.running, "the fast lane is that of the port, too"
            await other.restore()
            usb.unplug(left)
            infos = await until(pool, lambda infos: of(infos, same) is not None)
            there = of(infos, same)
            assert there is not None
            assert (there.id, there.health) == (two.state.identity.android_id, Health.READY)
            with pytest.raises(PhoneGone):
                pool.get(first.id)


def names(*phones: UsbPhone) -> set[str]:
    return {f"{phone.serial}@{phone.path}" for phone in phones}


async def test_a_phone_without_a_serial_number_is_called_by_its_port(usb: UsbServer) -> None:
    async with VirtualPhone(number=35) as virtual, pool_of(usb, serials=["usb:3-2"]) as pool:
        await usb.plug("", path="usb:3-2", behind=virtual.address)
        await usb.plug("OTHER", path="usb:3-3", state="offline")
        (info,) = await until(pool, bool)
        assert info.serial == "(no serial number)@usb:3-2"
        assert (await pool.get(info.id).observe()).image is not None


@pytest.fixture
async def shelf(adb_server: AdbServer) -> AsyncIterator[UsbServer]:
    """An adb server on another machine."""
    async with usb_server(adb_server, "127.0.0.2") as server:
        yield server


async def test_another_machine_goes_off_and_comes_back(usb: UsbServer, shelf: UsbServer) -> None:
    """Its phones are away meanwhile, and those of this machine work on."""
    async with VirtualPhone(number=36) as near, VirtualPhone(number=37) as far, pool_of(usb, shelf) as pool:
        await usb.plug("NEAR", behind=near.address)
        await shelf.plug("FAR", behind=far.address)
        await until(pool, lambda infos: [info.health for info in infos] == [Health.READY] * 2)
        here, there = near.state.identity.android_id, far.state.identity.android_id
        kept = pool.get(there)
        await shelf.go()
        infos = await until(pool, healthy("FAR", Health.OFFLINE))
        assert "not attached" in next(info.reason for info in infos if info.id == there)
        assert pool.servers_away == (shelf.address,)
        with pytest.raises(PhoneGone, match=r"server|attached"):
            await kept.observe()
        assert (await pool.get(here).observe()).image is not None
        await shelf.come()
        assert await pool.wait_for(there, timeout=20) is kept
        assert (await kept.observe()).image is not None
        assert not pool.servers_away


async def test_a_phone_that_is_carried_to_another_machine_is_the_same(usb: UsbServer, shelf: UsbServer) -> None:
    async with VirtualPhone(number=38) as virtual, pool_of(usb, shelf) as pool:
        phone = await usb.plug(SERIAL, behind=virtual.address)
        (info,) = await until(pool, healthy(SERIAL, Health.READY))
        kept = pool.get(info.id)
        usb.unplug(phone)
        await until(pool, healthy(SERIAL, Health.OFFLINE))
        await shelf.plug(SERIAL, path="usb:2-7", behind=virtual.address)
        assert await pool.wait_for(info.id, timeout=15) is kept
        assert (await kept.observe()).image is not None
        assert [(each.id, each.name) for each in pool.list()] == [(info.id, info.name)]
