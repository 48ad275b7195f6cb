"""Decides which machine each phone belongs to: the one that reported it first, until an admin moves it.

A phone's name, tasks and memory depend on its id, and any host can report any id. So an id stays with its machine, also
while that is away and across restarts; a report by another machine is a conflict and changes nothing. A host is
identified by its name, which an admin's invitation ties to a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.fleet.messages import MOST_PHONES
from bot.store.fleet import FleetTable
from bot.texts import words
from devices.wording import Words

HERE: Final = ""
"""The hub's own machine, in place of a host's name."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two machines report a phone with this id: the `owner`, and a `claimant` that is ignored."""

    phone: str
    owner: str
    claimant: str

    @property
    def sentence(self) -> Words:
        """A sentence that says what is wrong."""
        return words("fleet.conflict", phone=self.phone, owner=called(self.owner), claimant=called(self.claimant))

    @property
    def fix(self) -> Words:
        """A sentence that says what an admin can do about it."""
        return words("fleet.conflict_fix", phone=self.phone, host=self.claimant)


def called(machine: str) -> str:
    """Return what a machine is called in a sentence."""
    return machine or words("fleet.here_machine")


class PhoneOwners:
    """The owners of all phones. Call `load` before use; `keep` stores new claims. `conflicts` are the current ones."""

    def __init__(self, table: FleetTable) -> None:
        self._table = table
        self._owners: dict[str, str] = {}
        self._unkept: dict[str, str] = {}
        self.conflicts: tuple[Conflict, ...] = ()

    async def load(self) -> None:
        """Load the owners. A phone that was known before there were hosts belongs to this machine."""
        self._owners = await self._table.phone_hosts()

    def of(self, phone: str) -> str | None:
        """Return the machine that the phone belongs to, None if it was never claimed."""
        return self._owners.get(phone)

    def claim(self, phone: str, machine: str) -> bool:
        """Whether the phone belongs to this machine; an unclaimed phone does from now on."""
        owner = self._owners.get(phone)
        if owner is None:
            if machine != HERE and sum(each == machine for each in self._owners.values()) >= MOST_PHONES:
                return False
            self._owners[phone] = self._unkept[phone] = owner = machine
        return owner == machine

    @property
    def unkept(self) -> bool:
        """Whether there are claims that are not stored yet."""
        return bool(self._unkept)

    async def keep(self) -> None:
        """Store new claims. Raises StoreError, in which case the next call stores them."""
        unkept, self._unkept = self._unkept, {}
        if unkept:
            try:
                await self._table.keep_phone_hosts(unkept)
            except OSError:
                self._unkept = unkept | self._unkept
                raise

    async def move(self, phone: str, machine: str) -> None:
        """Assign the phone to this machine. Raises StoreError."""
        await self._table.keep_phone_hosts({phone: machine})
        self._unkept.pop(phone, None)
        self._owners[phone] = machine
