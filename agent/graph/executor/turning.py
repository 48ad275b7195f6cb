"""Turns wheel pickers by code: long distances with long drags, the last steps one value at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.graph.executor.fingers import Fingers, Missed
from agent.guards.pickers import Wheel, wheels_in
from devices.geometry import Point

_NEAR: Final = 3
"""Steps that are made one by one."""
_STUCK: Final = 3
"""Inputs without any change after which a wheel counts as stuck."""
_TURN_MS: Final = 1500
"""Slow enough that a wheel hardly spins on."""
_MARGIN: Final = 0.08
"""The share of the screen's height at both ends where a finger has another meaning."""


def wheel_at(f: Fingers, wheel: Wheel) -> Wheel:
    """Return the current state of the wheel at this wheel's place. Raises Missed if it is gone."""
    at = wheel.bounds.centre
    found = next((each for each in wheels_in(f.elements) if each.bounds.holds(at)), None)
    if found is None:
        raise Missed("The wheel is not there any more.")
    return found


async def turn(f: Fingers, wheel: Wheel, away: Callable[[Wheel], int | None]) -> Wheel:
    """Turn the wheel until `away` returns 0, and return its state.

    `away` returns how many steps down the wanted value is, negative for up, or None if that is unknown; the wheel is
    then turned to one end, then to the other. Raises Missed if the value is not found, and what `Fingers.tap` raises.
    """
    now, way, still, begun = wheel_at(f, wheel), 1, 0, set[str]()
    while (steps := away(now)) != 0:
        before, unknown = now, steps is None
        steps = way if steps is None else steps
        neighbour = now.after if steps > 0 else now.before
        if abs(steps) <= _NEAR and neighbour is not None:
            await f.tap(neighbour)
        else:
            await far_swipe(f, now, steps)
        now = wheel_at(f, wheel)
        if now.text != before.text:
            still = 0
            if not unknown:
                continue
            if now.text not in begun:
                begun.add(now.text)
                continue
            raise Missed("It went round once, and this is not on it.")
        still += 1
        if unknown and way > 0:
            way, still = -1, 0
            begun.clear()
        elif still >= _STUCK or unknown:
            raise Missed("It does not turn that far." if not unknown else "This is not on it.")
    return now


async def far_swipe(f: Fingers, wheel: Wheel, steps: int) -> None:
    """Swipe over the wheel by this number of steps (negative for up), or as far as the screen allows. The finger may
    begin and end outside the wheel.
    """
    middle, height = wheel.bounds.centre, f.seen.size.height
    room = middle.y - height * _MARGIN if steps > 0 else height * (1 - _MARGIN) - middle.y
    rows = max(1, min(abs(steps), int(room) // wheel.row))
    end = middle.y - rows * wheel.row if steps > 0 else middle.y + rows * wheel.row
    await f.swipe(middle, Point(middle.x, end), _TURN_MS)
