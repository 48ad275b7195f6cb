"""Performs one action at most once, and records its beginning and its result in the journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

from agent.control import Stopped
from agent.effect_facts import Effect, EffectUnseen, LookedBefore, OtherWindow, in_english
from agent.effects import difference, told_effects
from agent.graph.executor.context import RunContext
from agent.observing import ScreenView
from agent.ports.journal import ActionKey, ActionState
from agent.tools.spec import ActionError, ActionResult
from devices.errors import InputRejected, PhoneError, PhoneUnavailable, UnknownApp
from devices.inputs import Input
from devices.phone import InputResult as Sent
from devices.phone import Judged
from devices.wording import sentence_of

logger = logging.getLogger(__name__)


BEGUN = "This action was begun before an interruption and may have happened; it was not sent again. Look first."
TOOL_BEGUN = (
    "This was begun before an interruption and may have been done; it was not done again: {what}. Do it once more only "
    "if the person says that it is missing."
)


async def begin(context: RunContext, key: ActionKey, data: dict[str, Any], begun: str) -> None:
    """Record in the journal that an action is about to be done.

    `data` is the action as plain data. Raises ActionError with the text `begun` if the journal already has this action,
    and LeaseLost if the phone belongs to another run now.
    """
    await written(context)
    if not await context.journal.begin(key, data, fence=context.fence):
        raise ActionError(begun, uncertain=True)


async def written(context: RunContext) -> None:
    """Wait until the result of the last input is in the journal.

    The result is written in the background, so that the next model request need not wait for the disk. Code that writes
    about that or another action, or ends the run, calls this first.
    """
    writing, context.memory.writing = context.memory.writing, None
    if writing is not None:
        await asyncio.shield(writing)


async def give_up(context: RunContext, key: ActionKey, why: str) -> None:
    """Record in the journal that an action was begun but nothing was sent; `why` says for what reason."""
    await asyncio.shield(context.journal.finish(key, "rejected", why))


async def run_tool(
    context: RunContext, key: ActionKey, cut_off: ActionState, work: Awaitable[ActionResult]
) -> ActionResult:
    """Await the work of a tool whose beginning is recorded, then record and return its result.

    `cut_off` is the state to record if the work is interrupted. Raises ActionError if the work failed, and Stopped if
    the run was stopped.
    """
    try:
        done = await work
    except (Stopped, asyncio.CancelledError):
        await asyncio.shield(context.journal.finish(key, cut_off, "stopped while it was being done"))
        raise
    except ActionError as error:
        state: ActionState = "uncertain" if error.uncertain else "rejected"
        await context.journal.finish(key, state, type(error.__cause__ or error).__name__)
        raise
    done = replace(done, effects=context.mask.effects(done.effects))
    await context.journal.finish(key, "done", in_english(done.effects))
    return done


async def send_input(
    context: RunContext,
    key: ActionKey,
    what: Input,
    view: ScreenView,
    *,
    last: bool = False,
    looked: float | None = None,
    judged: Judged | None = None,
) -> tuple[Effect, ...]:
    """Send an input whose beginning is recorded in the journal, and return its effects.

    `view` is the screen that was seen before. `looked` is when the observation began that showed the screen as a
    person approved it (seconds of the event loop's clock); the effects then also say how old that observation was, and
    whether another window got the input. An input without approval is only sent while the screen still matches
    `judged`.

    After the `last` action of a step, the model may be shown the screen before it is known to be still. Raises
    ActionError if the input was not done or may not have been done; Stopped if the run was stopped meanwhile (the
    journal then says uncertain); and PhoneUnavailable if the phone accepts no input until a person changes something.
    """
    context.screen.expire()  # the input makes what was seen so far outdated
    try:
        sending = context.phone.act(what, receipt=key.receipt, watched=looked is not None, later=True, judged=judged)
        done = await context.control.guard(sending)
    except (Stopped, asyncio.CancelledError):
        await asyncio.shield(context.journal.finish(key, "uncertain", "stopped while it was being sent"))
        raise
    except InputRejected as error:
        await context.journal.finish(key, "rejected", str(error))
        unknown = isinstance(error, UnknownApp)
        raise ActionError(f"Not done: {error}", reason=sentence_of(error), unknown_app=unknown) from error
    except PhoneError as error:
        state: ActionState = "uncertain" if error.uncertain else "rejected"
        await context.journal.finish(key, state, type(error).__name__)
        logger.warning("run %s: %s is %s: %s", key.run, key.receipt, state, error)
        if isinstance(error, PhoneUnavailable) and not error.uncertain:
            raise
        if not error.uncertain:
            raise ActionError(f"Not done: {error}", reason=sentence_of(error)) from error
        raise ActionError(
            "The phone did not confirm the last action; it may or may not have happened and was not sent again. "
            "Look at the screen before you decide.",
            uncertain=True,
        ) from error
    changed, seen = await _effect(context, key, what, view, last=last)
    covered = context.mask.covers_words(view.observation)
    tail: tuple[Effect, ...] = told_effects(done, covered=covered)
    if looked is not None and done.sent is not None:
        tail += (LookedBefore(milliseconds=round(1000 * (done.sent - looked))),)
    if done.elsewhere:
        tail += (OtherWindow(window=done.elsewhere),)
    tail += told_effects(seen, covered=covered)
    effect = context.mask.effects([*changed, *tail])
    early = context.screen.pending
    if early is not None:
        early.effect, early.tail = effect, tail
    context.memory.writing = asyncio.ensure_future(context.journal.finish(key, "done", in_english(effect)))
    return effect


async def _effect(
    context: RunContext, key: ActionKey, what: Input, view: ScreenView, *, last: bool
) -> tuple[tuple[Effect, ...], Sent | None]:
    """Look at the effect, and return what the look says about the input; it is also the next observation."""
    before = view.observation
    try:
        after = await context.screen.after(key, what, before, last=last)
    except (Stopped, asyncio.CancelledError):
        await asyncio.shield(context.journal.finish(key, "done", "sent; stopped before its effect was seen"))
        raise
    except PhoneError as error:
        logger.info("run %s: sent, but its effect could not be seen: %s", key.run, error)
        return (EffectUnseen(),), None
    told = context.mask.to_tell
    return await asyncio.to_thread(difference, told(before), told(after)), after.done
