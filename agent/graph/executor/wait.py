"""Waiting: actions that send nothing to the phone."""

from __future__ import annotations

import asyncio
import time

from agent.actions import Wait, WaitFor
from agent.effect_facts import CameTrue, Effect, NotWithin
from agent.effects import changed, difference
from agent.graph.executor.acting import ActionError
from agent.graph.executor.context import RunContext
from agent.observing import ScreenView
from devices.errors import PhoneError
from devices.phone import Observation

POLL_S = 0.25


async def wait(context: RunContext, sight: ScreenView, action: Wait) -> tuple[Effect, ...]:
    """Wait, then look."""
    await context.control.guard(asyncio.sleep(action.seconds))
    return difference(sight.observation, await _look(context))


async def wait_for(context: RunContext, sight: ScreenView, action: WaitFor) -> tuple[Effect, ...]:
    """Look again and again until it is so, or the time is over."""
    began = time.monotonic()
    while True:
        now = await _look(context)
        if _is_so(action, sight.observation, now):
            return CameTrue(seconds=round(time.monotonic() - began, 1)), *difference(sight.observation, now)
        if time.monotonic() - began >= action.seconds:
            return (NotWithin(seconds=action.seconds),)
        await context.control.guard(asyncio.sleep(POLL_S))


async def _look(context: RunContext) -> Observation:
    try:
        return await context.screen.peek(keep=True)
    except PhoneError as error:
        raise ActionError(f"The phone could not be seen meanwhile: {error}") from error


def _is_so(action: WaitFor, before: Observation, now: Observation) -> bool:
    if action.what == "change":
        return changed(before, now)
    there = any(action.text.casefold() in e.label.casefold() for e in now.elements or ())
    return there if action.what == "text" else not there
