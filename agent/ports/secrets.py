"""Codes and passwords on their way from a person to a phone: in memory only, known by an opaque id."""

from __future__ import annotations

from typing import Protocol


class Secrets(Protocol):
    """Keeps values until they are typed. Nothing of it survives the process."""

    def keep(self, value: str) -> str:
        """Take a value and return the id under which it can be had once."""
        ...

    def take(self, secret: str) -> str | None:
        """The value, removed from here; None when it is unknown, for instance after a restart."""
        ...
