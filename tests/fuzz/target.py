"""What a target is, and how it is hunted.

By hypothesis alone: its strategies know the grammars, and it shrinks what it finds. Guidance by coverage (atheris)
gains little in parsers this small, and comes as wheels for fewer machines than the program runs on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, TypeVar

from hypothesis import HealthCheck, Phase, example, given, seed, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

LONGEST = 3.0
"""Seconds of processor time for one input: none that fits a message may keep the loop for longer."""


@dataclass(frozen=True)
class Target(Generic[T]):
    """Input, and what must hold for each: `opened` gives the check, which fails by raising anything.

    `found` are inputs that once failed. `brief` is how many inputs the ordinary tests try.
    """

    name: str
    inputs: SearchStrategy[T]
    opened: Callable[[], AbstractContextManager[Callable[[T], None]]]
    found: tuple[T, ...] = ()
    brief: int = 60

    def hunt(self, check: Callable[[T], None], number: int, tries: int, *, regressions: bool = True) -> None:
        """Tries so many inputs, the same for the same number. Raises with the smallest input that fails."""

        @seed(number)
        @settings(
            max_examples=tries,
            deadline=None,
            database=None,
            phases=(Phase.explicit, Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(self.inputs)
        def one(value: T) -> None:
            began = time.process_time()
            check(value)
            took = time.process_time() - began
            assert took < LONGEST, f"{took:.1f} s for one input"

        hunted = one
        for value in self.found if regressions else ():
            hunted = example(value)(hunted)
        hunted()


def batches(seconds: float, first: int, clock: Callable[[], float] = time.monotonic) -> Iterator[int]:
    """Numbers for hunts, one after the other, until the time is over; at least one."""
    end = clock() + seconds
    number = first
    while number == first or clock() < end:
        yield number
        number += 1
