"""The provider of phones over adb: follows the adb servers, tracks their phones, and recovers one after it was
unplugged.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from devices.adb.connection import Connection
from devices.adb.driver import AdbPhone
from devices.adb.following import DeviceTracker, Link
from devices.adb.links import SILENT, dialled, health_of, known_as
from devices.adb.server import ServerAddress
from devices.errors import PhoneError, PhoneGone, PhoneTaken, PhoneUnavailable
from devices.phone import Health, Phone, PhoneInfo
from devices.pool.checks import HEALTH_EVERY, HealthPoller, handshake, id_of
from devices.pool.names import NameBook, PhoneNames
from devices.pool.virtual_phones import VirtualFallback, VirtualPhones
from devices.virtual import StartedPhone
from devices.wording import words

logger = logging.getLogger(__name__)

SERVER_LOOK = 6.0
"""Seconds that `start` waits for the adb servers to list their phones; a server start took 3 s with USB."""

FIRST_LOOK = 2.0
"""Seconds that `start` then waits for all phones' answers together; they take 0.2 to 1 s."""

RETRY = 1.0
"""Seconds after which an awaited phone that does not answer is asked again."""


STAND_IN_AFTER = 60.0
"""Seconds after which a virtual phone replaces a real one that is gone; cables come loose and phones restart."""


class AdbPhones:
    """All phones over adb. Implements `devices.provider.DeviceProvider`. `start` must be called before use, `stop`
    after it.

    - `serials`: If not empty, the only phones to use. Those of the form `host:port` are connected by the first server
      that reaches them.
    - `names`: Names of phones by id or serial.
    - `book`: Stores names given by people.
    - `aliases`: Names of apps for their packages (name → package).
    - `virtual`: The number of virtual phones, or "auto": one if no real phone is attached at the start, no serial is
      given and no other provider has a phone. That one is hidden while a real phone is attached, and for
      `stand_in_after` seconds afterwards.
    - `virtual_state`: Folder for the state of virtual phones.
    - `mends`: Whether settings that a crashed run left on a phone are restored. Only the process that leases the
      phones may do that.
    - `fast_lane`: Whether uiautomator2's server is used on real phones during a run (`devices.adb.fastlane`).
    - `health_every`: Seconds between two checks of a phone.
    - `may_send`: Inputs are sent only while this returns True.
    """

    def __init__(
        self,
        servers: Sequence[ServerAddress] = (ServerAddress(),),
        *,
        serials: Collection[str] = (),
        names: Mapping[str, str] | None = None,
        book: NameBook | None = None,
        aliases: Mapping[str, str] | None = None,
        virtual: VirtualPhones = "auto",
        virtual_state: Path | None = None,
        mends: bool = False,
        fast_lane: bool = False,
        health_every: float = HEALTH_EVERY,
        stand_in_after: float = STAND_IN_AFTER,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        self._serials = frozenset(serials)
        self._names = PhoneNames(names or {}, book)
        self._aliases = dict(aliases or {})
        self._mends = mends
        self._fast_lane = fast_lane
        self._may_send = may_send
        self._phones: dict[str, AdbPhone] = {}
        self._links: dict[Link, str] = {}
        """The phone's id behind every link that works now."""
        self._owners: dict[Link, str] = {}
        """The phone's id behind every link that ever worked."""
        self._tracker = DeviceTracker(servers, self._attached, self._lost)
        self._poller = HealthPoller(self._working, self._notify, health_every)
        self._fallback = VirtualFallback(virtual, virtual_state, servers[0], self._tracker)
        self._change = asyncio.Event()
        self._real: set[Link] = set()
        """The links to real phones that are there now."""
        self._fallback_timer: asyncio.TimerHandle | None = None
        self._stand_in_after = stand_in_after
        self._list_others: Callable[[], Sequence[PhoneInfo]] = tuple

    async def start(self, others: Callable[[], Sequence[PhoneInfo]] = tuple) -> None:
        """Start following the servers. Returns once the attached phones are known or after a time limit; slower phones
        are added when they answer.
        """
        self._list_others = others
        await self._names.load()
        networked = frozenset(serial for serial in self._serials if dialled(serial))
        for serial in networked:
            self._tracker.dialer.expect(serial)
        self._tracker.start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SERVER_LOOK):
                await self._tracker.listed()
        try:
            async with asyncio.timeout(FIRST_LOOK):
                await asyncio.gather(self._tracker.wait_until_reported(), self._wait_until_attached(networked))
        except TimeoutError:
            logger.info("some phones did not answer within %.0f s; they are added when they do", FIRST_LOOK)
        await self._fallback.start(alone=not self._serials and not self._real and not others())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SERVER_LOOK):
                await self._wait_until_attached(self._fallback.serials)
        self._poller.start()

    async def stop(self) -> None:
        """Stop what `start` began. The adb servers keep running, as other programs use them."""
        if self._fallback_timer is not None:
            self._fallback_timer.cancel()
        await self._poller.stop()
        for phone in self._phones.values():
            await phone.close()
        await self._fallback.disconnect()
        await self._tracker.stop()
        await self._fallback.stop()

    @property
    def virtual_phones(self) -> tuple[StartedPhone, ...]:
        """The virtual phones started here, with the addresses of their control interfaces."""
        return self._fallback.phones

    @property
    def servers_away(self) -> tuple[ServerAddress, ...]:
        """The adb servers that do not answer at the moment."""
        return self._tracker.away

    @property
    def away(self) -> int:
        """The number of servers (such as adb servers or hosts) that may have phones but do not answer at the
        moment. See `DeviceProvider.away`.
        """
        return len(self.servers_away)

    def list(self) -> tuple[PhoneInfo, ...]:
        """Implements `Phones.list`. A virtual phone that replaces a real one is left out while a real one
        is attached.
        """
        hidden = self._fallback.hidden(bool(self._real) or self._fallback_timer is not None)
        return tuple(phone.info for phone in self._phones.values() if not (hidden and phone.info.virtual))

    def get(self, phone_id: str) -> Phone:
        """Return the phone with this stable id. See `Phones.get`."""
        phone = self._phones.get(phone_id)
        if phone is not None and self._works(phone):
            return phone
        why = words("phone.error.named", name=self._called(phone_id), why=self._why_away(phone_id))
        if phone is not None and phone.info.health in {Health.UNAUTHORIZED, Health.NO_PERMISSION}:
            raise PhoneUnavailable(why, uncertain=False)
        raise PhoneGone(why, uncertain=False)

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        """Check every phone again within a time limit and return the new list. See `Phones.refresh`."""
        await self._poller.ask_all()
        return self.list()

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        """Give this phone a new name that survives a restart. See `Phones.rename`."""
        phone = self._phones.get(phone_id)
        if phone is None:
            raise PhoneGone(words("phone.error.unknown", id=phone_id), uncertain=False)
        given = await self._names.give(phone_id, name, self._others(phone_id))
        phone.set_info(dataclasses.replace(phone.info, name=given))
        self._notify()
        return phone.info

    async def wait_for_change(self) -> None:
        """Wait until any phone appears, disappears or changes its health. See `Phones.wait_for_change`."""
        await self._change.wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        """Implements `Phones.wait_for`. The phone is asked in any case, because lost links are noticed late."""
        links = {serial for (_, serial), owner in self._owners.items() if owner == phone_id}
        try:
            with self._tracker.dialer.awaited(links):
                async with asyncio.timeout(timeout):
                    return await self._wait_until_usable(phone_id)
        except TimeoutError:
            name, why = self._called(phone_id), self._why_away(phone_id)
            late = words("phone.error.not_back", name=name, seconds=f"{timeout:.0f}", why=why)
            raise PhoneGone(late, uncertain=False) from None

    # Reports of the servers.

    async def _attached(self, link: Link) -> None:
        virtual = link[1] in self._fallback.serials
        if self._wanted(link[1], link[1]):
            self._add_real(link, virtual=virtual)
        identity = await handshake(link, lambda reason: self._silent(link, reason))
        phone_id = await id_of(identity, link, self._phones, self._works)
        if not self._wanted(link[1], phone_id):
            return
        if phone_id != link[1]:
            self._phones.pop(link[1], None)  # it was listed under its serial until it could be identified
        phone = self._phones.get(phone_id)
        if phone is None:
            phone = self._add(link, phone_id, identity.model, virtual=virtual)
        elif not self._works(phone):
            phone.attach(Connection(*link))  # a link of the same name is new too
        self._links[link] = self._owners[link] = phone_id
        self._add_real(link, virtual=virtual)
        phone.update_identity(identity)
        await self._names.remember(phone_id, link[1], phone.info.name, identity.model)
        logger.info("phone %s is attached as %s", phone.info.name, link[1])
        self._notify()
        if self._mends:
            await self._begin_with(phone, kept=identity.kept != ())

    def _lost(self, link: Link, state: str) -> None:
        phone_id = self._owners.get(link, link[1])
        if not self._wanted(link[1], phone_id):
            return
        self._links.pop(link, None)
        if not state:
            self._remove_real(link)
        phone = self._phones.get(phone_id)
        if phone is None and not state:
            return
        phone = phone or self._add(link, phone_id, "")
        if not state and link not in self._owners:
            del self._phones[phone_id]  # it was never usable and is now gone: nothing to remember
        elif _link(phone) == link:
            other = next((each for each, owner in self._links.items() if owner == phone_id), None)
            if other is not None:
                phone.attach(Connection(*other))  # such as Wi-Fi, when the cable is out
            else:
                health, reason, fix = health_of(state, link[1])
                phone.set_info(dataclasses.replace(phone.info, health=health, reason=reason, fix=fix))
                logger.info("phone %s: %s", phone.info.name, reason)
        self._notify()

    def _add_real(self, link: Link, *, virtual: bool) -> None:
        if virtual:
            return
        self._real.add(link)
        if self._fallback_timer is not None:
            self._fallback_timer.cancel()
            self._fallback_timer = None

    def _remove_real(self, link: Link) -> None:
        """Bring the virtual phone back once the last real one has been gone for a while."""
        if link not in self._real:
            return
        self._real.remove(link)
        if not self._real:
            self._fallback_timer = asyncio.get_running_loop().call_later(self._stand_in_after, self._show_fallback)

    def _show_fallback(self) -> None:
        self._fallback_timer = None
        self._notify()

    def _silent(self, link: Link, reason: str) -> None:
        phone_id = self._owners.get(link, link[1])
        if not self._wanted(link[1], phone_id):
            return
        phone = self._phones.get(phone_id) or self._add(link, phone_id, "")
        if not self._works(phone):
            phone.set_info(dataclasses.replace(phone.info, health=Health.SILENT, reason=reason, fix=SILENT))
            self._notify()

    async def _begin_with(self, phone: AdbPhone, *, kept: bool) -> None:
        """Check whether a crashed run left settings on the phone, or another service is using it."""
        try:
            if not kept:
                await phone.check_ownership()
            elif await phone.restore_leftovers():
                logger.info("phone %s has its own settings again: a run that crashed had left its own", phone.info.name)
        except PhoneTaken as taken:
            logger.warning("phone %s: %s", phone.info.name, taken)
        except PhoneError as failed:
            logger.warning("The settings that a run changed on %s could not be restored: %s", phone.info.name, failed)

    def _add(self, link: Link, phone_id: str, model: str, *, virtual: bool = False) -> AdbPhone:
        used = {each.name.casefold() for each in self._others(phone_id)}
        name = self._names.name_beside(phone_id, link[1], model, used)
        info = PhoneInfo(phone_id, link[1], name, Health.OFFLINE, virtual=virtual)
        phone = self._phones[phone_id] = AdbPhone(
            Connection(*link),
            info,
            self._aliases,
            fast_lane=self._fast_lane and not virtual,
            may_send=self._may_send,
        )
        return phone

    def _others(self, phone_id: str) -> Sequence[PhoneInfo]:
        own = [phone.info for each, phone in self._phones.items() if each != phone_id]
        return [*own, *self._list_others()]

    def _working(self) -> Sequence[AdbPhone]:
        return [phone for phone in self._phones.values() if self._works(phone)]

    def _works(self, phone: AdbPhone) -> bool:
        return self._links.get(_link(phone)) == phone.info.id

    def _wanted(self, serial: str, phone_id: str) -> bool:
        named = self._serials & {phone_id, *known_as(serial)}
        return not self._serials or bool(named) or serial in self._fallback.serials

    async def _wait_until_usable(self, phone_id: str) -> AdbPhone:
        while True:
            phone = self._phones.get(phone_id)
            if phone is not None and self._works(phone):
                await self._poller.ask(phone)
                if phone.info.health.usable:
                    return phone
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RETRY):
                    await self._change.wait()

    def _why_away(self, phone_id: str) -> str:
        phone = self._phones.get(phone_id)
        if phone is None or phone.info.health.usable:
            return words("phone.away.reason")
        return words("phone.error.state", reason=phone.info.reason, fix=phone.info.fix)

    def _called(self, phone_id: str) -> str:
        phone = self._phones.get(phone_id)
        return phone.info.name if phone else phone_id

    def _notify(self) -> None:
        """Wake everyone waiting for a change; later callers wait for the next one."""
        self._change.set()
        self._change = asyncio.Event()

    async def _wait_until_attached(self, serials: frozenset[str]) -> None:
        """Wait until all of these are attached: adb lists a phone a moment after connecting it."""
        while not serials <= {serial for _, serial in self._links}:
            await self._change.wait()


def _link(phone: AdbPhone) -> Link:
    return phone.connection.address, phone.connection.serial
