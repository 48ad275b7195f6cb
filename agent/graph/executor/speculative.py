"""Shows the model a screen early, and finds out while it thinks whether the screen was still.

A frame takes a quarter of a second, and a second one just to confirm the first would cost each step as much again. So
the first changed frame is sent to the model at once. If the screen turns out to have moved, the model's call is cut off
and ignored, and the settled screen is sent. No action is ever done on a screen that moved, because an answer waits
until that is known (`PhoneScreen.answer_to`).

`uiautomator dump` takes more than a second, and no model waits for it: it gets the picture, with the element list if
the same screen has reported one before. The step's only dump, read during the call, is used by the gate, for the
effect, and for comparison in the next step. A model that would refer to elements by number then names its target in
words, which must match an element (`targets.aimed`). A model that misses is shown lists from then on.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.effect_facts import Effect
from agent.models.base import Usage
from agent.ports.journal import ActionKey
from devices.phone import Observation

LONGEST_PENALTY = 8
"""The maximum number of steps that wait for a settled screen after repeated wrong early observations, each of which
wastes a model call.
"""


@dataclass
class SpeculationBackoff:
    """Decides whether an early observation is worthwhile. After each wrong one, more of the next steps wait for the
    screen to settle, because otherwise an app that animates everything would cost twice as much.
    """

    penalty: int = 0
    waiting: int = 0

    def ready(self) -> bool:
        """Whether the next observation may be an early one; call this once per step."""
        if self.waiting:
            self.waiting -= 1
            return False
        return True

    def stood_still(self) -> None:
        """Report that an early observation was right."""
        self.penalty = 0

    def moved(self) -> None:
        """Report that an early observation was wrong."""
        self.penalty = min(LONGEST_PENALTY, 2 * self.penalty or 1)
        self.waiting = self.penalty


@dataclass
class EarlyLook:
    """An observation of a screen that may still move.

    `key` is the action that it follows, None for the first observation of a phone. `before` and `seen` are the
    observations before and after the action. `effect` is what changed so far; its last entries, `tail`, do not come
    from comparing these two observations. `patience` is how many seconds the screen may take to change. `shown` means
    that a model was shown it, `moved` that it was wrong. `confirmed` is the completed observation once it is known to
    be right.
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
    """Returned instead of an answer if the screen moved meanwhile. `usage` are the tokens that the answer cost."""

    usage: Usage
