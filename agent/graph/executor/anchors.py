"""What a person approved, so that it can be found again, and nothing else be touched in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.effects import fingerprint
from agent.graph.executor.hands import Aim
from agent.graph.executor.state import ExecutorState
from agent.guards.facts import facts_of
from agent.observing import Sight, screen_of
from devices.geometry import Bounds, Point, Size
from devices.phone import Element, Observation


@dataclass(frozen=True, slots=True)
class Again:
    """The approved target on a new look at the phone."""

    observation: Observation
    aim: Aim

    def sight(self, before: Sight | None, state: ExecutorState) -> Sight:
        """A sight of the new look, in the space that the action's points were chosen in."""
        space = before.screen.space if before is not None else Size(*state["size"])
        screen, targets = screen_of(self.observation, space)
        return Sight(self.observation, screen, targets, state["frame"])


def anchor_of(where: Aim, sight: Sight, *, facts: bool = True) -> dict[str, Any]:
    """The target as plain data: the element's looks, or the whole screen where it has no element.

    With `facts` it also holds the digest of what a person is shown: texts, amounts, whom it goes to.
    """
    anchor: dict[str, Any] = {
        "package": sight.observation.package,
        "size": [sight.observation.size.width, sight.observation.size.height],
    }
    if facts:
        anchor["facts"] = facts_of(sight.observation).digest
    if where.element is not None:
        element = where.element
        anchor["element"] = looks(element)
        anchor["editable"] = element.editable
        box = element.bounds
        anchor["bounds"] = [box.left, box.top, box.right, box.bottom]
        if where.point is not None:
            anchor["within"] = [where.point.x - box.left, where.point.y - box.top]
    else:
        anchor["screen"] = fingerprint(sight.observation)
        anchor["point"] = [where.point.x, where.point.y] if where.point is not None else None
    return anchor


def found_again(anchor: dict[str, Any] | None, now: Observation) -> Again | None:
    """The target on the new look, None when it, or what would be sent or paid with it, is not as it was approved."""
    if anchor is None or anchor["package"] != now.package or anchor["size"] != [now.size.width, now.size.height]:
        return None
    if "facts" in anchor and anchor["facts"] != facts_of(now).digest:
        return None
    if "element" in anchor:
        element = nearest(anchor["element"], Bounds(*anchor["bounds"]), now)
        if element is None:
            return None
        return Again(now, Aim(element, _place(element.bounds, Bounds(*anchor["bounds"]), anchor.get("within"), now)))
    if fingerprint(now) != anchor["screen"]:
        return None
    point = anchor["point"]
    return Again(now, Aim(None, Point(*point) if point is not None else None))


def nearest(wanted: list[str], before: Bounds, now: Observation) -> Element | None:
    """The element that looks like this, the one nearest to where it was when there are several."""
    same = [e for e in now.elements or () if looks(e) == wanted]
    return min(same, key=lambda e: _distance(e.bounds.centre, before.centre), default=None)


def _place(box: Bounds, before: Bounds, within: list[int] | None, now: Observation) -> Point:
    """The same spot of the element where its size is the same, else its middle."""
    same = (box.right - box.left, box.bottom - box.top) == (before.right - before.left, before.bottom - before.top)
    spot = Point(box.left + within[0], box.top + within[1]) if within is not None and same else None
    return spot if spot is not None and now.size.holds(spot) else box.clipped(now.size).centre


def looks(element: Element) -> list[str]:
    """What identifies an element; a field's text may have changed meanwhile."""
    return [element.resource_id, element.class_name, "" if element.editable else element.label]


def _distance(one: Point, other: Point) -> int:
    return abs(one.x - other.x) + abs(one.y - other.y)
