"""Work that starts before it is certain to be needed: a screen shown to the model early, the judgement of a press while
the model is still writing, and the first answer.

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

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent.control import Stopped
from agent.effect_facts import Effect
from agent.guards.reading import PressReading
from agent.models.base import Delta, Model, ModelReply, ModelRequest, Usage
from agent.models.errors import ModelError, ModelRefused
from agent.models.tokens import hung_up
from agent.ports.journal import ActionKey
from agent.scene import Scene
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
class EarlyObservation:
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


@dataclass
class EarlyReading:
    """The independent reader's judgement of one press while it runs.

    `key` identifies the press: control, window and all words bound to it. `model` is the reader's name. `sent` holds
    the requests that were already sent. `task` never raises the model's errors.
    """

    key: str
    model: str
    task: asyncio.Task[tuple[PressReading, Usage]]
    sent: list[ModelRequest] = field(default_factory=list)

    async def answer(self) -> tuple[PressReading, Usage]:
        """Wait for the judgement; return it with the tokens it used."""
        return await self.task

    def drop(self) -> Usage:
        """Cancel the judgement because it is not needed any more, and return the tokens that it cost."""
        if self.task.done() and not self.task.cancelled() and self.task.exception() is None:
            return self.task.result()[1]
        self.task.cancel()
        spent = sum((hung_up(each, self.model) for each in self.sent), Usage())
        return spent.read_by_guard(0.0) if self.sent else Usage()


@dataclass
class EarlyReadings:
    """The judgement begun for the answer that the model is writing: at most one at a time."""

    begun: EarlyReading | None = None
    _spent: Usage = field(default_factory=Usage)

    def begin(self, reading: EarlyReading) -> None:
        """Store this reading, and cancel the one stored before."""
        self.drop()
        self.begun = reading

    def take(self, key: str | None) -> EarlyReading | None:
        """Return and remove the stored reading if it is for the press with this key; otherwise cancel it and return
        None.
        """
        if self.begun is None or self.begun.key != key:
            self.drop()
            return None
        reading, self.begun = self.begun, None
        return reading

    def drop(self) -> None:
        """Cancel the stored reading, if there is one."""
        if self.begun is not None:
            self._spent += self.begun.drop()
            self.begun = None

    def take_spent(self) -> Usage:
        """Cancel the stored reading, and return the tokens spent on unused readings since the last call."""
        self.drop()
        spent, self._spent = self._spent, Usage()
        return spent


class DeltaBuffer:
    """Collects the pieces of an answer while it is written, and passes them on once there is a listener."""

    def __init__(self) -> None:
        self._kept: list[Delta] = []
        self._listener: Callable[[Delta], None] = self._kept.append

    def __call__(self, piece: Delta) -> None:
        """Accept the next piece."""
        self._listener(piece)

    def forward_to(self, listener: Callable[[Delta], None]) -> None:
        """Pass all pieces to the listener: those collected so far at once, later ones as they arrive."""
        for piece in self._kept:
            listener(piece)
        self._listener = listener


@dataclass(frozen=True)
class FirstAnswer:
    """A request that was sent before the run began: the scene that it shows, the request and the running answer."""

    scene: Scene
    request: ModelRequest
    answering: asyncio.Task[ModelReply]
    pieces: DeltaBuffer

    def fits(self, scene: Scene, model: str) -> bool:
        """Whether the same request would be made now, ignoring the time of day."""
        same = replace(scene, local_time="") == replace(self.scene, local_time="")
        return same and model == self.request.rendered_for

    async def drop(self) -> Usage:
        """Cancel the request and return the tokens that it cost."""
        if self.answering.done() and not self.answering.cancelled():
            failed = self.answering.exception()
            if failed is None:
                return self.answering.result().usage
            return failed.usage if isinstance(failed, ModelError) else hung_up(self.request, self.request.rendered_for)
        self.answering.cancel()
        await asyncio.wait({self.answering})
        return hung_up(self.request, self.request.rendered_for)


@dataclass(frozen=True)
class BegunModel:
    """Implements Model for one request: answers it with the running answer `first`, and asks `model` again if that
    fails, unless the request was refused.
    """

    model: Model
    first: FirstAnswer

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        return self.model.name

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Return the running answer, otherwise another one. Implements `Model.complete`."""
        if on_delta is not None:
            self.first.pieces.forward_to(on_delta)
        try:
            return await self.first.answering
        except ModelRefused:
            raise  # it would be refused again
        except Stopped:  # by a pause, which may be over
            reply = await self.model.complete(request, on_delta=on_delta)
            return replace(reply, usage=hung_up(self.first.request, self.first.request.rendered_for) + reply.usage)
        except ModelError as error:
            reply = await self.model.complete(request, on_delta=on_delta)
            return replace(reply, usage=error.usage + reply.usage)
