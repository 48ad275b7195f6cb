"""Tiers: how much somebody may use in a day, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

NAME: Final = r"^[a-z][a-z0-9_-]{0,30}$"
"""The pattern of a tier's name, which is typed in commands and used in settings."""
Number = Annotated[int, Field(ge=0)]


class Tier(BaseModel):
    """The most that the tasks of one person and day may take together; None is no limit, 0 nothing at all."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    tasks: Number | None = None
    steps: Number | None = None
    tokens: Number | None = None
    """In and out together."""
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """In the currency of the prices. A model without a price costs nothing here."""


QUOTAS: Final = tuple(Tier.model_fields)
"""What a tier limits, in the order in which it is told."""


def smallest(given: Iterable[str], tiers: Mapping[str, Tier]) -> str:
    """The tier that counts if a person has several: the first in `tiers`, "" if they have none.

    A tier that is no longer defined comes first, so that removing its definition gives nobody more.
    """
    return min(given, key=_places(tiers), default="")


def largest(given: Iterable[str], tiers: Mapping[str, Tier]) -> str:
    """The tier that counts if a person has several through roles: the last in `tiers`, "" if they have none."""
    return max(given, key=_places(tiers), default="")


def _places(tiers: Mapping[str, Tier]) -> Callable[[str], int]:
    places = {name: place for place, name in enumerate(tiers)}
    return lambda name: places.get(name, -1)
