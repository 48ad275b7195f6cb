"""Virtual phones without an adb server keep the contract of the border, as the adb driver does."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from devices.virtual_phone.direct import DirectPhones
from devices.virtual_phone.phone import VirtualPhone
from tests.devices.contract import PhoneContract, Subject

pytestmark = pytest.mark.slow


@pytest.fixture
async def subject(virtual_time: None) -> AsyncIterator[Subject]:  # noqa: ARG001  # chooses the loop
    async with VirtualPhone() as virtual:
        phones = DirectPhones([virtual])
        await phones.start()
        phone = phones.get(phones.list()[0].id)
        await phone.prepare()
        yield Subject(phone, virtual)
        await phones.stop()


class TestDirectPhone(PhoneContract):
    """It keeps the contract."""
