"""One physical action: written down, sent once, settled, and described."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from agent.control import Stopped
from agent.effects import describe
from agent.graph.executor.context import RunContext
from agent.graph.executor.early import Early
from agent.observing import Sight
from agent.ports.journal import ActionKey, ActionState
from devices.errors import InputRejected, PhoneError, PhoneUnavailable
from devices.inputs import Input, OpenApp, OpenUrl

logger = logging.getLogger(__name__)

PATIENCE_S = 2.5
PATIENCE_OPENING_S = 8.0
"""An app that starts cold draws for seconds; nothing else does."""


class Trouble(Exception):
    """An action did not work out; the sentence is for the model."""


async def act(
    context: RunContext, key: ActionKey, data: dict[str, Any], what: Input, sight: Sight, *, last: bool = False
) -> str:
    """Send one input and return what came of it, in words. `sight` is what was seen before.

    After the `last` action of a step the model may be shown the screen before it is known to stand still.

    Raises Trouble when nothing, or nothing certain, came of it, Stopped when the run was stopped meanwhile (the
    journal then says uncertain), LeaseLost when the phone belongs to somebody else now, and PhoneUnavailable when it
    takes nothing before a person changes that.
    """
    if not await context.journal.begin(key, data, fence=context.fence):
        raise Trouble(
            "This action was begun before an interruption and may have happened; it was not sent again. Look first."
        )
    context.live.fresh = None  # what was seen until now is not what this leaves behind
    try:
        done = await context.control.guard(context.phone.act(what, receipt=key.receipt))
    except (Stopped, asyncio.CancelledError):
        await asyncio.shield(context.journal.finish(key, "uncertain", "stopped while it was being sent"))
        raise
    except InputRejected as error:
        await context.journal.finish(key, "rejected", str(error))
        raise Trouble(f"Not done: {error}") from error
    except PhoneError as error:
        state: ActionState = "uncertain" if error.uncertain else "rejected"
        await context.journal.finish(key, state, type(error).__name__)
        logger.warning("run %s: %s is %s: %s", key.run, key.receipt, state, error)
        if isinstance(error, PhoneUnavailable) and not error.uncertain:
            raise
        if not error.uncertain:
            raise Trouble(f"Not done: {error}") from error
        raise Trouble(
            "The phone did not confirm the last action; it may or may not have happened and was not sent again. "
            "Look at the screen before you decide."
        ) from error
    tail = ""
    if done.field_text is not None:
        tail = f"; the field now reads {context.mask.text(done.field_text)!r}"
    if done.note:
        tail = f"{tail}; {done.note}"
    effect = context.mask.text(await _effect(context, key, what, sight, last=last) + tail)
    early = context.live.watch.pending
    if early is not None:
        early.effect, early.tail = effect, tail
    await context.journal.finish(key, "done", effect)
    return effect


async def _effect(context: RunContext, key: ActionKey, what: Input, sight: Sight, *, last: bool) -> str:
    """Look at what came of it; that look is the next observation."""
    watch = context.live.watch
    watch.pending = None
    patience = PATIENCE_OPENING_S if isinstance(what, OpenApp | OpenUrl) else PATIENCE_S
    # While the screen moves, elements and picture may differ by a moment: a secret would not be covered where it is.
    # The mask returns what it was given only when it knows of none.
    nothing_to_cover = context.mask.observation(sight.observation) is sight.observation
    early = last and nothing_to_cover and watch.haste.ready()
    try:
        after = await context.control.guard(
            context.phone.observe(after=sight.observation, patience=patience, settle=not early, fit=context.fit)
        )
    except (Stopped, asyncio.CancelledError):
        await asyncio.shield(context.journal.finish(key, "done", "sent; stopped before its effect was seen"))
        raise
    except PhoneError as error:
        logger.info("run %s: sent, but its effect could not be seen: %s", key.run, error)
        return "sent; its effect could not be seen"
    covered = context.mask.observation(after)
    context.live.fresh = after
    if early and not after.settled and covered is after:
        watch.pending = Early(key, sight.observation.without_picture(), after.without_picture(), patience)
    return await asyncio.to_thread(describe, sight.observation, covered)
