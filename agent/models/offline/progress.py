"""The pilot keeps nothing: where it is stands in its own earlier thoughts, such as "2/3 search: Searching for tea"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent.scene import PastStep

_MARK = re.compile(r"(?P<index>\d+)/\d+ (?P<stage>[a-z]+): ")
_ALSO = "also: "
_ANSWER = "answer: "
_SEGMENTS = " · "
_UNCHANGED = "nothing visible changed"
_NOT_SO = "not so within"
_UNSEEN = "could not be seen"


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken for a clause (index from 0): what it was for, and what came of it."""

    index: int
    stage: str
    did: str
    effect: str

    @property
    def worked(self) -> bool:
        """Whether it was done as far as is known; what came of it is then told in words."""
        return bool(self.effect) and not self._began("not done: ", "interrupted")

    @property
    def moved(self) -> bool:
        """Whether something on the screen was different afterwards."""
        return self.worked and not any(sign in self.effect for sign in (_UNCHANGED, _NOT_SO, _UNSEEN))

    @property
    def denied(self) -> bool:
        """Whether a person or the policy did not allow it."""
        return self._began("not allowed: ", "refused: ")

    @property
    def uncertain(self) -> bool:
        """Whether it may or may not have happened."""
        return self._began("interrupted: ")

    def _began(self, *words: str) -> bool:
        return any(each.startswith(words) for each in self.did.split(_SEGMENTS))


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
    answers = [step.effect.split(_ANSWER, 1)[1] for step in steps if step.stage == "ask" and _ANSWER in step.effect]
    return answers[-1] if answers else ""
