"""The suite: 74 tasks of 41 kinds, whose words, phones and answers come from a seed."""

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
    """The phone that a task begins on: `seed` shuffles its icons and rows, `change` puts things on it.

    `page` is a page of the hostile app that is in front, `dialog` a pop-up: its title, text and buttons. `slow` are
    the milliseconds for which pages of the browser load.
    """

    seed: int = 0
    locale: str = "en-US"
    dark: bool = False
    change: Change | None = None
    page: str = ""
    dialog: tuple[str, str, tuple[str, ...]] | None = None
    slow: int = 0


@dataclass(frozen=True)
class ComparisonTask:
    """One task; `number` counts from 1 in the suite."""

    number: int
    kind: str
    text: str
    need: Need
    wanted: Wanted
    phone: PhoneBefore
    person: Person


_ATTEMPTS: Final = 8
"""How often other words are looked for, so that two tasks of a kind are not the same one."""


def suite(seed: int) -> tuple[ComparisonTask, ...]:
    """All tasks of a seed, kind by kind: the same ones each time."""
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
    """So many of the tasks, from all over the suite; all of them where there are no more."""
    if count >= len(tasks):
        return tuple(tasks)
    return tuple(tasks[index * len(tasks) // count] for index in range(count))
