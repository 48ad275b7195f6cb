"""Showing the model a screen early: whether it stood still is found out while the model thinks.

A frame takes a quarter of a second, and a second one only to confirm the first would cost every step as much again. So
the first changed frame goes to the model at once. When it turns out that the screen still moved, what the model said
to it counts for nothing: the call is cut off, and the settled screen is sent. Nothing is ever done on a screen that
moved: an answer waits until it is known.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.effects import describe
from agent.events import Step
from agent.guards.screens import screen_word
from agent.models.base import ModelReply, ModelRequest, Usage
from agent.models.tokens import usage_of
from agent.ports.journal import ActionKey
from devices.errors import PhoneError
from devices.phone import Observation

if TYPE_CHECKING:
    from agent.graph.executor.context import RunContext
    from agent.graph.executor.state import ExecutorState

logger = logging.getLogger(__name__)

LONGEST_PENALTY = 8
"""Steps that wait for a settled screen after early looks were in vain again and again: each costs a call's input."""


@dataclass
class Haste:
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
class Early:
    """A look that may still move: what it was before, after which action, and what was said of it (`effect`).

    `tail` is what stands behind the description of the change. `moved` once that is known.
    """

    key: ActionKey
    before: Observation
    seen: Observation
    patience: float
    effect: str = ""
    tail: str = ""
    moved: bool = False


@dataclass(frozen=True, slots=True)
class InVain:
    """The screen moved under the model; what its answer has cost."""

    usage: Usage


@dataclass
class Watch:
    """What is known of early looks in a run."""

    pending: Early | None = None
    haste: Haste = field(default_factory=Haste)


async def answer_to(state: ExecutorState, context: RunContext, request: ModelRequest) -> ModelReply | InVain:
    """The model's answer, once the screen it was asked about is known to stand still. Raises ModelError."""
    early = context.live.watch.pending
    if early is None:
        return await context.models.vision.complete(request)
    answering = asyncio.ensure_future(context.models.vision.complete(request))
    try:
        if await _stands_still(context, early):
            context.live.watch.pending = None
            context.live.watch.haste.stood_still()
            tell(state, context)
            return await answering
        early.moved = True
        context.live.watch.haste.moved()
        logger.info("run %s: the screen moved after step %d; the model is asked again", early.key.run, early.key.step)
        if answering.done() and answering.exception() is None:
            return InVain(answering.result().usage)
        # The endpoint has read it all; what it charges for is not told to those who hang up.
        return InVain(usage_of(None, request.messages, ModelReply("")))
    finally:
        answering.cancel()
        await asyncio.wait({answering})
        if not answering.cancelled():
            answering.exception()


async def _stands_still(context: RunContext, early: Early) -> bool:
    try:
        return await context.phone.stands_still(early.seen)
    except PhoneError as error:
        logger.info("run %s: whether the screen stood still could not be seen: %s", early.key.run, error)
        return False


def hold(context: RunContext, step: Step) -> dict[str, Any] | None:
    """Tell a step to the outside, unless what it changed is not known for sure yet: then it is data for the state."""
    early = context.live.watch.pending
    if early is None or (early.key.subtask, early.key.step) != (step.subtask, step.step):
        context.emit(step)
        return None
    return step.model_dump(mode="json")


def tell(state: ExecutorState, context: RunContext, effect: str | None = None) -> None:
    """Tell the step that was held, with this effect if it is another than was thought. The caller clears `untold`."""
    held = state.get("untold")
    if held is not None:
        step = Step.model_validate(held)
        context.emit(step if effect is None else step.model_copy(update={"effect": effect}))


async def corrected(state: ExecutorState, context: RunContext, settled: Observation) -> dict[str, Any]:
    """The update that makes the last step say what its action changed when all had come to rest; tells the step."""
    early = context.live.watch.pending
    context.live.watch.pending = None
    if early is None:
        tell(state, context)
        return {"untold": None}
    words = context.mask.text(describe(early.before, settled) + early.tail)
    await context.journal.finish(early.key, "done", words)
    past = list(state["past"])
    if not past or past[-1]["number"] != early.key.step:
        tell(state, context)
        return {"untold": None}
    effect = past[-1]["effect"].removesuffix(early.effect) + words
    past[-1] = {**past[-1], "effect": effect}
    tell(state, context, effect)
    history = [list(move) for move in state["history"]]
    if history:
        history[-1][2] = screen_word(settled)
    return {"untold": None, "past": past, "history": history}
