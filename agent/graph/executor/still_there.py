"""Checks, just before a press without approval is sent, whether the screen there is still as it was when the press was
judged.

The rules allowed the press on the screen that the model was shown, and a model thinks for seconds: meanwhile, an app
may put other words on the same button in the same window. So the phone is asked again along with its last check of the
front window. On a phone that reports elements quickly, they are compared for each press. If they take a second, a
picture of the place is compared first, and they are only read if it changed; fields and list rows are not checked then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from PIL import Image

from agent.actions import Action
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.binding import approval_context, picture_of, pictured, same_picture, words_of
from agent.guards.dialogs import is_dialog
from agent.guards.policy import Policy
from agent.guards.reading import is_press
from agent.guards.slides import is_made_to_slide, words_around
from agent.guards.touch_target import TouchTarget, is_row, pressed, words_under
from devices.geometry import Bounds
from devices.phone import Element, Observation

_NUMBER: Final = re.compile(r"\d+")
"""Numbers that change on their own: clocks, counts, countdowns. Important amounts are judged again with
their digits.
"""


@dataclass(frozen=True)
class StillThere:
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


def still_there(
    action: Action,
    where: ResolvedTarget,
    seen: Observation,
    spot: TouchTarget,
    policy: Policy,
    cover: Callable[[Observation], Observation],
    *,
    read: bool,
) -> StillThere | None:
    """Return the check that a press or slide without approval must still pass when it is sent; None if it only scrolls,
    or if no elements were known. The arguments are those of `StillThere`.
    """
    if seen.elements is None or not (is_press(action, spot) or is_made_to_slide(spot) or words_around(spot)):
        return None
    return StillThere(action, where, seen, spot, policy, cover, read)


def _words(spot: TouchTarget) -> set[str]:
    return {_bare(each.label) for each in words_under(spot)}


def _near(seen: Observation, where: ResolvedTarget) -> set[str]:
    return {_bare(words_of(e)) for e in approval_context(seen, where.element, where.point).near}


def _looks(element: Element) -> tuple[str, str, str]:
    return element.resource_id, element.class_name, "" if element.editable else _bare(element.label)


def _bare(label: str) -> str:
    return _NUMBER.sub("0", label)
