"""Sends several inputs for one action. Each is judged as if the model had sent it; those that need a person's approval
are not sent, but left to the model.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from agent.actions import Action, PointTarget, Swipe, Tap, Type
from agent.graph.executor.action_spec import PhoneContext
from agent.graph.executor.anchors import TargetCheck, looks, nearest
from agent.graph.executor.targets import ResolvedTarget, spot_at
from agent.guards.gate import SLID, UNREAD
from agent.guards.pickers import only_sets_value
from agent.guards.reading import is_press
from agent.guards.touch_target import pressed
from agent.tools.spec import ActionError
from devices import inputs
from devices.errors import InputRejected
from devices.geometry import Point
from devices.phone import Element, Observation

MAX_INPUTS: Final = 60
MAX_SECONDS: Final = 90.0
COVERED: Final = (
    "Not done: this app forbids screenshots, and its words are covered. Values cannot be read back before a person has "
    "allowed it (read_words)."
)
UNTOLD: Final = "Not done: what is on this screen could not be read. Look again."
HELD: Final = (
    "Not done: what lies there does more than hold a value ({reason}). Touch or swipe it yourself if it is meant: a "
    "person is asked then."
)


@dataclass(frozen=True, slots=True)
class ControlValue:
    """What a control shows after it was set. `right` says whether that is the wanted value; None if unknown."""

    text: str
    right: bool | None


def together(joint: str, *parts: ControlValue) -> ControlValue:
    """Combine several results into one, with their texts joined by `joint`. It is right if all are."""
    rights = {each.right for each in parts}
    right = False if False in rights else None if None in rights else True
    return ControlValue(joint.join(each.text for each in parts), right)


class NotReached(Exception):
    """Raised if the wanted state was not reached; the message tells the model why."""


class TouchSession:
    """Sends touches to the phone for a tool, and looks at the effect of each. `seen` is the latest observation, `sent`
    the number of inputs so far.
    """

    def __init__(self, context: PhoneContext, observation: Observation) -> None:
        self._context = context
        self._until = asyncio.get_running_loop().time() + MAX_SECONDS
        self._app = observation.package
        self.seen = observation
        self.sent = 0

    @classmethod
    async def on_screen(cls, context: PhoneContext) -> TouchSession:
        """Create an instance, starting with an observation. Raises ActionError if the screen's words cannot or may not
        be read, Stopped and PhoneError.
        """
        fingers = cls(context, await context.screen.peek(keep=True))
        fingers._require_words()
        return fingers

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements of the latest observation."""
        return self.seen.elements or ()

    @property
    def locale(self) -> str:
        """The phone's language setting."""
        return self._context.phone.info.locale

    def now(self, element: Element) -> Element | None:
        """Return the element in the latest observation that corresponds to this one of an earlier
        observation, or None.
        """
        return nearest(looks(element), element.bounds, self.seen)

    async def tap(self, where: Element | Point) -> None:
        """Touch an element or point once. Raises ActionError if a person would have to approve it or the words of the
        next screen cannot or may not be read, Missed if it takes too long or another app appears, Stopped and
        PhoneError.
        """
        at = where.bounds.clipped(self.seen.size).centre if isinstance(where, Element) else where
        target = where if isinstance(where, Element) else None
        await self._send(inputs.Tap(at), Tap(target=PointTarget(x=at.x, y=at.y)), target, at)

    async def swipe(self, start: Point, end: Point, milliseconds: int) -> None:
        """Move a finger from `start` to `end`. Raises what `tap` raises."""
        move = Swipe(start=PointTarget(x=start.x, y=start.y), end=PointTarget(x=end.x, y=end.y))
        await self._send(inputs.Swipe(start, end, milliseconds), move, None, start, end)

    async def write(self, field: Element, text: str) -> None:
        """Replace the content of a field with `text`. Raises what `tap` raises."""
        at = field.bounds.clipped(self.seen.size).centre
        await self._send(inputs.TypeText(text, at=at, clear=True), Type(text=text, clear=True), field, at)

    async def _send(
        self, physical: inputs.Input, action: Action, target: Element | None, at: Point, end: Point | None = None
    ) -> None:
        """Send one input and look. Raises ActionError if a person would have to approve it, Missed if it takes too long
        or another app appeared, Stopped and PhoneError.
        """
        context, seen = self._context, self.seen
        if self.sent >= MAX_INPUTS or asyncio.get_running_loop().time() > self._until:
            raise NotReached("It took too long.")
        where = ResolvedTarget(target, at, end)
        spot = spot_at(seen, where)
        gate = context.policy.gate(action, spot)
        if gate.verdict != "allow":
            raise ActionError(HELD.format(reason=gate.reason), reason=gate.reason, uncertain=self.sent > 0)
        touched = pressed(spot)
        path = None if end is None else (at, end)
        unread = gate is SLID or (
            gate.standing == "unknown" and is_press(action, spot) and not only_sets_value(touched, self.elements, path)
        )
        if unread and context.unknown_is_judged:
            raise ActionError(HELD.format(reason=UNREAD), reason=UNREAD, uncertain=self.sent > 0)
        self.sent += 1
        receipt, cover = f"{context.key.receipt}-{self.sent}", context.mask.observation
        judged = TargetCheck(action, where, seen, spot, context.policy, cover, read=False)
        try:
            await context.control.guard(context.phone.act(physical, receipt=receipt, judged=judged))
        except InputRejected:
            self.sent -= 1  # the input did not reach the phone
            raise
        self.seen = await context.screen.peek(keep=True, moved=True)
        self._require_words()
        if self.seen.package != self._app:
            raise NotReached("Another app came up.")

    def _require_words(self) -> None:
        if self.seen.elements is None:
            raise ActionError(UNTOLD, uncertain=self.sent > 0)
        if self._context.mask.covers_words(self.seen):
            raise ActionError(COVERED, uncertain=self.sent > 0)
