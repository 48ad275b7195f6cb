"""The names of phones: given by people, by the settings, or else derived from their model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from devices.errors import NameTaken
from devices.names import fit_name
from devices.phone import PhoneInfo


class NameBook(Protocol):
    """Stores the names of phones: those that people give, and default names."""

    async def names(self) -> Mapping[str, str]:
        """Return every stored name, by phone id."""

    async def keep(self, phone_id: str, name: str) -> None:
        """Store the name that a person gave to the phone."""

    async def usual(self) -> Mapping[str, str]:
        """Return the default names of phones that nobody has named, by phone id."""

    async def keep_usual(self, phone_id: str, name: str) -> None:
        """Store the phone's default name, used until somebody names it."""


class PhoneNames:
    """Gives each phone of a pool a unique name.

    `given` are names from the settings by id or serial; names in the `book` take precedence.
    """

    def __init__(self, given: Mapping[str, str], book: NameBook | None) -> None:
        self._given = dict(given)
        self._book = book
        self._chosen: dict[str, str] = {}
        self._usual: dict[str, str] = {}
        """Names made of the model: of two such phones each keeps its number, whichever is attached first."""

    async def load(self) -> None:
        """Load the stored names from the book."""
        if self._book is not None:
            self._chosen = dict(await self._book.names())
            self._usual = dict(await self._book.usual())

    def name_beside(self, phone_id: str, serial: str, model: str, used: set[str]) -> str:
        """Return a unique name for a phone: the given one, otherwise its model or serial, with a number if another
        phone has it. `used` are the casefolded names of the other phones.
        """
        given = self._given_to(phone_id, serial)
        usual = self._usual.get(phone_id, "")
        name = given or (usual if usual.startswith(model) else "") or model or serial
        # An absent phone keeps its name, but a name derived from its model yields to one that people gave.
        away = (self._chosen,) if given else (self._chosen, self._usual)
        kept = {each.casefold() for names in away for owner, each in names.items() if owner != phone_id}
        number, unique = 2, name
        while unique.casefold() in used or unique.casefold() in kept:
            unique, number = f"{name} {number}", number + 1
        return unique

    def _given_to(self, phone_id: str, serial: str) -> str:
        return self._chosen.get(phone_id) or self._given.get(phone_id) or self._given.get(serial) or ""

    async def remember(self, phone_id: str, serial: str, name: str, model: str) -> None:
        """Store a phone's default name (derived from its model), so that it keeps its number. Does nothing for other
        names.
        """
        made = model and name.startswith(model) and not self._given_to(phone_id, serial)
        if not made or self._usual.get(phone_id) == name:
            return
        self._usual[phone_id] = name
        if self._book is not None:
            await self._book.keep_usual(phone_id, name)

    async def give(self, phone_id: str, wish: str, others: Collection[PhoneInfo]) -> str:
        """Store a name that a person gives to a phone, and return it in its stored form. Raises NameUnfit, or
        NameTaken if it is another phone's name, id or serial.
        """
        name = fit_name(wish)
        folded = name.casefold()
        for other in others:
            if folded in {other.name.casefold(), other.id.casefold(), other.serial.casefold()}:
                raise NameTaken(f"{other.name} is called that already.")
        if any(folded == kept.casefold() for owner, kept in self._chosen.items() if owner != phone_id):
            raise NameTaken(f"A phone that is not attached is called {name}.")
        if self._book is not None:
            await self._book.keep(phone_id, name)
        self._chosen[phone_id] = name
        return name
