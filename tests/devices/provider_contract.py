"""What every provider of phones must do, whatever their kind: the pool relies on it.

A provider's tests subclass `ProviderContract` and give it a fixture `provider`: made, not started, with one phone that
is there.
"""

from __future__ import annotations

import asyncio

import pytest

from devices.errors import NameTaken, NameUnfit, PhoneGone
from devices.phone import Health, PhoneInfo
from devices.provider import DeviceProvider

ELSEWHERE = PhoneInfo("elsewhere", "elsewhere", "Their phone", Health.READY)


@pytest.fixture
async def started(provider: DeviceProvider) -> DeviceProvider:
    await provider.start(lambda: [ELSEWHERE])
    return provider


class ProviderContract:
    """The tests. All go through the border of `devices.provider`."""

    async def test_nothing_is_there_before_the_start(self, provider: DeviceProvider) -> None:
        assert provider.list() == ()

    async def test_the_phone_is_listed_and_can_be_looked_at(self, started: DeviceProvider) -> None:
        (info,) = started.list()
        phone = started.get(info.id)
        assert phone.info == info
        assert info.health.usable
        assert started.away == 0
        assert (await phone.observe()).size.width > 0
        assert [each.id for each in await started.refresh()] == [info.id]

    async def test_an_unknown_phone_is_gone(self, started: DeviceProvider) -> None:
        with pytest.raises(PhoneGone):
            started.get("nobody")
        with pytest.raises(PhoneGone):
            await started.rename("nobody", "Name")
        with pytest.raises(PhoneGone):
            await started.wait_for("nobody", timeout=0.1)

    async def test_the_phone_is_there_when_it_is_waited_for(self, started: DeviceProvider) -> None:
        (info,) = started.list()
        assert (await started.wait_for(info.id, timeout=5)).info.id == info.id

    async def test_a_new_name_is_told(self, started: DeviceProvider) -> None:
        (info,) = started.list()
        told = asyncio.ensure_future(started.wait_for_change())
        await asyncio.sleep(0)
        assert (await started.rename(info.id, "Desk")).name == "Desk"
        await asyncio.wait_for(told, 5)
        assert [each.name for each in started.list()] == ["Desk"]

    async def test_a_name_of_another_providers_phone_is_taken(self, started: DeviceProvider) -> None:
        (info,) = started.list()
        with pytest.raises(NameTaken):
            await started.rename(info.id, ELSEWHERE.name.upper())
        with pytest.raises(NameUnfit):
            await started.rename(info.id, "-x")
        assert started.list()[0].name == info.name

    async def test_after_the_stop_it_may_be_stopped_again(self, started: DeviceProvider) -> None:
        await started.stop()
