"""Shows the model a screen early, and finds out whether it was still while the model thinks.

A frame takes a quarter of a second, and a second one just to confirm the first would cost each step as much again. So
the first changed frame is sent to the model at once. If the screen turns out to have moved, the model's call is cut off
and ignored, and the settled screen is sent. Nothing is ever done on a screen that moved: an answer waits until that is
known (`PhoneScreen.answer_to`).

`uiautomator dump` takes more than a second, and no model waits for it: it gets the picture, with the element list if
the same screen has reported one before. The step's only dump, read during the call, is used by the gate, for the
effect, and for comparison in the next step. A model that would refer to elements by number then names its target in
words and is held to them (`targets.aimed`); one that misses is shown lists from then on.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.effect_facts import Effect
from agent.models.base import Usage
from agent.ports.journal import ActionKey
from devices.phone import Observation

LONGEST_PENALTY = 8
"""The maximum steps that wait for a settled screen after repeated wrong early looks, each of which wastes a call."""


@dataclass
class SpeculationBackoff:
    """Decides whether an early look is worthwhile. After a wrong one, the next steps wait for the screen, longer each
    time, because otherwise an app that animates everything would cost twice.
    """

    penalty: int = 0
    waiting: int = 0

    def ready(self) -> bool:
        """Whether the next look may be an early one; call this once per step."""
        if self.waiting:
            self.waiting -= 1
            return False
        return True

    def stood_still(self) -> None:
        """Report that an early look was right."""
        self.penalty = 0

    def moved(self) -> None:
        """Report that an early look was wrong."""
        self.penalty = min(LONGEST_PENALTY, 2 * self.penalty or 1)
        self.waiting = self.penalty


@dataclass
class EarlyLook:
    """A look at a screen that may still move: the look before it, the action it follows, and the effect so far
    (`effect`). The first look at a phone follows no action, so its `key` is None.

    `tail` are effects listed after the visible difference. `shown` means that a model was shown it, `moved` that it was
    wrong; `confirmed` is the completed look once it is known to be right.
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
    """The screen moved while the model answered; `usage` is what the answer cost."""

    usage: Usage
