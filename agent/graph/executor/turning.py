"""Wheels of values turned by code: far ways with long drags, the last steps one value at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.graph.executor.fingers import Fingers, Missed
from agent.guards.pickers import Wheel, wheels_in
from devices.geometry import Point

_NEAR: Final = 3
"""Steps that are taken one by one."""
_STUCK: Final = 3
"""Inputs without any change after which a wheel does not turn."""
_TURN_MS: Final = 1500
"""Slow enough that a wheel hardly runs on by itself."""
_MARGIN: Final = 0.08
"""The share of the screen's height at its ends where a finger means something else."""


def wheel_at(f: Fingers, wheel: Wheel) -> Wheel:
    """The wheel as it is now. Raises Missed when it is gone."""
    at = wheel.bounds.centre
    found = next((each for each in wheels_in(f.elements) if each.bounds.holds(at)), None)
    if found is None:
        raise Missed("The wheel is not there any more.")
    return found


async def turn(f: Fingers, wheel: Wheel, away: Callable[[Wheel], int | None]) -> Wheel:
    """Turn it until it is `away` by no step, and return it. Steps are counted downwards; where nobody knows how many
    there are, the wheel is turned to its end, then the other way.

    Raises Missed where the value does not come, and what fingers raise.
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
    """One finger over the wheel, as far as the screen goes; it may begin and end beyond the wheel's edge."""
    middle, height = wheel.bounds.centre, f.seen.size.height
    room = middle.y - height * _MARGIN if steps > 0 else height * (1 - _MARGIN) - middle.y
    rows = max(1, min(abs(steps), int(room) // wheel.row))
    end = middle.y - rows * wheel.row if steps > 0 else middle.y + rows * wheel.row
    await f.swipe(middle, Point(middle.x, end), _TURN_MS)
