"""The note with which the command line finds a running service: address and token, readable only by this user."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devices.atomic_file import write_atomically

FILE = "console.json"


class Handover(BaseModel):
    """Where the console listens. `url` does not contain the token."""

    model_config = ConfigDict(frozen=True)

    url: str
    token: str = Field(repr=False)
    pid: int


def write(directory: Path, handover: Handover) -> None:
    """Write the note, which is never readable by others. Blocks on the disk."""
    write_atomically(directory / FILE, handover.model_dump_json().encode())


def read(directory: Path) -> Handover | None:
    """Read the note of a running service; None if there is none or it cannot be read. Blocks on the disk.

    A killed service leaves its note behind, so the caller must be prepared for no answer.
    """
    try:
        return Handover.model_validate_json((directory / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def remove(directory: Path, handover: Handover) -> None:
    """Delete the note, unless another service has replaced it. Blocks on the disk."""
    if read(directory) == handover:
        (directory / FILE).unlink(missing_ok=True)
