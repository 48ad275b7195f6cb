"""Lists the settings for display. Secrets, and values that may contain one, are reduced to whether they are set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from bot.config.settings import Settings

Kind = Literal["value", "secret", "entries", "address", "unset"]
_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?(?P<host>[^/?#\s]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """One setting in the form in which it may be displayed."""

    name: str
    kind: Kind
    text: str
    """The value; "" for a secret, only the host of an address, and the number of entries of a list."""
    default: bool
    """Whether the setting was not set, so that this is its default."""


def shown(settings: Settings) -> tuple[Shown, ...]:
    """Return every setting in the form for display, in the order of the settings class."""
    return tuple(
        _shown(name.upper(), getattr(settings, name), default=name not in settings.model_fields_set)
        for name in type(settings).model_fields
    )


def _shown(name: str, value: object, *, default: bool) -> Shown:
    if isinstance(value, SecretStr):
        return Shown(name, "secret" if value.get_secret_value() else "unset", "", default)
    if value is None or value == "":
        return Shown(name, "unset", "", default)
    if isinstance(value, tuple | list | Mapping):
        return Shown(name, "entries" if value else "unset", str(len(value)) if value else "", default)
    if isinstance(value, bool):
        return Shown(name, "value", str(value).lower(), default)
    if isinstance(value, Path):
        return Shown(name, "value", str(value), default)
    if (address := _HOST.match(str(value))) is not None:
        # The path or user of an address can be a key.
        return Shown(name, "address", address["host"], default)
    return Shown(name, "value", str(value), default)
