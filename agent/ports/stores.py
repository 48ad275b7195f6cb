"""The interfaces of the small stores that a run needs: of pictures and files, of entered secrets, and of translations
of a recorded skill's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel

from agent.wording import Spoken


class Frames(Protocol):
    """A content-addressed store for pictures and files."""

    async def save(self, data: bytes, *, suffix: str) -> str:
        """Store bytes and return their reference, such as `sha256.jpg`. Equal bytes get the same reference."""

    async def load(self, reference: str) -> bytes:
        """Return the stored bytes. Raises KeyError if they were never stored or retention has deleted them."""


class GivenFile(BaseModel, frozen=True):
    """A file that came with a task. `content` is a reference to the stored bytes (see `Frames`), and `name` is
    the file's name on the phone.
    """

    name: str
    content: str


class FileLost(Spoken):
    """A file that came with the task is no longer stored."""

    def __init__(self, name: str) -> None:
        super().__init__("file.lost", name=name)


class Secrets(Protocol):
    """Keeps secrets until they are typed; none survives the process. A secret's id is the `Answer.text` of the person's
    answer.
    """

    def take(self, secret: str) -> str | None:
        """Remove a secret and return its value. None if it is unknown, for example after a restart."""


class SkillNames(Protocol):
    """Stores translations by skill and locale. A translation only changes what is searched for, and never makes
    anything else be touched.
    """

    async def names(self, skill: str, locale: str) -> dict[str, str]:
        """Return the translations of a skill's recorded words (casefolded) for this locale; empty if there are none."""

    async def keep_names(self, skill: str, locale: str, names: Mapping[str, str]) -> None:
        """Replace the translations of this skill and locale; an empty mapping deletes them."""
