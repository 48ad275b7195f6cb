"""Which machine each phone belongs to: the one that had it first, until an admin moves it.

What a phone is called, its tasks and what is remembered of it go by its id, and any host can tell any id. So an id
stays with its machine while that is away and over restarts; another machine that tells of it is a conflict, and gets
nothing. A host is its name: an admin's invitation binds that to a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.fleet.messages import MOST_PHONES
from bot.store.fleet import FleetTable
from bot.texts import words
from devices.wording import Words

HERE: Final = ""
"""The machine of the hub itself, in place of a host's name."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two machines have a phone with this id: the `owner`, and one that it does not count for."""

    phone: str
    owner: str
    claimant: str

    @property
    def sentence(self) -> Words:
        """What is wrong."""
        return words("fleet.conflict", phone=self.phone, owner=called(self.owner), claimant=called(self.claimant))

    @property
    def fix(self) -> Words:
        """What an admin can do about it."""
        return words("fleet.conflict_fix", phone=self.phone, host=self.claimant)


def called(machine: str) -> str:
    """A machine in a sentence."""
    return machine or words("fleet.here_machine")


class PhoneOwners:
    """`load` it before use; what is claimed is written down by `keep`. `conflicts` are those that there are now."""

    def __init__(self, table: FleetTable) -> None:
        self._table = table
        self._owners: dict[str, str] = {}
        self._unkept: dict[str, str] = {}
        self.conflicts: tuple[Conflict, ...] = ()

    async def load(self) -> None:
        """Read who has what. A phone that was known before there were hosts is of this machine."""
        self._owners = await self._table.phone_hosts()

    def of(self, phone: str) -> str | None:
        """The machine to which the phone belongs, None for one that nobody has had."""
        return self._owners.get(phone)

    def claim(self, phone: str, machine: str) -> bool:
        """Whether the phone belongs to this machine, as it does from now on if nobody has had it."""
        owner = self._owners.get(phone)
        if owner is None:
            if machine != HERE and sum(each == machine for each in self._owners.values()) >= MOST_PHONES:
                return False
            self._owners[phone] = self._unkept[phone] = owner = machine
        return owner == machine

    @property
    def unkept(self) -> bool:
        """Whether something was claimed that is not written down."""
        return bool(self._unkept)

    async def keep(self) -> None:
        """Write down what was claimed. Raises StoreError; then the next call does it."""
        unkept, self._unkept = self._unkept, {}
        if unkept:
            try:
                await self._table.keep_phone_hosts(unkept)
            except OSError:
                self._unkept = unkept | self._unkept
                raise

    async def move(self, phone: str, machine: str) -> None:
        """From now on the phone belongs to this machine. Raises StoreError."""
        await self._table.keep_phone_hosts({phone: machine})
        self._unkept.pop(phone, None)
        self._owners[phone] = machine
