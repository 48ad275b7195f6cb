"""What phones are called: by people, by the settings, else by their model."""

from __future__ import annotations

from collections.abc import Collection, Mapping


class PhoneNames:
    """The names of this pool's phones, no two the same. `given` is a name by id or serial."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = dict(given)

    def name_of(self, phone_id: str, serial: str, model: str, taken: Collection[str]) -> str:
        """The given name, else the model's, else the serial; with a number when another phone has it."""
        name = self._given.get(phone_id) or self._given.get(serial) or model or serial
        used = {each.casefold() for each in taken}
        number, unique = 2, name
        while unique.casefold() in used:
            unique, number = f"{name} {number}", number + 1
        return unique
