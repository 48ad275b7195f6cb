"""Waiting: tools that look at the phone and send nothing to it."""

from __future__ import annotations

import asyncio

from agent.actions import Wait, WaitFor
from agent.effect_facts import CameTrue, NotWithin
from agent.effects import changed, difference
from agent.graph.executor.action_spec import PhoneContext
from agent.tools.spec import ActionError, Done
from devices.errors import PhoneError
from devices.phone import Observation

POLL_S = 0.25


async def wait(action: Wait, context: PhoneContext) -> Done:
    """Wait, then look."""
    assert context.sight is not None
    await context.control.guard(asyncio.sleep(action.seconds))
    return Done(difference(context.sight.observation, await _look(context)))


async def wait_for(action: WaitFor, context: PhoneContext) -> Done:
    """Look again and again until it is so, or the time is over."""
    assert context.sight is not None
    before = context.sight.observation
    clock = asyncio.get_running_loop().time
    began = clock()
    while True:
        now = await _look(context)
        if _is_so(action, before, now):
            return Done((CameTrue(seconds=round(clock() - began, 1)), *difference(before, now)))
        if clock() - began >= action.seconds:
            return Done((NotWithin(seconds=action.seconds),))
        await context.control.guard(asyncio.sleep(POLL_S))


async def _look(context: PhoneContext) -> Observation:
    try:
        return context.mask.to_tell(await context.screen.peek(keep=True))
    except PhoneError as error:
        raise ActionError(f"The phone could not be seen meanwhile: {error}") from error


def _is_so(action: WaitFor, before: Observation, now: Observation) -> bool:
    if action.what == "change":
        return changed(before, now)
    there = any(action.text.casefold() in e.label.casefold() for e in now.elements or ())
    return there if action.what == "text" else not there
