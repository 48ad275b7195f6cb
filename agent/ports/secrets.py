"""The interface of the secrets store: codes and passwords from a person, in memory only, by their question's id."""

from __future__ import annotations

from typing import Protocol


class Secrets(Protocol):
    """Keeps secrets until they are typed. None survives the process. `Answer.text` is a secret's id."""

    def take(self, secret: str) -> str | None:
        """Remove a secret and return its value; None if it is unknown, for instance after a restart."""
        ...
