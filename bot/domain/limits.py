"""Limits of the service: tiers (named daily quotas of what one person may use), and the defaults of how long and how
much data is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

NAME: Final = r"^[a-z][a-z0-9_-]{0,30}$"
"""The pattern of a tier's name, which is typed in commands and used in settings."""
Number = Annotated[int, Field(ge=0)]


class Tier(BaseModel):
    """The most that the tasks of one person may use in one day. None is no limit, 0 is nothing at all."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    tasks: Number | None = None
    steps: Number | None = None
    tokens: Number | None = None
    """Input and output tokens together."""
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """In the currency of the prices. A model without a price costs nothing here."""


QUOTAS: Final = tuple(Tier.model_fields)
"""The names of the limits, in the order in which they are shown."""


def smallest(given: Iterable[str], tiers: Mapping[str, Tier]) -> str:
    """Return the tier that counts if a person has several: the one that is first in `tiers`, "" if they have none.

    A tier that is no longer defined counts as the first, so that removing its definition gives nobody more.
    """
    return min(given, key=_places(tiers), default="")


def largest(given: Iterable[str], tiers: Mapping[str, Tier]) -> str:
    """Return the tier that counts if a person has several through roles: the one that is last in `tiers`, "" if they
    have none.
    """
    return max(given, key=_places(tiers), default="")


def _places(tiers: Mapping[str, Tier]) -> Callable[[str], int]:
    places = {name: place for place, name in enumerate(tiers)}
    return lambda name: places.get(name, -1)


KEEP_DAYS: Final = 14.0
"""Days for screenshots and files."""
KEEP_GIGABYTES: Final = 2.0
"""GiB of them; the oldest go first."""
KEEP_TASKS_DAYS: Final = 90.0
"""Days for the steps, questions and messages of a task, counted from its end."""
GIBIBYTE: Final = 1024**3

LITTLE_ROOM: Final = 500 * 1024 * 1024
"""Bytes of free disk below which a warning is given. A task of 60 steps keeps up to 20 MB of pictures."""
