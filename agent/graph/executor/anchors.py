"""What a person approved, so that it can be found again, and nothing else be touched in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.effects import fingerprint
from agent.graph.executor.hands import Aim
from agent.graph.executor.state import ExecutorState
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
        screen, targets = screen_of(self.observation, space, None)
        return Sight(self.observation, screen, targets, state["frame"])


def anchor_of(where: Aim, sight: Sight) -> dict[str, Any]:
    """The target as plain data: the element's looks, or the whole screen where it has no element."""
    anchor: dict[str, Any] = {
        "package": sight.observation.package,
        "size": [sight.observation.size.width, sight.observation.size.height],
    }
    if where.element is not None:
        element = where.element
        anchor["element"] = [element.resource_id, element.class_name, element.label if not element.editable else ""]
        anchor["editable"] = element.editable
        box = element.bounds
        anchor["bounds"] = [box.left, box.top, box.right, box.bottom]
    else:
        anchor["screen"] = fingerprint(sight.observation)
        anchor["point"] = [where.point.x, where.point.y] if where.point is not None else None
    return anchor


def found_again(anchor: dict[str, Any] | None, now: Observation) -> Again | None:
    """The target on the new look, None when it is not there as it was approved."""
    if anchor is None or anchor["package"] != now.package or anchor["size"] != [now.size.width, now.size.height]:
        return None
    if "element" in anchor:
        before = Bounds(*anchor["bounds"]).centre
        same = [e for e in now.elements or () if _looks(e, anchor["editable"]) == anchor["element"]]
        element = min(same, key=lambda e: _distance(e.bounds.centre, before), default=None)
        if element is None:
            return None
        return Again(now, Aim(element, element.bounds.clipped(now.size).centre))
    if fingerprint(now) != anchor["screen"]:
        return None
    point = anchor["point"]
    return Again(now, Aim(None, Point(*point) if point is not None else None))


def _looks(element: Element, editable: bool) -> list[str]:
    """What identifies an element; a field's text may have changed meanwhile."""
    return [element.resource_id, element.class_name, "" if editable and element.editable else element.label]


def _distance(one: Point, other: Point) -> int:
    return abs(one.x - other.x) + abs(one.y - other.y)
