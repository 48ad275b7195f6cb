from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uiautomator2

from devices.adb.links import health_of
from devices.adb.preparation import STAY_ON
from devices.adb.server import ServerAddress
from devices.errors import PhoneGone, PhoneUnavailable
from devices.phone import Health, Phone, PhoneInfo
from devices.pool import AdbPhones
from devices.pool.phones import FIRST_LOOK
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.uiautomator_server import JAR
from tests.fixtures.adb import AdbServer

Infos = tuple[PhoneInfo, ...]


@asynccontextmanager
async def pool_on(adb_server: AdbServer, **options: object) -> AsyncIterator[AdbPhones]:
    given = {"virtual": 0, **options}
    pool = AdbPhones([ServerAddress(adb_server.host, adb_server.port)], **given)  # type: ignore[arg-type]  # of tests
    await pool.start()
    try:
        yield pool
    finally:
        await pool.stop()


@pytest.fixture(autouse=True)
async def alone(adb_server: AdbServer) -> None:
    """What other tests left attached to the server is let go of."""
    await adb_server.ask("host:disconnect:", 5)


async def until(pool: AdbPhones, wanted: Callable[[Infos], bool], timeout: float = 15.0) -> Infos:
    try:
        async with asyncio.timeout(timeout):
            while not wanted(pool.list()):
                await pool.wait_for_change()
    except TimeoutError:
        raise AssertionError(f"the phones are {pool.list()}") from None
    return pool.list()


def of(infos: Infos, serial: str) -> PhoneInfo | None:
    return next((info for info in infos if info.serial == serial), None)


def healthy(serial: str, health: Health) -> Callable[[Infos], bool]:
    return lambda infos: (found := of(infos, serial)) is not None and found.health is health


async def test_a_phone_that_is_attached_is_known_after_the_start(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        async with pool_on(adb_server, serials=[phone.address], names={phone.address: "Desk"}) as pool:
            (info,) = pool.list()
            assert (info.serial, info.name, info.health, info.virtual) == (phone.address, "Desk", Health.READY, False)
            assert pool.get(info.id).info == info
            assert await pool.refresh() == (info,)
        await adb_server.disconnect(phone.address)


async def test_a_named_network_address_is_connected(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone, pool_on(adb_server, serials=[phone.address]) as pool:
        assert [info.serial for info in pool.list()] == [phone.address], "known as soon as the start is over"
        await until(pool, healthy(phone.address, Health.READY))
        await adb_server.disconnect(phone.address)


async def test_others_than_the_named_ones_are_left_alone(adb_server: AdbServer) -> None:
    """Seen failing with `_wanted` always true."""
    async with VirtualPhone(number=1) as one, VirtualPhone(number=2) as two:
        await adb_server.connect(one.address)
        await adb_server.connect(two.address)
        async with pool_on(adb_server, serials=[two.address]) as pool:
            assert [info.serial for info in pool.list()] == [two.address]
            before = len(one.journal.inputs())
            await pool.refresh()
            assert len(one.journal.inputs()) == before
        await adb_server.disconnect(one.address)
        await adb_server.disconnect(two.address)


async def test_out_and_in_again_is_the_same_phone(adb_server: AdbServer) -> None:
    async with VirtualPhone() as virtual, pool_on(adb_server, serials=[virtual.address]) as pool:
        (info,) = await until(pool, healthy(virtual.address, Health.READY))
        phone = pool.get(info.id)
        await virtual.set_link(LinkState.GONE)
        (lost,) = await until(pool, healthy(virtual.address, Health.OFFLINE))
        assert lost.reason
        assert lost.fix
        with pytest.raises(PhoneGone):
            pool.get(info.id)
        with pytest.raises(PhoneGone, match="come back"):
            await pool.wait_for(info.id, timeout=0.05)
        waiting = asyncio.create_task(pool.wait_for(info.id, timeout=20))
        await virtual.set_link(LinkState.OPEN)
        await adb_server.connect(virtual.address)
        assert await waiting is phone
        assert (await phone.observe()).image is not None
        await adb_server.disconnect(virtual.address)


async def test_a_flutter_of_the_link_is_not_told(adb_server: AdbServer) -> None:
    async with VirtualPhone() as virtual, pool_on(adb_server, serials=[virtual.address]) as pool:
        (info,) = await until(pool, healthy(virtual.address, Health.READY))
        told: list[Health] = []

        async def listen() -> None:
            while True:
                await pool.wait_for_change()
                told.extend(each.health for each in pool.list())

        listening = asyncio.create_task(listen())
        await adb_server.disconnect(virtual.address)
        await adb_server.connect(virtual.address)
        await pool.wait_for(info.id, timeout=5)
        await asyncio.wait([listening], timeout=1.2)  # longer than the debounce
        listening.cancel()
        assert not {Health.OFFLINE, Health.SILENT} & set(told)
        await adb_server.disconnect(virtual.address)


async def test_an_unauthorized_phone_says_what_to_do_and_becomes_ready(adb_server: AdbServer) -> None:
    async with VirtualPhone() as virtual:
        await virtual.set_link(LinkState.UNAUTHORIZED)
        async with pool_on(adb_server, serials=[virtual.address]) as pool:
            (info,) = await until(pool, healthy(virtual.address, Health.UNAUTHORIZED))
            assert "Allow USB debugging" in info.fix
            with pytest.raises(PhoneUnavailable, match="Allow USB debugging"):
                pool.get(info.id)
            await virtual.set_link(LinkState.OPEN)
            await adb_server.disconnect(virtual.address)
            await adb_server.connect(virtual.address)
            (info,) = await until(pool, healthy(virtual.address, Health.READY))
            assert not info.fix
            await adb_server.disconnect(virtual.address)


async def test_without_a_real_phone_a_virtual_one_stands_in_and_does_so_again(adb_server: AdbServer) -> None:
    async with pool_on(adb_server, virtual="auto", stand_in_after=0.0) as pool:
        (info,) = pool.list()
        assert info.virtual
        assert info.health is Health.READY
        assert [phone.address for phone in pool.virtual_phones] == [info.serial]
        assert (await pool.get(info.id).observe()).image is not None
        async with VirtualPhone(number=7) as real:
            await adb_server.connect(real.address)
            await until(pool, healthy(real.address, Health.READY))
            assert [each.virtual for each in pool.list()] == [False]
            assert pool.get(info.id).info.virtual  # a run that is on it goes on
            await adb_server.disconnect(real.address)
            back = await until(pool, lambda infos: any(each.virtual for each in infos))
            assert [each.health for each in back if each.virtual] == [Health.READY]
    assert info.serial not in await adb_server.states()


async def test_a_cable_that_comes_loose_brings_no_virtual_phone(adb_server: AdbServer) -> None:
    async with pool_on(adb_server, virtual="auto") as pool, VirtualPhone(number=7) as real:
        await adb_server.connect(real.address)
        await until(pool, healthy(real.address, Health.READY))
        await adb_server.disconnect(real.address)
        (gone,) = await until(pool, lambda infos: of(infos, real.address) is None or not infos[0].health.usable)
        assert not gone.virtual


async def test_as_many_virtual_phones_as_are_asked_for(adb_server: AdbServer, tmp_path: Path) -> None:
    async with pool_on(adb_server, virtual=2, virtual_state=tmp_path / "phones") as pool:
        infos = pool.list()
        assert [info.virtual for info in infos] == [True, True]
        assert [info.name for info in infos] == ["Virtual Phone", "Virtual Phone 2"]
        assert len({info.id for info in infos}) == 2


async def test_two_links_to_one_phone_are_one_phone(adb_server: AdbServer) -> None:
    """Such as its cable and its Wi-Fi: when one goes, the other is used."""
    async with VirtualPhone(number=3) as one, VirtualPhone(number=3) as other:
        other.boot_id = one.boot_id
        async with pool_on(adb_server, serials=[one.address, other.address]) as pool:
            async with asyncio.timeout(15):
                while set(await adb_server.states()) != {one.address, other.address}:
                    await pool.wait_for_change()
            (info,) = pool.list()
            await adb_server.disconnect(info.serial)
            await until(pool, lambda infos: infos[0].serial != info.serial)
            assert pool.get(info.id).info.health is Health.READY
            assert (await pool.get(info.id).observe()).image is not None
        await adb_server.disconnect(one.address)
        await adb_server.disconnect(other.address)


async def test_a_phone_that_hangs_is_silent_after_a_refresh(adb_server: AdbServer) -> None:
    async with VirtualPhone(number=4) as virtual, pool_on(adb_server, serials=[virtual.address]) as pool:
        (info,) = await until(pool, healthy(virtual.address, Health.READY))
        virtual.state.battery = 3
        virtual.state.locked = True
        assert (await pool.refresh())[0].health is Health.LOCKED
        virtual.faults.set(hang="*")
        (info,) = await pool.refresh()
        assert info.health is Health.SILENT
        assert "took too long" in info.reason or "in time" in info.reason
        virtual.faults.set(hang="")
        assert (await pool.wait_for(info.id, timeout=5)).info.health is Health.LOCKED
        await adb_server.disconnect(virtual.address)


async def test_an_unknown_phone(adb_server: AdbServer) -> None:
    async with pool_on(adb_server, serials=["none"]) as pool:
        assert pool.list() == ()
        with pytest.raises(PhoneGone):
            pool.get("none")
        with pytest.raises(PhoneGone):
            await pool.wait_for("none", timeout=0.05)


@pytest.mark.parametrize(
    ("state", "health"),
    [
        ("", Health.OFFLINE),
        ("offline", Health.OFFLINE),
        ("recovery", Health.OFFLINE),
        ("authorizing", Health.OFFLINE),
        ("unauthorized", Health.UNAUTHORIZED),
        ("no permissions (missing udev rules? user is in the plugdev group); see [http://x]", Health.NO_PERMISSION),
    ],
)
def test_every_state_of_a_link_has_a_reason_and_a_fix(state: str, health: Health) -> None:
    found, reason, fix = health_of(state, "R58M12ABCDE")
    assert found is health
    assert reason.endswith(".")
    assert fix.endswith(".")


async def test_a_phone_that_hangs_delays_nobody_and_is_told(adb_server: AdbServer) -> None:
    async with VirtualPhone(number=11) as quick, VirtualPhone(number=12) as slow:
        slow.faults.set(hang="*")
        await adb_server.connect(quick.address)
        began = asyncio.get_running_loop().time()
        async with pool_on(adb_server, serials=[quick.address, slow.address]) as pool:
            assert asyncio.get_running_loop().time() - began < FIRST_LOOK + 2
            assert healthy(quick.address, Health.READY)(pool.list())
            infos = await until(pool, healthy(slow.address, Health.SILENT))
            assert "not answered" in (of(infos, slow.address) or infos[0]).reason
            slow.faults.set(hang="")
            infos = await until(pool, healthy(slow.address, Health.READY))
            assert len(infos) == 2, "its serial alone is not listed any more"
        for each in (quick, slow):
            await adb_server.disconnect(each.address)


async def test_health_is_asked_again_while_nobody_looks(adb_server: AdbServer) -> None:
    async with VirtualPhone(number=15) as virtual:
        async with pool_on(adb_server, serials=[virtual.address], health_every=0.2) as pool:
            await until(pool, healthy(virtual.address, Health.READY))
            virtual.windows.lock("1234")
            await until(pool, healthy(virtual.address, Health.LOCKED))
            virtual.state.locked, virtual.state.battery, virtual.state.charging = False, 9, False
            (info,) = await until(pool, healthy(virtual.address, Health.LOW_BATTERY))
            assert (info.battery, info.reason) == (9, "The battery is at 9 %.")
        await adb_server.disconnect(virtual.address)


async def test_a_phone_that_a_crashed_run_left_gets_its_settings_back(adb_server: AdbServer) -> None:
    """Seen failing without the call of `_mend`: the broadcast keyboard stayed."""
    async with VirtualPhone(number=16) as virtual:
        before = {table: dict(values) for table, values in virtual.state.settings.items()}
        async with pool_on(adb_server, serials=[virtual.address]) as pool:
            (info,) = await until(pool, healthy(virtual.address, Health.READY))
            await pool.get(info.id).prepare()  # and nobody restores it
        left = virtual.state.settings["secure"]["default_input_method"]
        assert left != before["secure"]["default_input_method"]
        async with pool_on(adb_server, serials=[virtual.address]) as pool:
            await until(pool, healthy(virtual.address, Health.READY))
            assert virtual.state.settings["secure"]["default_input_method"] == left, "only who gives out phones mends"
        async with pool_on(adb_server, serials=[virtual.address], mends=True) as pool:
            await until(pool, healthy(virtual.address, Health.READY))
            await virtual.journal.wait_for(
                lambda entry: entry.argv[:2] == ("settings", "delete") and entry.argv[-1] == STAY_ON.kept_as
            )
            await pool.refresh()  # that command is over, too
        for table in ("system", "global"):
            assert virtual.state.settings[table] == before[table]
        assert virtual.state.settings["secure"]["default_input_method"] == before["secure"]["default_input_method"]
        await adb_server.disconnect(virtual.address)


async def test_a_phone_that_comes_back_within_a_run_stays_prepared(adb_server: AdbServer) -> None:
    """Seen failing with `Preparation.mend` restoring whatever it finds."""
    async with VirtualPhone(number=17) as virtual:
        async with pool_on(adb_server, serials=[virtual.address], mends=True) as pool:
            (info,) = await until(pool, healthy(virtual.address, Health.READY))
            phone = pool.get(info.id)
            await phone.prepare()
            await virtual.set_link(LinkState.GONE)
            await until(pool, healthy(virtual.address, Health.OFFLINE))
            await virtual.set_link(LinkState.OPEN)
            await pool.wait_for(info.id, timeout=20)
            await phone.prepare()  # takes its turn after whatever mends
            assert not [entry for entry in virtual.journal.entries if entry.argv[:2] == ("settings", "delete")]
            await phone.restore()
        await adb_server.disconnect(virtual.address)


async def test_the_fast_lane_comes_back_with_the_link(adb_server: AdbServer) -> None:
    """Seen failing with a link of the same name taken for the one that was lost: the run went on by plain adb."""
    async with VirtualPhone(number=18) as virtual:
        virtual.files.write(JAR, (Path(uiautomator2.__file__).parent / "assets" / "u2.jar").read_bytes())
        async with pool_on(adb_server, serials=[virtual.address], fast_lane=True) as pool:
            (info,) = await until(pool, healthy(virtual.address, Health.READY))
            phone = pool.get(info.id)
            await phone.prepare()
            await in_lane(phone, "fast")
            await virtual.set_link(LinkState.GONE)
            await until(pool, healthy(virtual.address, Health.OFFLINE))
            await virtual.set_link(LinkState.OPEN)
            await pool.wait_for(info.id, timeout=20)
            async with asyncio.timeout(60):
                while not (await phone.observe()).elements:
                    pass  # a busy machine may be too slow for the first
            await in_lane(phone, "fast")
            assert virtual.uiautomator.running
            await phone.restore()
        await adb_server.disconnect(virtual.address)


async def in_lane(phone: Phone, lane: str) -> None:
    """Waits until the phone is worked with that way: nobody is told of it."""
    async with asyncio.timeout(15):
        while phone.info.lane != lane:
            await asyncio.sleep(0.01)
