"""The interface of the secrets store, which holds codes and passwords that people entered, in memory only, by the id of
the question.
"""

from __future__ import annotations

from typing import Protocol


class Secrets(Protocol):
    """Keeps secrets until they are typed; none survives the process. A secret's id is the `Answer.text` of the person's
    answer.
    """

    def take(self, secret: str) -> str | None:
        """Remove a secret and return its value. None if it is unknown, for example after a restart."""
        ...
