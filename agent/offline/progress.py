"""Determines how far the offline pilot has come, from the memos and effects of its earlier steps, because it keeps
nothing itself. It also parses times of day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent.effect_facts import Answered, Effect, EffectUnseen, NothingChanged, NotWithin, ScreenChanged
from agent.scene import PastStep, StepFailure, StepStatus

REPEATABLE = frozenset(
    {
        *("open", "url", "back", "lookdown", "lookup", "keyboard", "settle"),
        *("wait", "blind", "loading", "note", "ask", "secret"),
    }
)
"""Stages (purposes of steps) that may be repeated if it is unknown whether the step was done: these steps change
nothing important, or ask again on their own.
"""
STEER, SURE = "steer", "sure"
"""Stages of the pilot's own questions: what a person's note means, and whether something has happened."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken for a clause: the clause's index (from 0), the purpose of the step (`stage`), and its
    result.
    """

    index: int
    stage: str
    status: StepStatus
    effects: tuple[Effect, ...]
    failure: StepFailure | None = None

    @property
    def worked(self) -> bool:
        """Whether the step was done as far as is known, and its effect is known."""
        return bool(self.effects) and self.status is StepStatus.DONE

    @property
    def moved(self) -> bool:
        """Whether the step was done and something on the screen changed."""
        return self.worked and not any(
            isinstance(fact, NothingChanged | NotWithin | EffectUnseen) for fact in self.effects
        )

    @property
    def denied(self) -> bool:
        """Whether a person denied the step or the policy refused it."""
        return self.status in {StepStatus.NOT_ALLOWED, StepStatus.REFUSED}

    @property
    def uncertain(self) -> bool:
        """Whether it is unknown if the step was done, because it was cut off or the phone did not confirm it."""
        if self.effects or self.status not in {StepStatus.DONE, StepStatus.INTERRUPTED}:
            return False
        return self.failure is None or self.failure.uncertain

    @property
    def answer(self) -> str:
        """The person's answer to the question of this step; "" if there is none."""
        return next((fact.text for fact in reversed(self.effects) if isinstance(fact, Answered)), "")


def memo_of(index: int, stage: str) -> dict[str, int | str]:
    """Return the memo to store with a step: the index of its clause (from 0) and its purpose."""
    return {"clause": index, "stage": stage}


def taken(past: Iterable[PastStep], yes: Iterable[str]) -> tuple[Taken, ...]:
    """Return the pilot's steps in order, read from the scene's past steps.

    If the pilot had to ask whether a step was done, the person's answer decides: `yes` are the answers that say so, and
    a step that was not done is left out.
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
    """Return the last answer that the person gave to a question of the pilot; "" if there is none."""
    return next((step.answer for step in reversed(tuple(steps)) if step.stage == "ask" and step.answer), "")


_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.：](?P<minute>\d{2})|点(?:(?P<spoken>\d{1,2})分?|(?P<half>半))?)?"
    r"\s*(?:(?P<half_day>[ap])\.?m\.?|o'clock)?",
    re.IGNORECASE,
)
_AFTERNOON = ("下午", "晚上")


def time_of_day(text: str, half_day: str = "") -> str:
    """Return a time of day as HH:MM on 24 hours; "" if the text is none. `half_day` is a Chinese word such as 下午
    (afternoon).
    """
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
