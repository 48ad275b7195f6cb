"""Waiting: actions that send nothing to the phone."""

from __future__ import annotations

import asyncio
import time

from agent.actions import Wait, WaitFor
from agent.effects import changed, describe
from agent.graph.executor.acting import Trouble
from agent.graph.executor.context import RunContext
from agent.observing import Sight
from devices.errors import PhoneError
from devices.phone import Observation

POLL_S = 0.25


async def wait(context: RunContext, sight: Sight, action: Wait) -> str:
    """Wait, then look."""
    await context.control.guard(asyncio.sleep(action.seconds))
    return describe(sight.observation, await _look(context))


async def wait_for(context: RunContext, sight: Sight, action: WaitFor) -> str:
    """Look again and again until it is so, or the time is over."""
    began = time.monotonic()
    while True:
        now = await _look(context)
        if _is_so(action, sight.observation, now):
            return f"so after {time.monotonic() - began:.1f} s; {describe(sight.observation, now)}"
        if time.monotonic() - began >= action.seconds:
            return f"not so within {action.seconds:g} s"
        await context.control.guard(asyncio.sleep(POLL_S))


async def _look(context: RunContext) -> Observation:
    try:
        seen = await context.control.guard(context.phone.observe(fit=context.fit))
    except PhoneError as error:
        raise Trouble(f"The phone could not be seen meanwhile: {error}") from error
    context.live.fresh = seen
    return context.mask.observation(seen)


def _is_so(action: WaitFor, before: Observation, now: Observation) -> bool:
    if action.what == "change":
        return changed(before, now)
    there = any(action.text.casefold() in e.label.casefold() for e in now.elements or ())
    return there if action.what == "text" else not there
