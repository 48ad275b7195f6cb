"""Makes sure that a press touches what was meant: finds the target of an approved action again, and checks that the
screen is still as it was.

The rules allowed the press on the screen that the model was shown, and a model thinks for seconds: meanwhile, an app
may put other words on the same button in the same window. So the phone is asked again along with its last check of the
front window. On a phone that reports elements quickly, they are compared for each press. If they take a second, a
picture of the place is compared first, and they are only read if it changed; fields and list rows are not checked then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from PIL import Image

from agent.actions import Action
from agent.effects import fingerprint
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.binding import (
    approval_context,
    picture_of,
    pictured,
    restless_places,
    same_picture,
    same_pictures,
    shown_pictures,
    words_of,
)
from agent.guards.dialogs import is_dialog
from agent.guards.policy import Policy
from agent.guards.reading import is_press
from agent.guards.slides import is_made_to_slide, words_around
from agent.guards.touch_target import TouchTarget, is_row, pressed, words_under
from agent.observing import ScreenView
from devices.geometry import Bounds, Point
from devices.phone import Element, Observation

MAX_ALIKE = 20
"""How many identical-looking elements are compared with the approved one. No page has more Delete buttons."""


def anchor_of(
    target: ResolvedTarget, view: ScreenView, *, facts: bool = True, before: Observation | None = None
) -> dict[str, Any]:
    """Return the anchor of a target: plain data that identifies it later, by the element's id, class and label
    (`looks`) or, without an element, by the whole screen.

    With `facts`, it includes what a person is shown: digests of the words of the dialog or row and its window, and a
    picture of anything without words. `before` is an earlier observation; parts that changed on their own between the
    two observations are not compared later.
    """
    seen = view.observation
    anchor: dict[str, Any] = {"package": seen.package, "size": [seen.size.width, seen.size.height]}
    if target.element is not None:
        element = target.element
        anchor["element"] = looks(element)
        anchor["editable"] = element.editable
        box = element.bounds
        anchor["bounds"] = [box.left, box.top, box.right, box.bottom]
        if target.point is not None:
            anchor["within"] = [target.point.x - box.left, target.point.y - box.top]
    else:
        anchor["point"] = [target.point.x, target.point.y] if target.point is not None else None
        if not facts:
            anchor["screen"] = fingerprint(seen)
    return anchor | _bound(target, seen, before) if facts else anchor


def relocated(anchor: dict[str, Any] | None, now: Observation, *, facts: bool = True) -> ResolvedTarget | None:
    """Find the target of an anchor in a new observation. Returns None if the target, or what was shown around it,
    differs from what was approved.

    With `facts`, an anchor made without them is never found, because it does not say what was approved.
    """
    if anchor is None or anchor["package"] != now.package or anchor["size"] != [now.size.width, now.size.height]:
        return None
    if facts and "window" not in anchor:
        return None
    element: Element | None = None
    point: Point | None = None
    if "element" in anchor:
        element = _meant(anchor, now) if facts else nearest(anchor["element"], Bounds(*anchor["bounds"]), now)
        if element is None:
            return None
        point = _place(element.bounds, Bounds(*anchor["bounds"]), anchor.get("within"), now)
    elif anchor["point"] is not None:
        point = Point(*anchor["point"])
    same = _is_same(anchor, now, element, point) if facts else anchor.get("screen") in {None, fingerprint(now)}
    return ResolvedTarget(element, point) if same else None


def _bound(target: ResolvedTarget, observation: Observation, before: Observation | None) -> dict[str, Any]:
    """Return what an approval is bound to besides the looks of its target."""
    near = approval_context(observation, target.element, target.point)
    restless = restless_places(before, observation, target.element) if before is not None else []
    return {
        "restless": restless,
        "own": near.own_digest(restless),
        "window": near.window_digest(restless) if near.window else None,
        "focus": _focus(observation) if target.element is None else None,
        "picture": picture_of(observation, pictured(observation, near, target.element, target.point)),
        "pictures": shown_pictures(observation, near, target.element, before),
    }


def _is_same(anchor: dict[str, Any], now: Observation, element: Element | None, point: Point | None) -> bool:
    """Whether the words around it, or its picture, are unchanged. A screen without either never matches."""
    near = approval_context(now, element, point)
    if anchor["window"] is not None:
        words = near.own_digest(anchor["restless"]), near.window_digest(anchor["restless"])
        if words != (anchor["own"], anchor["window"]) or (element is None and _focus(now) != anchor["focus"]):
            return False
    elif anchor["picture"] is None:
        return False
    if not same_pictures(anchor["pictures"], shown_pictures(now, near, element)):
        return False
    if anchor["picture"] is None:
        return True
    picture = picture_of(now, pictured(now, near, element, point))
    return picture is not None and same_picture(anchor["picture"], picture)


def _meant(anchor: dict[str, Any], now: Observation) -> Element | None:
    """Return the element that looks like this and is in the same dialog or row."""
    alike = _alike(anchor["element"], Bounds(*anchor["bounds"]), now)[:MAX_ALIKE]
    return next((e for e in alike if approval_context(now, e).own_digest(anchor["restless"]) == anchor["own"]), None)


def nearest(wanted: list[str], before: Bounds, now: Observation) -> Element | None:
    """Return the element with this id, class and label (`looks`), the closest to the bounds `before` if there are
    several; None if there is none.
    """
    return next(iter(_alike(wanted, before, now)), None)


def _alike(wanted: list[str], before: Bounds, now: Observation) -> list[Element]:
    """Return all elements that look like this, the closest to the earlier place first."""
    same, at = [e for e in now.elements or () if looks(e) == wanted], before.centre
    return sorted(same, key=lambda e: abs(e.bounds.centre.x - at.x) + abs(e.bounds.centre.y - at.y))


def _focus(observation: Observation) -> list[str] | None:
    """Return the looks of the focused element, which receives keys."""
    return next((looks(e) for e in observation.elements or () if e.focused), None)


def _place(box: Bounds, before: Bounds, within: list[int] | None, now: Observation) -> Point:
    """Return the same spot of the element if its size is unchanged, otherwise its centre."""
    same = (box.right - box.left, box.bottom - box.top) == (before.right - before.left, before.bottom - before.top)
    spot = Point(box.left + within[0], box.top + within[1]) if within is not None and same else None
    return spot if spot is not None and now.size.holds(spot) else box.clipped(now.size).centre


def looks(element: Element) -> list[str]:
    """Return what identifies an element: resource id, class name and label. The label of a field is left out (""),
    because its text may have changed.
    """
    return [element.resource_id, element.class_name, "" if element.editable else element.label]


_NUMBER: Final = re.compile(r"\d+")
"""Numbers that change on their own: clocks, counts, countdowns. Important amounts are judged again with
their digits.
"""


@dataclass(frozen=True)
class TargetCheck:
    """Implements `devices.phone.Judged` for a press or slide: compares the screen with the one on which the rules
    allowed it.

    `cover` removes secrets from an observation, as they were removed from `seen`. `read` means that the independent
    reader was asked too; its answer only applies to the words of exactly that dialog or row.
    """

    action: Action
    where: ResolvedTarget
    seen: Observation
    spot: TouchTarget
    policy: Policy
    cover: Callable[[Observation], Observation]
    read: bool

    @property
    def pictured(self) -> bool:
        """Whether to compare a picture of the touched place if the phone reports elements slowly. False for fields and
        list rows, which are most of what is pressed. Implements `Judged.pictured`.
        """
        touched = pressed(self.spot)
        if self.where.point is None or self.seen.thumbnail is None:
            return False
        return touched is None or not (touched.editable or is_row(touched, self.spot.around))

    def shows_same(self, thumbnail: Image.Image) -> bool:
        """Whether the touched place looks the same on this picture of the screen. Implements `Judged.shows_same`."""
        place = self._place()
        then, now = (
            picture_of(self.seen, place),
            picture_of(Observation(self.seen.size, None, None, thumbnail=thumbnail), place),
        )
        return then is not None and now is not None and same_picture(then, now)

    def tells_same(self, elements: tuple[Element, ...]) -> bool:
        """Whether the touched place has the same words in these elements, and no rule requires a question now.
        Implements `Judged.tells_same`.
        """
        now = self.cover(Observation(self.seen.size, None, elements, self.seen.package, activity=self.seen.activity))
        told = now.elements or ()
        target = None if self.spot.target is None else self._found(self.spot.target, told)
        presses = is_press(self.action, self.spot)
        if presses and self.spot.target is not None and target is None:
            return False
        spot = replace(self.spot, target=target, around=told)
        if self.policy.press_gate(self.action, spot).verdict != "allow":
            return False
        if presses and (target is None or not target.editable) and _words(self.spot) != _words(spot):
            return False
        return not self.read or _near(self.seen, self.where) == _near(now, ResolvedTarget(target, self.where.point))

    def _found(self, wanted: Element, told: tuple[Element, ...]) -> Element | None:
        """Return the element that looks the same and is still under the finger."""
        point = self.spot.point
        alike = [e for e in told if _looks(e) == _looks(wanted) and (point is None or e.bounds.holds(point))]
        return min(alike, key=lambda e: e.bounds.area, default=None)

    def _place(self) -> Bounds | None:
        """Return the relevant part of the picture: the button or, in a dialog or without a button, its surroundings."""
        target, point = self.where.element, self.where.point
        if target is not None and target.label and not is_dialog(self.spot):
            return target.bounds
        return pictured(self.seen, approval_context(self.seen, None, point), None, point)


def target_check(
    action: Action,
    target: ResolvedTarget,
    observation: Observation,
    spot: TouchTarget,
    policy: Policy,
    cover: Callable[[Observation], Observation],
    *,
    read: bool,
) -> TargetCheck | None:
    """Return the check that a press or slide without approval must still pass when it is sent; None if it only scrolls,
    or if no elements were known. The arguments are those of `TargetCheck`.
    """
    if observation.elements is None or not (is_press(action, spot) or is_made_to_slide(spot) or words_around(spot)):
        return None
    return TargetCheck(action, target, observation, spot, policy, cover, read)


def _words(spot: TouchTarget) -> set[str]:
    return {_bare(each.label) for each in words_under(spot)}


def _near(observation: Observation, target: ResolvedTarget) -> set[str]:
    return {_bare(words_of(e)) for e in approval_context(observation, target.element, target.point).near}


def _looks(element: Element) -> tuple[str, str, str]:
    return element.resource_id, element.class_name, "" if element.editable else _bare(element.label)


def _bare(label: str) -> str:
    return _NUMBER.sub("0", label)
