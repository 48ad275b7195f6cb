"""The handover file, through which the command line finds a running service: it contains address and token, and only
this user can read it.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devices.atomic_file import write_atomically

FILE = "console.json"


class Handover(BaseModel):
    """The contents of the handover file. `url` is where the console listens; it does not contain the token."""

    model_config = ConfigDict(frozen=True)

    url: str
    token: str = Field(repr=False)
    pid: int


def write(directory: Path, handover: Handover) -> None:
    """Write the handover file, which others can never read. Blocks on the disk."""
    write_atomically(directory / FILE, handover.model_dump_json().encode())


def read(directory: Path) -> Handover | None:
    """Read the handover file of a running service. None if there is none or it cannot be read. Blocks on the disk.

    A service that was killed leaves its file behind, so the caller must expect that nobody answers at the address.
    """
    try:
        return Handover.model_validate_json((directory / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def remove(directory: Path, handover: Handover) -> None:
    """Delete the handover file, unless another service has replaced it. Blocks on the disk."""
    if read(directory) == handover:
        (directory / FILE).unlink(missing_ok=True)
