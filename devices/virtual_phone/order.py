"""The order of icons, rows and results: seed 0 keeps it, any other seed shuffles it reproducibly."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def shuffled(things: Sequence[T], seed: int, name: str) -> list[T]:
    """Return a copy of the list, shuffled by this seed (0: not at all). Lists with different names are shuffled
    differently.
    """
    copy = list(things)
    if seed:
        random.Random(f"{seed} {name}").shuffle(copy)  # noqa: S311  # a layout, no secret
    return copy
