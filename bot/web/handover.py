"""The note with which the command line finds a running service: address and token, readable by this user only."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devices.atomic_file import write_atomically

FILE = "console.json"


class Handover(BaseModel):
    """Where the console listens. `url` is without the token."""

    model_config = ConfigDict(frozen=True)

    url: str
    token: str = Field(repr=False)
    pid: int


def write(directory: Path, handover: Handover) -> None:
    """Write the note, readable by its owner only from the first byte. Blocks on the disk."""
    write_atomically(directory / FILE, handover.model_dump_json().encode())


def read(directory: Path) -> Handover | None:
    """The note of a running service; None when there is none or it cannot be read. Blocks on the disk.

    A service that was killed leaves its note behind: the caller finds out when nobody answers there.
    """
    try:
        return Handover.model_validate_json((directory / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def remove(directory: Path, handover: Handover) -> None:
    """Take the note away, unless another service has left its own since. Blocks on the disk."""
    if read(directory) == handover:
        (directory / FILE).unlink(missing_ok=True)
