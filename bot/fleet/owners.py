"""Decides which computer each phone belongs to: the one that reported it first, until an admin moves it.

A phone's name, tasks and remembered facts depend on its id, and any host can report any id. So an id stays with its
computer, even while that is away and across restarts; a report by another computer is a conflict and changes nothing.
A host is identified by its name, which an admin's invitation ties to a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.fleet.messages import MOST_PHONES
from bot.store.fleet import FleetTable
from bot.texts import words
from devices.wording import Words

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
    """Which computer owns each phone. Call `load` before use; `keep` stores new owners.

    `conflicts` are the current conflicts, which `FleetPhones` sets.
    """

    def __init__(self, table: FleetTable) -> None:
        self._table = table
        self._owners: dict[str, str] = {}
        self._unkept: dict[str, str] = {}
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
            self._owners[phone] = self._unkept[phone] = owner = machine
        return owner == machine

    @property
    def unkept(self) -> bool:
        """Whether there are new owners that are not stored yet."""
        return bool(self._unkept)

    async def keep(self) -> None:
        """Store new owners. Raises StoreError; the next call then stores them."""
        unkept, self._unkept = self._unkept, {}
        if unkept:
            try:
                await self._table.keep_phone_hosts(unkept)
            except OSError:
                self._unkept = unkept | self._unkept
                raise

    async def move(self, phone: str, machine: str) -> None:
        """Assign the phone to this computer (a host's name, "" for the hub's own). Raises StoreError."""
        await self._table.keep_phone_hosts({phone: machine})
        self._unkept.pop(phone, None)
        self._owners[phone] = machine
