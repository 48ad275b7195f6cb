"""Determines the pilot's progress from what it stored with its earlier steps (it keeps nothing itself) and their
effects; also parses times of day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent.effect_facts import Answered, Effect, EffectUnseen, NothingChanged, NotWithin, ScreenChanged
from agent.scene import PastStep, StepFailure, StepStatus

REPEATABLE = frozenset(
    {
        "open",
        "url",
        "back",
        "lookdown",
        "lookup",
        "keyboard",
        "settle",
        "wait",
        "blind",
        "loading",
        "note",
        "ask",
        "secret",
    }
)
"""Stages of steps that may be repeated if it is unknown whether they were done: they change nothing important, or ask
again on their own.
"""
STEER, SURE = "steer", "sure"
"""The pilot's own questions: what a person's note means, and whether something happened."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step taken for a clause (index from 0): its purpose, and what came of it."""

    index: int
    stage: str
    status: StepStatus
    effects: tuple[Effect, ...]
    failure: StepFailure | None = None

    @property
    def worked(self) -> bool:
        """Whether it was done as far as known, so that its effect is known."""
        return bool(self.effects) and self.status is StepStatus.DONE

    @property
    def moved(self) -> bool:
        """Whether something on the screen was different afterwards."""
        return self.worked and not any(
            isinstance(fact, NothingChanged | NotWithin | EffectUnseen) for fact in self.effects
        )

    @property
    def denied(self) -> bool:
        """Whether a person denied it or the policy refused it."""
        return self.status in {StepStatus.NOT_ALLOWED, StepStatus.REFUSED}

    @property
    def uncertain(self) -> bool:
        """Whether it may or may not have happened, because it was cut off or the phone did not confirm it."""
        if self.effects or self.status not in {StepStatus.DONE, StepStatus.INTERRUPTED}:
            return False
        return self.failure is None or self.failure.uncertain

    @property
    def answer(self) -> str:
        """The person's answer to it; "" if there is none."""
        return next((fact.text for fact in reversed(self.effects) if isinstance(fact, Answered)), "")


def memo_of(index: int, stage: str) -> dict[str, int | str]:
    """Return what is stored with a step; `index` counts from 0."""
    return {"clause": index, "stage": stage}


def taken(past: Iterable[PastStep], yes: Iterable[str]) -> tuple[Taken, ...]:
    """Return the pilot's steps, in order. If it had to ask whether one was done, the answer decides (`yes` are the
    answers that say so), and a step that was not done is left out.
    """
    steps: list[Taken] = []
    for step in past:
        index, stage = step.memo.get("clause"), step.memo.get("stage")
        if index is None or stage is None:
            continue
        now = Taken(index, stage, step.status, step.effects, step.failure)
        if stage == SURE and steps:
            cut = steps.pop()
            steps += [replace(cut, status=StepStatus.DONE, effects=(ScreenChanged(),))] if now.answer in yes else []
        else:
            steps.append(now)
    return tuple(steps)


def answer_of(steps: Iterable[Taken]) -> str:
    """Return the person's last answer; "" if there is none."""
    return next((step.answer for step in reversed(tuple(steps)) if step.stage == "ask" and step.answer), "")


_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.：](?P<minute>\d{2})|点(?:(?P<spoken>\d{1,2})分?|(?P<half>半))?)?"
    r"\s*(?:(?P<half_day>[ap])\.?m\.?|o'clock)?",
    re.IGNORECASE,
)
_AFTERNOON = ("下午", "晚上")


def time_of_day(text: str, half_day: str = "") -> str:
    """Return HH:MM on 24 hours; "" if the text is not a time of day. `half_day` is a Chinese word such as 下午."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return ""
    hour = int(found["hour"])
    minute = 30 if found["half"] else int(found["minute"] or found["spoken"] or 0)
    letter = (found["half_day"] or "").lower()
    if letter and not 1 <= hour <= 12:
        return ""
    if letter == "p" or half_day in _AFTERNOON:
        hour = hour if hour >= 12 else hour + 12
    elif letter == "a" and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else ""
