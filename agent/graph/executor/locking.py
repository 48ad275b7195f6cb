"""A phone that is asleep is woken; one that wants a PIN needs a person."""

from __future__ import annotations

from typing import Any

from agent.graph.executor import asking
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from devices.phone import Observation


async def woken(context: RunContext) -> Observation:
    """The phone after an attempt to wake it and to take away a lock that only needs a swipe. Raises PhoneError."""
    await context.phone.prepare()
    return await context.phone.observe(fit=context.fit)


def unlock_question(state: ExecutorState, context: RunContext, frame: str | None) -> dict[str, Any]:
    """What the state gets when a person must unlock the phone, between two steps."""
    number = state.get("asides", 0) + 1
    return {
        "question": asking.unlock(state, context, number, frame),
        "aside": True,
        "asides": number,
        "frame": frame,
        "did": [],
        "effect": [],
        "mark": None,
    }
