"""Finds the targets of typed actions on the screen that they were chosen on, and converts between actions and phone
inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent import actions as act
from agent.dialects.base import BadReply
from agent.guards.touch_target import TouchTarget
from agent.observing import ScreenView
from devices import inputs
from devices.geometry import Bounds, Point, Size
from devices.phone import Element, Observation

SCROLL_SHARE = 0.6
"""The share of a scrollable area that the finger travels: enough to move on without missing a line."""
SCROLL_MS = 400


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """The target of an action on the screen: the element, if there is one, and the point in the phone's own pixels."""

    element: Element | None
    point: Point | None
    end: Point | None = None
    """Where a finger that moves leaves the screen, in the same pixels."""


def resolve_target(action: act.Action, view: ScreenView) -> ResolvedTarget:
    """Find the target of an action on this screen. For a point, the smallest element there is found too, for the rules
    and for approvals.
    """
    if isinstance(action, act.Swipe | act.Drag):
        start = _native(action.start, view)
        return ResolvedTarget(_under(start, view), start, _native(action.end, view))
    target = getattr(action, "target", None)
    if target is None:
        return ResolvedTarget(None, None)
    if isinstance(target, act.ElementTarget):
        element = view.targets[target.element]
        return ResolvedTarget(element, element.bounds.clipped(view.observation.size).centre)
    point = view.native(Point(target.x, target.y))
    return ResolvedTarget(_under(point, view), point)


def _under(point: Point, view: ScreenView) -> Element | None:
    """Return the smallest element at this place, preferring those with a label."""
    hit = [e for e in view.observation.elements or () if e.bounds.holds(point)]
    named = [e for e in hit if e.label]
    return min(named or hit, key=lambda e: e.bounds.area, default=None)


def spot_at(observation: Observation, target: ResolvedTarget) -> TouchTarget:
    """Return what a touch there meets on this screen and what is around it, for the rules to judge."""
    return TouchTarget(
        observation.package,
        target.element,
        observation.elements or (),
        target.point,
        target.end,
        activity=observation.activity,
        size=observation.size,
        keyboard=observation.keyboard_shown,
    )


def aimed(action: act.Action, words: str, view: ScreenView) -> act.Action:
    """Correct an action that was aimed at a picture before its element list arrived.

    If the words that the model gave for its target are elsewhere, in exactly one place, the returned action goes there.
    Otherwise the point is used even if no element is there, because web pages and custom-drawn controls may react
    without reporting elements. Raises BadReply if the words are in several other places.
    """
    target, told = getattr(action, "target", None), view.observation.elements
    if not isinstance(target, act.PointTarget) or not told or isinstance(action, act.Scroll):
        return action
    point, wanted = view.native(Point(target.x, target.y)), _plain(words)
    met = [each for each in told if each.bounds.holds(point)]
    if wanted and not any(wanted in _plain(each.label) for each in met):
        alike = [each for each in told if _plain(each.label) == wanted]
        if len(alike) > 1:
            raise BadReply(f"{words!r} stands in {len(alike)} places, and not at ({target.x}, {target.y}).")
        if alike:
            size = view.observation.size
            there = alike[0].bounds.clipped(size).centre.mapped(size, view.screen.space)
            return action.model_copy(update={"target": act.PointTarget(x=there.x, y=there.y)})
    return action


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())


def finger_end(action: act.Swipe | act.Drag, start: Point, view: ScreenView) -> Point:
    """Return where a finger ends that starts at `start`, moving as far as the action plans. `start` differs from the
    planned start if an approved target has moved.
    """
    planned, end = _native(action.start, view), _native(action.end, view)
    return Point(end.x + start.x - planned.x, end.y + start.y - planned.y)


def spoken_as(physical: inputs.Input, view: ScreenView) -> tuple[act.Action, ResolvedTarget]:
    """Return the typed action that does the same as this input, and its target, so that the rules can judge
    the input.
    """

    def at(point: Point | None, end: Point | None = None) -> ResolvedTarget:
        return ResolvedTarget(None if point is None else _under(point, view), point, end)

    def target(point: Point) -> act.PointTarget:
        return act.PointTarget(x=point.x, y=point.y)

    match physical:
        case inputs.Tap(times=2):
            return act.DoubleTap(target=target(physical.at)), at(physical.at)
        case inputs.Tap():
            return act.Tap(target=target(physical.at)), at(physical.at)
        case inputs.LongPress():
            return act.LongPress(target=target(physical.at)), at(physical.at)
        case inputs.Swipe(hold=True):
            return act.Drag(start=target(physical.start), end=target(physical.end)), at(physical.start, physical.end)
        case inputs.Swipe():
            return act.Swipe(start=target(physical.start), end=target(physical.end)), at(physical.start, physical.end)
        case inputs.TypeText():
            into = None if physical.at is None else target(physical.at)
            typed = act.Type(text=physical.text, target=into, clear=physical.clear, submit=physical.submit)
            return typed, at(physical.at)
        case inputs.PressKey():
            return act.PressKey(key=physical.key), at(None)
        case inputs.OpenApp():
            return act.OpenApp(name=physical.name), at(None)
        case inputs.OpenUrl():
            return act.OpenUrl(url=physical.url), at(None)


def _native(target: act.PointTarget, view: ScreenView) -> Point:
    return view.native(Point(target.x, target.y))


def scroll_of(direction: act.Direction, target: ResolvedTarget, view: ScreenView) -> inputs.Swipe:
    """Return the swipe that reveals content in this direction, so the finger moves the opposite way. It is made on the
    target's list, otherwise on one found on the screen.
    """
    return swipe_over(_scrolled_area(target, view), direction)


def swipe_over(area: Bounds, direction: act.Direction) -> inputs.Swipe:
    """Return the swipe over this area that reveals content in this direction."""
    middle, reach = area.centre, swipe_length(area, direction) // 2
    dx, dy = {"down": (0, -1), "up": (0, 1), "right": (-1, 0), "left": (1, 0)}[direction]
    start = Point(middle.x - dx * reach, middle.y - dy * reach)
    end = Point(middle.x + dx * reach, middle.y + dy * reach)
    return inputs.Swipe(start, end, SCROLL_MS)


def swipe_length(area: Bounds, direction: act.Direction) -> int:
    """Return how many pixels the swipe of `swipe_over` travels."""
    length = area.bottom - area.top if direction in {"up", "down"} else area.right - area.left
    return int(length * SCROLL_SHARE)


def _scrolled_area(target: ResolvedTarget, view: ScreenView) -> Bounds:
    size: Size = view.observation.size
    if target.element is not None and target.element.scrollable:
        return target.element.bounds.clipped(size)
    lists = [e for e in view.observation.elements or () if e.scrollable]
    if target.point is not None:
        lists = [e for e in lists if e.bounds.holds(target.point)]
    if lists:
        return max(lists, key=lambda e: e.bounds.clipped(size).area).bounds.clipped(size)
    # Clear of the status bar and of the gesture bar, where a swipe means something else.
    return Bounds(0, size.height // 8, size.width, size.height - size.height // 8)
