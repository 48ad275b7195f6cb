"""Saves the phone's state as JSON, atomically, and loads it."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from devices.simulator.files import File
from devices.simulator.state import PhoneState

logger = logging.getLogger(__name__)


@with_config(ConfigDict(ser_json_bytes="base64", val_json_bytes="base64"))
@dataclass(slots=True)
class Document:
    """Everything that outlives the process."""

    state: PhoneState
    files: dict[str, File] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)


ADAPTER = TypeAdapter(Document)


def save(path: Path, data: bytes) -> None:
    """Writes a document so that a crash leaves the old or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(path)


def load(path: Path) -> Document | None:
    """The saved document; None when there is none or it cannot be read (it is then kept aside)."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return ADAPTER.validate_json(data)
    except ValidationError:
        aside = path.with_suffix(".broken")
        path.replace(aside)
        logger.warning("the state of a virtual phone could not be read; kept as %s, starting afresh", aside.name)
        return None
