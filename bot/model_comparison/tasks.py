"""The suite of 74 tasks of 41 kinds, whose texts, phones and answers are drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.model_comparison.judging import Need, Wanted
from bot.model_comparison.kinds import KINDS, Change
from bot.model_comparison.made import Person


@dataclass(frozen=True)
class PhoneBefore:
    """The state of the virtual phone on which a task starts."""

    seed: int = 0
    """Shuffles icons and rows."""
    locale: str = "en-US"
    dark: bool = False
    change: Change | None = None
    """Puts items on the phone."""
    page: str = ""
    """A page of the hostile app, shown in the foreground; "" for none."""
    dialog: tuple[str, str, tuple[str, ...]] | None = None
    """Title, text and buttons of a pop-up."""
    slow: int = 0
    """Milliseconds that browser pages take to load."""


@dataclass(frozen=True)
class ComparisonTask:
    """One task of the suite. `number` counts from 1."""

    number: int
    kind: str
    text: str
    need: Need
    wanted: Wanted
    phone: PhoneBefore
    person: Person


_ATTEMPTS: Final = 8
"""How often another text is drawn to keep two tasks of a kind from being the same."""


def suite(seed: int) -> tuple[ComparisonTask, ...]:
    """Return all tasks of this seed, kind by kind. The same seed always gives the same tasks."""
    tasks: list[ComparisonTask] = []
    for kind, (maker, count) in KINDS.items():
        made_before: list[tuple[str, str]] = []
        for index in range(count):
            for attempt in range(_ATTEMPTS):
                rng = random.Random(f"{seed} {kind} {index} {attempt}")  # noqa: S311  # a choice of tasks, no secret
                made = maker(rng)
                words = made.text, str(made.before.get("page", ""))
                if words not in made_before:
                    break
            made_before.append(words)
            phone = PhoneBefore(
                seed=rng.randrange(1, 1000),
                locale="zh-CN" if made.chinese else "en-US",
                dark=rng.random() < 1 / 3,
                **made.before,
            )
            tasks.append(ComparisonTask(len(tasks) + 1, kind, made.text, made.need, made.wanted, phone, made.person))
    return tuple(tasks)


def sample(tasks: Sequence[ComparisonTask], count: int) -> tuple[ComparisonTask, ...]:
    """Return `count` tasks spread evenly over the suite, or all of them if there are not more."""
    if count >= len(tasks):
        return tuple(tasks)
    return tuple(tasks[index * len(tasks) // count] for index in range(count))
