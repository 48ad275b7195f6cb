"""Where the work is, read from the pilot's own earlier thoughts (it keeps nothing), and times of day as people write
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent.effect_facts import Answered, Effect, EffectUnseen, NothingChanged, NotWithin
from agent.scene import PastStep
from devices.wording import Words

_MARK = re.compile(r"(?P<index>\d+)/\d+ (?P<stage>[a-z]+): ")
_ALSO = "also: "


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken for a clause (index from 0): what it was for, and what came of it."""

    index: int
    stage: str
    did: tuple[str, ...]
    effect: tuple[Effect, ...]

    @property
    def worked(self) -> bool:
        """Whether it was done as far as is known; what came of it is then known."""
        return bool(self.effect) and not self._says("did.not_done", "did.interrupted", "did.interrupted_before")

    @property
    def moved(self) -> bool:
        """Whether something on the screen was different afterwards."""
        return self.worked and not any(
            isinstance(fact, NothingChanged | NotWithin | EffectUnseen) for fact in self.effect
        )

    @property
    def denied(self) -> bool:
        """Whether a person or the policy did not allow it."""
        return self._says("did.not_allowed", "did.refused")

    @property
    def uncertain(self) -> bool:
        """Whether it may or may not have happened."""
        return self._says("did.interrupted")

    def _says(self, *kinds: str) -> bool:
        return any(isinstance(each, Words) and each.kind in kinds for each in self.did)


def mark(index: int, total: int, stage: str, say: str, also: Iterable[str] = ()) -> str:
    """The thought of a step; `index` counts from 0. `also` are notes of the person that now belong to the task."""
    return "\n".join([f"{index + 1}/{total} {stage}: {say}", *(f"{_ALSO}{' '.join(note.split())}" for note in also)])


def taken(past: Iterable[PastStep]) -> tuple[Taken, ...]:
    """The steps that the pilot took, in order."""
    steps = [(step, _MARK.match(step.thought)) for step in past]
    return tuple(
        Taken(int(found["index"]) - 1, found["stage"], step.did, step.effect) for step, found in steps if found
    )


def added(past: Iterable[PastStep]) -> tuple[str, ...]:
    """What the person added while the work went on, in order."""
    lines = [line for step in past for line in step.thought.splitlines() if line.startswith(_ALSO)]
    return tuple(line.removeprefix(_ALSO) for line in lines)


def answer_of(steps: Iterable[Taken]) -> str:
    """The person's last answer, "" when there is none."""
    answers = [fact.text for step in steps if step.stage == "ask" for fact in step.effect if isinstance(fact, Answered)]
    return answers[-1] if answers else ""


_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.：](?P<minute>\d{2})|点(?:(?P<spoken>\d{1,2})分?|(?P<half>半))?)?"
    r"\s*(?:(?P<half_day>[ap])\.?m\.?|o'clock)?",
    re.IGNORECASE,
)
_AFTERNOON = ("下午", "晚上")


def time_of_day(text: str, half_day: str = "") -> str:
    """HH:MM on 24 hours, "" when the text is no time of day. `half_day` is a Chinese word such as 下午."""
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
