"""Showing the model a screen early: whether it stood still is found out while the model thinks.

A frame takes a quarter of a second, and a second one only to confirm the first would cost every step as much again. So
the first changed frame goes to the model at once. When it turns out that the screen still moved, what the model said
to it counts for nothing: the call is cut off, and the settled screen is sent. Nothing is ever done on a screen that
moved: an answer waits until it is known (`PhoneScreen.answer_to`).

`uiautomator dump` takes more than a second. No model is kept waiting for it: it gets the picture, with the list where
the same screen has told one before. The one dump of the step, read beside the call, is what the gate judges by, what
tells the effect, and what the next step compares with. A model that would call elements by their numbers says in words
what it points at meanwhile, and is held to that (`targets.aimed`); one that misses is shown lists from then on.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.effect_facts import Effect
from agent.models.base import Usage
from agent.ports.journal import ActionKey
from devices.phone import Observation

LONGEST_PENALTY = 8
"""Steps that wait for a settled screen after early looks were in vain again and again: each costs a call's input."""


@dataclass
class SpeculationBackoff:
    """Whether an early look is worth it here. After one that was in vain the next steps take their time, longer each
    time it happens again: an app that animates everything would else be paid for twice.
    """

    penalty: int = 0
    waiting: int = 0

    def ready(self) -> bool:
        """Whether the next look may be an early one; asked once a step."""
        if self.waiting:
            self.waiting -= 1
            return False
        return True

    def stood_still(self) -> None:
        """An early look was right."""
        self.penalty = 0

    def moved(self) -> None:
        """An early look was in vain."""
        self.penalty = min(LONGEST_PENALTY, 2 * self.penalty or 1)
        self.waiting = self.penalty


@dataclass
class EarlyLook:
    """A look that may still move: what it was before, after which action, and what came of it (`effect`). The first
    look of a phone comes after no action of the run: it has no `key`.

    `tail` is what stands behind the difference that was seen. `shown` once a model was shown it, `moved` once it is
    known that it did, `confirmed` is what it was once it is known that it did not.
    """

    key: ActionKey | None
    before: Observation
    seen: Observation
    patience: float
    effect: tuple[Effect, ...] = ()
    tail: tuple[Effect, ...] = ()
    shown: bool = False
    moved: bool = False
    confirmed: Observation | None = None


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """The screen moved under the model; what its answer has cost."""

    usage: Usage
