"""screenshot: one observation, and how the model will see it."""

from __future__ import annotations

import logging
import time
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.events import Told
from agent.graph.executor.condition import look_after
from agent.graph.executor.context import RunContext
from agent.graph.executor.early import corrected
from agent.graph.executor.locking import unlock_question, woken
from agent.graph.executor.room import with_room
from agent.graph.executor.state import ExecutorState, ended_by
from agent.observing import Sight, screen_of
from agent.wording import sentence
from devices.errors import CaptureFailed, NoMemory, PhoneError, PhoneGone, PhoneTimeout
from devices.phone import Observation
from devices.wording import sentence_of

logger = logging.getLogger(__name__)

CAPTURE_TRIES = 3
CLOSED = (
    "This app is closed to you by the rules: nothing of it is shown to you, and nothing is done in it. "
    "Leave it with home or back, and find a way without it, or finish with failure."
)


async def screenshot(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["vision_model", "call_user", "check_loop", "executor_exit"]]:
    """Look at the phone. Only the look is tried again, never an action."""
    context = runtime.context
    context.mask.restore(state.get("covered", []))
    watch = context.live.watch
    if watch.pending is not None and watch.pending.moved:
        context.live.fresh = None
    else:
        context.live.step_began = time.monotonic()
        if context.live.fresh is None:
            watch.pending = None  # nobody knows any more what was done to the screen since
    try:
        observation = await context.control.guard(with_room(context, lambda: _look(context)))
        look_after(context)
        fresh, context.live.fresh = context.live.fresh, None
        sight = await context.control.guard(with_room(context, lambda: _see(context, observation)))
    except Stopped:
        return Command(goto="check_loop")
    except PhoneError as error:
        logger.warning("run %s: no observation: %s", state["run"], error)
        return Command(goto="executor_exit", update={"result": ended_by(error)})
    context.live.sight = sight
    if observation.locked:
        return Command(goto="call_user", update=unlock_question(state, context, sight.frame))
    early = fresh is not None and watch.pending is not None
    closed = {} if early else await corrected(state, context, sight.observation)
    notes = context.control.take_notes()
    return Command(
        goto="vision_model",
        update={
            "frame": sight.frame,
            "size": [sight.screen.space.width, sight.screen.space.height],
            "app": observation.package,
            "app_name": observation.app_name,
            "index": 0,
            "did": [],
            "effect": [],
            "mark": None,
            **closed,
            # Also what was written while the run was queued or a question was open.
            "told": [
                *state["told"],
                *([CLOSED] if context.policy.closes(observation.package) else []),
                *(f"The person writes: {note}" for note in notes),
            ],
        },
    )


async def _look(context: RunContext) -> Observation:
    """What was seen last, or a look now, at a phone that is awake.

    Tried up to three times: a picture may come broken, a phone under load may not answer in time, and an unplugged
    cable is waited for.
    """
    early = context.live.watch.pending
    seen = context.live.fresh
    for attempt in range(1, CAPTURE_TRIES + 1):
        try:
            if seen is None and early is not None and attempt == 1:
                seen = await context.phone.observe(after=early.seen, patience=early.patience, fit=context.fit)
            elif seen is None:
                seen = await context.phone.observe(fit=context.fit)
            return await woken(context) if seen.locked or not seen.screen_on else seen
        except NoMemory:
            context.live.fresh = None
            raise
        except (CaptureFailed, PhoneTimeout) as error:
            if attempt == CAPTURE_TRIES:
                raise
            logger.info("look %d of %d failed: %s", attempt, CAPTURE_TRIES, error)
        except PhoneGone as error:
            if attempt == CAPTURE_TRIES:
                raise
            context.emit(Told(text=sentence("told.away", why=sentence_of(error), seconds=f"{context.grace:.0f}")))
            await context.phones.wait_for(context.phone.info.id, timeout=context.grace)
        seen = context.live.fresh = None
    raise CaptureFailed("no picture")


async def _see(context: RunContext, observation: Observation) -> Sight:
    """The observation in the model's picture size, secrets covered, its picture stored."""
    observation = context.mask.observation(observation)
    frame = None
    if observation.jpeg is not None:
        frame = await context.frames.save(observation.jpeg.data, suffix="jpg")
    screen, targets = screen_of(observation, context.fit(observation.size))
    # Nobody needs it any more, and a model may think for a minute.
    return Sight(observation.without_picture(), screen, targets, frame)
