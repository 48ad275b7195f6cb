"""A kind of phones as another package would bring it: one phone in memory, whose files cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.config.settings import Settings
from devices.errors import NameTaken, PhoneGone
from devices.names import fit_name
from devices.phone import Capabilities, Phone, PhoneInfo
from devices.pool import NameBook
from devices.provider import DeviceProvider
from tests.fakes.instant_phone import InstantPhone


class ToyPhones:
    """Implements `devices.provider.DeviceProvider`."""

    def __init__(self) -> None:
        self.away = 0
        self._phone = InstantPhone()
        self._others: Callable[[], Sequence[PhoneInfo]] = tuple
        self._there = False
        self._change = asyncio.Event()

    async def start(self, others: Callable[[], Sequence[PhoneInfo]] = tuple) -> None:
        self._others = others
        self._phone.info = replace(
            self._phone.info, id="toy-1", serial="toy-1", name="Toy", capabilities=Capabilities(files=False)
        )
        self._there = True

    async def stop(self) -> None:
        self._there = False

    def list(self) -> tuple[PhoneInfo, ...]:
        return (self._phone.info,) if self._there else ()

    def get(self, phone_id: str) -> Phone:
        if not self._there or phone_id != self._phone.info.id:
            raise PhoneGone("There is no such toy.", uncertain=False)
        return self._phone

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        return self.list()

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        self.get(phone_id)
        if any(name.casefold() == each.name.casefold() for each in self._others()):
            raise NameTaken(f"{name} is taken.")
        self._phone.info = replace(self._phone.info, name=fit_name(name))
        self._change.set()
        self._change = asyncio.Event()
        return self._phone.info

    async def wait_for_change(self) -> None:
        await self._change.wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        del timeout
        return self.get(phone_id)


def make(settings: Settings, book: NameBook | None) -> DeviceProvider:
    del settings, book
    return ToyPhones()
