"""The note by which the command line finds a running service: address and token, for this user only."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

FILE = "console.json"


class Handover(BaseModel):
    """Where the console listens. `url` is without the token."""

    model_config = ConfigDict(frozen=True)

    url: str
    token: str = Field(repr=False)
    pid: int


def write(directory: Path, handover: Handover) -> None:
    """Leave the note, readable by the owner alone from its first byte on. Blocks on the disk."""
    path = directory / FILE
    fresh = path.with_name(f".{FILE}.{handover.pid}")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(handover.model_dump(), file)
    fresh.replace(path)


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
