"""All phones of all adb servers: which are there, how they are, and getting one back after its cable was out."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from devices.adb.connection import Connection
from devices.adb.driver import AdbPhone
from devices.adb.following import Following, Link
from devices.adb.identity import Identity, identify
from devices.adb.presence import health_of
from devices.adb.server import ServerAddress
from devices.adb.shell import Shell
from devices.errors import PhoneError, PhoneGone
from devices.phone import Health, Phone, PhoneInfo
from devices.simulator.process import SimulatedPhone, SimulatorFailed, SimulatorProcess

logger = logging.getLogger(__name__)

FIRST_LOOK = 6.0
"""Seconds that `start` waits for the phones that are attached already: a server start and a question to each."""

NETWORK_LOOK = 3.0
"""Seconds that `start` waits for the named phones on the network: adb connects one in milliseconds, or not at all."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds before a phone that does not answer is asked again, doubled each time."""

RETRY = 1.0
"""Seconds after which a phone that is waited for and does not answer is asked again."""

VirtualPhones = Literal["auto"] | int


class AdbPhones:
    """Implements `devices.phone.Phones`. `start` before use, `stop` after it.

    `names` gives phones their names by id or serial; `serials`, when not empty, are the only phones that are used, and
    those of the form `host:port` are connected to. `aliases` are names of apps, name → package.
    `virtual` is the number of virtual phones, or "auto": one, if no real phone is attached at the start and no serial
    is named; it is not offered any more once a real phone has been seen. They remember what was done on them in
    `virtual_state`.
    """

    def __init__(
        self,
        servers: Sequence[ServerAddress] = (ServerAddress(),),
        *,
        serials: Collection[str] = (),
        names: Mapping[str, str] | None = None,
        aliases: Mapping[str, str] | None = None,
        virtual: VirtualPhones = "auto",
        virtual_state: Path | None = None,
    ) -> None:
        self._servers = tuple(servers)
        self._serials = frozenset(serials)
        self._names = dict(names or {})
        self._aliases = dict(aliases or {})
        self._virtual = virtual
        self._virtual_state = virtual_state
        self._simulator: SimulatorProcess | None = None
        self._virtual_serials: frozenset[str] = frozenset()
        self._phones: dict[str, AdbPhone] = {}
        self._links: dict[Link, str] = {}
        """The phone's id behind every link that works now."""
        self._owners: dict[Link, str] = {}
        """The phone's id behind every link that ever worked."""
        self._following = Following(self._servers, self._attached, self._lost)
        self._change = asyncio.Event()
        self._real_seen = False

    async def start(self) -> None:
        """Follows the servers from now on; returns when the phones that are attached are known, or after a while."""
        for serial in self._serials:
            if ":" in serial:
                self._following.expect((self._servers[0], serial))
        self._following.start()
        try:
            async with asyncio.timeout(FIRST_LOOK):
                await self._following.first_lists()
        except TimeoutError:
            logger.info("some phones did not answer within %.0f s; they are added when they do", FIRST_LOOK)
        await self._seen(frozenset(serial for serial in self._serials if ":" in serial), NETWORK_LOOK)
        wanted = self._virtual
        if wanted == "auto":
            wanted = 0 if self._serials or self._real_seen else 1
        if wanted:
            await self._start_virtual(wanted)

    async def stop(self) -> None:
        """Ends what `start` began; the adb servers go on, they belong to everybody."""
        if self._simulator is not None:
            for serial in self._virtual_serials:
                await self._following.disconnect((self._servers[0], serial))
        await self._following.stop()
        if self._simulator is not None:
            await self._simulator.stop()
            self._simulator = None

    @property
    def virtual_phones(self) -> tuple[SimulatedPhone, ...]:
        """The virtual phones that were started here, with the addresses of their controls."""
        return self._simulator.phones if self._simulator else ()

    def list(self) -> tuple[PhoneInfo, ...]:
        """See `Phones.list`. A virtual phone that stood in for a real one is left out once a real one was seen."""
        infos = (phone.info for phone in self._phones.values())
        return tuple(info for info in infos if not (info.virtual and self._virtual == "auto" and self._real_seen))

    def get(self, phone_id: str) -> Phone:
        """See `Phones.get`."""
        phone = self._phones.get(phone_id)
        if phone is None or not self._works(phone):
            name = phone.info.name if phone else phone_id
            raise PhoneGone(f"The phone {name} is not attached.", uncertain=False)
        return phone

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        """See `Phones.refresh`."""
        await asyncio.gather(*(self._refresh(phone) for phone in self._phones.values() if self._works(phone)))
        return self.list()

    async def wait_for_change(self) -> None:
        """See `Phones.wait_for_change`."""
        await self._change.wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        """See `Phones.wait_for`."""
        try:
            async with asyncio.timeout(timeout):
                while True:
                    phone = self._phones.get(phone_id)
                    if phone is not None and self._works(phone):
                        if not phone.info.health.usable:
                            await self._refresh(phone)  # it did not answer when it was asked last
                        if phone.info.health.usable:
                            return phone
                    await self._news_or(RETRY)
        except TimeoutError:
            name = self._phones[phone_id].info.name if phone_id in self._phones else phone_id
            raise PhoneGone(f"The phone {name} did not come back within {timeout:.0f} s.", uncertain=False) from None

    # What the servers tell.

    async def _attached(self, link: Link) -> None:
        identity = await _identity(link)
        phone_id = identity.android_id or link[1]
        if not self._wanted(link[1], phone_id):
            return
        self._links[link] = self._owners[link] = phone_id
        virtual = link[1] in self._virtual_serials
        self._real_seen = self._real_seen or not virtual
        if phone_id != link[1]:
            self._phones.pop(link[1], None)  # it was known by its serial while it could not be asked
        phone = self._phones.get(phone_id)
        if phone is None:
            phone = self._add(link, phone_id, identity.model, virtual=virtual)
        elif not self._works(phone):
            phone.attach(Connection(*link))
        phone.learn(identity)
        logger.info("phone %s is attached as %s", phone.info.name, link[1])
        self._tell()

    def _lost(self, link: Link, state: str) -> None:
        phone_id = self._owners.get(link, link[1])
        if not self._wanted(link[1], phone_id):
            return
        self._links.pop(link, None)
        phone = self._phones.get(phone_id)
        if phone is None:
            if not state:
                return
            phone = self._add(link, phone_id, "")
        if not state and link not in self._owners:
            del self._phones[phone_id]  # it never could be used, and now it is away: nothing to remember
        elif _link(phone) == link:
            other = next((each for each, owner in self._links.items() if owner == phone_id), None)
            if other is not None:
                phone.attach(Connection(*other))  # such as Wi-Fi, when the cable is out
            else:
                health, reason, fix = health_of(state)
                phone.note(dataclasses.replace(phone.info, health=health, reason=reason, fix=fix))
                logger.info("phone %s: %s", phone.info.name, reason)
        self._tell()

    def _add(self, link: Link, phone_id: str, model: str, *, virtual: bool = False) -> AdbPhone:
        name = self._name(phone_id, link[1], model)
        info = PhoneInfo(phone_id, link[1], name, Health.OFFLINE, virtual=virtual)
        phone = self._phones[phone_id] = AdbPhone(Connection(*link), info, self._aliases)
        return phone

    def _works(self, phone: AdbPhone) -> bool:
        return self._links.get(_link(phone)) == phone.info.id

    def _wanted(self, serial: str, phone_id: str) -> bool:
        return not self._serials or bool(self._serials & {serial, phone_id}) or serial in self._virtual_serials

    async def _refresh(self, phone: AdbPhone) -> None:
        before = phone.info
        try:
            await phone.refresh()
        except PhoneError as failed:
            logger.info("%s could not be asked: %s", before.name, failed)
            health, _, fix = health_of("offline")
            phone.note(dataclasses.replace(phone.info, health=health, reason=str(failed), fix=fix))
        if (before.health, before.reason) != (phone.info.health, phone.info.reason):
            self._tell()

    async def _news_or(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._change.wait()

    def _tell(self) -> None:
        """Wakes everybody who waits for a change; whoever waits later waits for the next one."""
        self._change.set()
        self._change = asyncio.Event()

    def _name(self, phone_id: str, serial: str, model: str) -> str:
        """The given name, else the model's, else the serial; with a number when another phone has it."""
        name = self._names.get(phone_id) or self._names.get(serial) or model or serial
        taken = {phone.info.name for phone in self._phones.values()}
        number = 2
        unique = name
        while unique in taken:
            unique, number = f"{name} {number}", number + 1
        return unique

    async def _start_virtual(self, number: int) -> None:
        self._simulator = SimulatorProcess(count=number, state=self._virtual_state)
        try:
            phones = await self._simulator.start()
        except SimulatorFailed as failed:
            logger.error("%s", failed)  # noqa: TRY400  # its message says all; the real phones are served all the same
            return
        self._virtual_serials = frozenset(phone.address for phone in phones)
        for serial in sorted(self._virtual_serials):
            await self._following.connect((self._servers[0], serial))
        await self._seen(self._virtual_serials, FIRST_LOOK)

    async def _seen(self, serials: frozenset[str], seconds: float) -> None:
        """Returns when all of these are attached, or after so long: adb lists a phone a moment after connecting it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not serials <= {phone.info.serial for phone in self._phones.values()}:
                    await self._change.wait()


async def _identity(link: Link) -> Identity:
    """Asks until the phone answers: one that just booted takes a while."""
    shell, pause = Shell(Connection(*link)), FIRST_PAUSE
    while True:
        try:
            return await identify(shell)
        except PhoneError as shy:
            logger.info("%s does not answer yet: %s", link[1], shy)
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 2)


def _link(phone: AdbPhone) -> Link:
    return phone.connection.address, phone.connection.serial
