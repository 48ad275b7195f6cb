"""The hub's list of hosts: which have joined, what each has reported, whether it is reachable, and which computer each
phone belongs to.

A phone's name, tasks and remembered facts depend on its id, and any host can report any id. So an id stays with its
computer, even while that is away and across restarts; a report by another computer is a conflict and changes nothing.
A host is identified by its name, which an admin's invitation ties to a key.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from bot.fleet.bounds import Faults
from bot.fleet.engine import EngineAway, Link, steady_now
from bot.fleet.messages import MOST_PHONES, PRESENCE, SPEAKS, Patience, PhoneThere, Presence, Pulse, understands
from bot.store.fleet import FleetTable, KnownHost
from bot.texts import words
from devices.wording import Words

logger = logging.getLogger(__name__)


HERE: Final = ""
"""The hub's own computer, in place of a host's name."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two computers report a phone with this id: the `owner`, and the `claimant`, whose phone is ignored."""

    phone: str
    owner: str
    claimant: str

    @property
    def sentence(self) -> Words:
        """A sentence for people that says that two computers report this phone."""
        return words("fleet.conflict", phone=self.phone, owner=called(self.owner), claimant=called(self.claimant))

    @property
    def fix(self) -> Words:
        """A sentence for people that says what an admin can do about the conflict."""
        return words("fleet.conflict_fix", phone=self.phone, host=self.claimant)


def called(machine: str) -> str:
    """Return the name of a computer for a sentence: the host's name, or words for the hub's own computer."""
    return machine or words("fleet.here_machine")


class PhoneOwners:
    """Which computer owns each phone. Call `load` before use; `save` stores new owners.

    `conflicts` are the current conflicts, which `FleetPhones` sets.
    """

    def __init__(self, table: FleetTable) -> None:
        self._table = table
        self._owners: dict[str, str] = {}
        self._unsaved: dict[str, str] = {}
        self.conflicts: tuple[Conflict, ...] = ()

    async def load(self) -> None:
        """Load the owners. A phone that was known before there were hosts belongs to this computer."""
        self._owners = await self._table.phone_hosts()

    def of(self, phone: str) -> str | None:
        """Return the computer that the phone belongs to (a host's name, "" for the hub's own); None if it has no owner
        yet.
        """
        return self._owners.get(phone)

    def claim(self, phone: str, machine: str) -> bool:
        """Return whether the phone belongs to this computer. A phone without an owner belongs to it from now on, up to
        `MOST_PHONES` per host.
        """
        owner = self._owners.get(phone)
        if owner is None:
            if machine != HERE and sum(each == machine for each in self._owners.values()) >= MOST_PHONES:
                return False
            self._owners[phone] = self._unsaved[phone] = owner = machine
        return owner == machine

    @property
    def has_unsaved(self) -> bool:
        """Whether there are new owners that are not stored yet."""
        return bool(self._unsaved)

    async def save(self) -> None:
        """Store new owners. Raises StoreError; the next call then stores them."""
        unkept, self._unsaved = self._unsaved, {}
        if unkept:
            try:
                await self._table.keep_phone_hosts(unkept)
            except OSError:
                self._unsaved = unkept | self._unsaved
                raise

    async def move(self, phone: str, machine: str) -> None:
        """Assign the phone to this computer (a host's name, "" for the hub's own). Raises StoreError."""
        await self._table.keep_phone_hosts({phone: machine})
        self._unsaved.pop(phone, None)
        self._owners[phone] = machine


ECHOES: Final = 2
FORMER: Final = 50


@dataclass
class Host:
    """A host as the hub sees it now.

    - `known`: What is stored about it.
    - `presence`: Its last description of itself; None before the first.
    - `heard`: When it last sent something, in seconds of the hub's event loop.
    - `away`: Whether it is unreachable.
    - `lost`: Whether it has been away for so long that its tasks count as interrupted.
    """

    known: KnownHost
    presence: Presence | None = None
    heard: float | None = None
    away: bool = True
    lost: bool = False
    since: float = field(default_factory=steady_now)
    """When the host went away, in seconds of the hub's event loop."""
    reading: bool = False
    """Whether its presence is being loaded."""
    former: deque[str] = field(default_factory=lambda: deque(maxlen=FORMER))
    """Ids of its earlier starts (`Presence.boot`); a newer one has been heard since."""
    echoes: int = 0
    """How often an earlier start has sent something nevertheless."""

    @property
    def name(self) -> str:
        """The host's name."""
        return self.known.name

    @property
    def speaks(self) -> int | None:
        """The version of the message format that the host uses; None while unknown."""
        return None if self.presence is None else self.presence.speaks

    @property
    def usable(self) -> bool:
        """Whether the host can be given work now: it is reachable, not blocked, and its messages are understood."""
        known = self.presence is not None and understands(self.presence.speaks)
        return known and not self.away and not self.blocked

    @property
    def blocked(self) -> bool:
        """Whether the host's key is refused because two computers have used it."""
        return self.known.blocked is not None

    def phones(self) -> tuple[PhoneThere, ...]:
        """The phones that the host last reported."""
        return () if self.presence is None else self.presence.phones


class HostWatcher(Protocol):
    """Receives notifications about changes of hosts."""

    def host_changed(self, name: str) -> None:
        """Called when a host came, went away, restarted or has been away for too long."""

    def phones_changed(self) -> None:
        """Called when a host's phones have changed."""

    def key_copied(self, name: str) -> None:
        """Called when two computers use the key of this host."""


class Hosts(Mapping[str, Host]):
    """All admitted hosts by name. `watcher` is notified of changes; `faults` counts invalid messages."""

    def __init__(self, patience: Patience, watcher: HostWatcher, faults: Faults) -> None:
        self._patience = patience
        self._watcher = watcher
        self._faults = faults
        self._hosts: dict[str, Host] = {}

    def __getitem__(self, name: str) -> Host:
        return self._hosts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._hosts))

    def __len__(self) -> int:
        return len(self._hosts)

    def add(self, known: KnownHost) -> None:
        """Add a host, about whose state nothing is known yet. A blocked one is not waited for."""
        self._hosts[known.name] = Host(known, lost=known.blocked is not None)

    def remove(self, name: str) -> bool:
        """Remove a host. Returns False if there is none of this name."""
        host = self._hosts.pop(name, None)
        if host is not None:
            host.away = host.lost = True
        return host is not None

    def usable(self, name: str) -> bool:
        """Return whether there is a host of this name that can be given work now."""
        return name in self._hosts and self._hosts[name].usable

    @property
    def awaited(self) -> bool:
        """Whether any host is away but may come back soon."""
        return any(host.away and not host.lost for host in self._hosts.values())

    def note_heard(self, name: str) -> None:
        """Record that the host has just sent something; it is then no longer away, once its presence (description of
        itself) is known. Does nothing for a blocked or unknown host.
        """
        host = self._hosts.get(name)
        if host is None or host.blocked:
            return
        host.heard = steady_now()
        if host.away and host.presence is not None:
            host.away = host.lost = False
            logger.info("The host %s is there.", name)
            self._watcher.host_changed(name)

    async def note_pulse(self, link: Link, name: str, pulse: Pulse, *, greeted: bool) -> bool:
        """Process a host's sign of life, and load its presence (description of itself) if that is new.

        `greeted` says whether the host knows this start of the hub. Returns `greeted`, but False if the host is unknown
        or blocked, if its key seems to be copied, or if its presence could not be loaded.
        """
        host = self._hosts.get(name)
        if host is None or host.blocked or self._is_copied(host, pulse):
            return False
        if host.presence is None or (host.presence.boot, host.presence.number) != (pulse.boot, pulse.number):
            if host.reading:
                return False
            host.reading = True
            try:
                presence = await self._presence_of(link, name)
            finally:
                host.reading = False
            if presence is None or self._hosts.get(name) is not host:
                return False
            self._take_presence(host, presence)
        if greeted:
            self.note_heard(name)
        return greeted

    def _is_copied(self, host: Host, pulse: Pulse) -> bool:
        """Whether a former start has sent something again. One such message may be late; two mean a copied key."""
        if pulse.boot not in host.former:
            return False
        host.echoes += 1
        if host.echoes < ECHOES:
            return False
        self._watcher.key_copied(host.name)
        return True

    def block(self, name: str, *, now: float) -> None:
        """Refuse this host's key from now on, and treat its work as lost. `now` is in Unix seconds."""
        host = self._hosts[name]
        host.known = replace(host.known, blocked=now)
        host.away = host.lost = True
        self._watcher.host_changed(name)

    def _take_presence(self, host: Host, presence: Presence) -> None:
        anew = host.presence is not None and host.presence.boot != presence.boot
        if host.presence is not None and anew:
            host.former.append(host.presence.boot)
            while presence.boot in host.former:
                host.former.remove(presence.boot)
        host.presence = presence
        if not understands(presence.speaks):
            logger.warning(
                "The host %s uses protocol version %d and the hub %d. Update the older one.",
                host.name,
                presence.speaks,
                SPEAKS,
            )
        if anew and not host.away:
            self._watcher.host_changed(host.name)
        else:
            self._watcher.phones_changed()

    def look_who_is_away(self) -> None:
        """Mark hosts as away that have been silent for too long, and as lost if they stay away."""
        now = steady_now()
        for host in list(self._hosts.values()):
            if not host.away and host.heard is not None and now - host.heard > self._patience.away:
                host.away, host.since = True, now
                logger.warning("The host %s does not answer.", host.name)
                self._watcher.host_changed(host.name)
            elif host.away and not host.lost and now - host.since > self._patience.lost:
                host.lost = True
                self._watcher.host_changed(host.name)

    async def _presence_of(self, link: Link, name: str) -> Presence | None:
        try:
            return Presence.read(await link.get(PRESENCE, name))
        except ValueError as error:
            self._faults.note(name, f"its presence: {error}")
        except EngineAway as away:
            logger.debug("the presence of %s was not read: %s", name, away)
        return None
