"""The order of icons, rows and results: seed 0 leaves it, another seed shuffles it the same way each time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def shuffled(things: Sequence[T], seed: int, name: str) -> list[T]:
    """A list in the order of this seed; `name` keeps lists of one phone apart."""
    copy = list(things)
    if seed:
        random.Random(f"{seed} {name}").shuffle(copy)  # noqa: S311  # a layout, no secret
    return copy
