"""What a strategy can answer: do this, it is done, or it cannot be done."""

from __future__ import annotations

from dataclasses import dataclass

from agent.actions import Action


@dataclass(frozen=True, slots=True)
class Act:
    """The next action. `stage` is what it is for, so that the step can be recognised later; `say` is for the card."""

    action: Action
    stage: str
    say: str


@dataclass(frozen=True, slots=True)
class Done:
    """The screen shows that the clause is done. `found` is data; `wanted` says that the person asked for it."""

    found: str = ""
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Stuck:
    """It cannot go on; `reason` is a sentence for the person."""

    reason: str


Move = Act | Done | Stuck
