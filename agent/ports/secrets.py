"""Codes and passwords on their way from a person to a phone: in memory only, known by the id of their question."""

from __future__ import annotations

from typing import Protocol


class Secrets(Protocol):
    """Has values until they are typed. Nothing of it survives the process. Answer.text is the id of a secret."""

    def take(self, secret: str) -> str | None:
        """The value, removed from here; None when it is unknown, for instance after a restart."""
        ...
