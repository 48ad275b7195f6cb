"""The words in the two tables beside this module, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from pydantic import BaseModel, ConfigDict


class Labels(BaseModel):
    """labels.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    same: tuple[tuple[str, ...], ...]
    switches: tuple[str, ...]
    around_before: tuple[str, ...]
    around_after: tuple[str, ...]
    fields: dict[str, tuple[str, ...]]
    buttons: dict[str, tuple[str, ...]]
    apps: dict[str, tuple[str, ...]]
    signs: dict[str, tuple[str, ...]]


@cache
def labels() -> Labels:
    """Names of the same thing, kinds of fields and buttons, signs on screens."""
    return Labels.model_validate(table("labels.toml"))


def table(name: str) -> dict[str, Any]:
    """A table of this package, as it is written."""
    return tomllib.loads(resources.files("agent.models.offline").joinpath(name).read_text(encoding="utf-8"))
