"""Sends a person's input to a phone by hand, with the same lease, rules and journal as the actions of a task, and finds
the places on a screen that can be touched.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from agent import actions as act
from agent.effects import screen_word
from agent.graph.executor.action_spec import InputAction
from agent.graph.executor.anchors import anchor_of, relocated
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.executor.gate import spot_of
from agent.graph.executor.targets import ResolvedTarget, resolve_target
from agent.guards.binding import picture_of, same_picture
from agent.guards.gate import Gate
from agent.guards.policy import Policy
from agent.observing import ScreenView, screen_of
from agent.ports.journal import ActionKey, Journal, LeaseLost
from agent.ports.leases import Lease, NoPhone
from agent.run import RunId
from bot.domain.task import TaskError
from bot.tasks.leases import PhoneLeases
from bot.texts import say
from devices.errors import InputRejected, PhoneError
from devices.geometry import Bounds, Point, Size
from devices.inputs import Input, TypeText
from devices.phone import Element, Observation, Phone, Phones
from devices.wording import said, sentence_of

logger = logging.getLogger(__name__)


GRID = (4, 5)
"""Columns and rows of the grid of places that is used if a phone reports no elements."""
MOST_PLACES = 200
"""Maximum places of one screen; more are of no use to a person, and each takes time."""
LARGE_SHARE = 0.5
"""Share of the screen above which an element counts as a page, not a control."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place on a screenshot that can be touched."""

    at: Point
    """Its position in the phone's own pixels."""
    box: Bounds
    """The area to mark on the screenshot."""
    anchor: dict[str, Any] = field(repr=False)
    """Describes the element that must still be there when the place is touched."""


def touchable_places(observation: Observation) -> tuple[Place, ...]:
    """Return the places that can be touched, at most MOST_PLACES, in reading order. If the phone reports no element
    that can be touched, they form a regular grid.
    """
    screen, targets = screen_of(observation.without_picture(), observation.size)
    view = ScreenView(observation.without_picture(), screen, targets)
    able = [e for e in targets if _can_be_touched(e, observation.size)][:MOST_PLACES]
    found = sorted(able, key=lambda e: (e.bounds.top, e.bounds.left))
    wheres = [ResolvedTarget(e, e.bounds.clipped(observation.size).centre) for e in found] or _grid(observation.size)
    return tuple(
        Place(where.point, _box(where, observation.size), anchor_of(where, view))
        for where in wheres
        if where.point is not None
    )


def _can_be_touched(element: Element, size: Size) -> bool:
    does = element.clickable or element.editable or element.checkable or element.long_clickable
    small = element.bounds.clipped(size).area <= LARGE_SHARE * size.width * size.height
    return does and element.enabled and small


def _grid(size: Size) -> list[ResolvedTarget]:
    columns, rows = GRID
    return [
        ResolvedTarget(
            None, Point(size.width * (2 * column + 1) // (2 * columns), size.height * (2 * row + 1) // (2 * rows))
        )
        for row in range(rows)
        for column in range(columns)
    ]


def _box(target: ResolvedTarget, size: Size) -> Bounds:
    if target.element is not None:
        return target.element.bounds.clipped(size)
    assert target.point is not None
    across, down = size.width // (2 * GRID[0]), size.height // (2 * GRID[1])
    at = target.point
    return Bounds(at.x - across, at.y - down, at.x + across, at.y + down).clipped(size)


def tap(at: Point) -> act.Tap:
    """Return a tap at this point, in the phone's own pixels."""
    return act.Tap(target=act.PointTarget(x=at.x, y=at.y))


ManualAction = act.Tap | act.LongPress | act.Swipe | act.Drag | act.Scroll | act.Type | act.PressKey | act.OpenApp
"""The actions that people can do by hand. Points are in native pixels of the phone."""

MANUAL_SUBTASK = -1
"""The sub-task number under which the journal records touches during a takeover; the run's own sub-tasks begin at 1."""
_PATCH = 0.06
"""Share of the screen's height, in each direction, that must look the same around a place that was touched."""


class ManualInputError(TaskError):
    """The input was not performed, or it is unknown whether it was."""


class ScreenMoved(ManualInputError):
    """The screen has changed since the person saw it, so the input was not performed."""

    def __init__(self) -> None:
        super().__init__(say("hand.moved"))


class NeedsApproval(TaskError):
    """The approval rules require an approval for this touch first.

    `approval_key` identifies the touch, so that an approval is valid for it alone. `what` (the touched control) and
    `why` (the rule's reason) are for the person who decides. `anchor` describes the element that the approved touch
    must hit.
    """

    def __init__(self, what: str, why: str, asked: str, anchor: dict[str, Any]) -> None:
        super().__init__(say("operate.asks", what=what, why=why))
        self.what = what
        self.why = why
        self.approval_key = asked
        self.anchor = anchor


@dataclass(frozen=True, slots=True)
class Touched:
    """The result of a touch."""

    app: str
    """The package name of the app in front."""
    target: str
    """The label of the control at that place."""
    approval_reason: str = ""
    """Why the rules require an approval, if the person's own touch counted as the approval; "" otherwise."""
    seen: Observation | None = field(default=None, repr=False)
    """The screen before the touch, without its picture."""


class Aim(Protocol):
    """What a person meant to touch, judged by the screen that they saw."""

    def locate(self, now: ScreenView, action: ManualAction) -> ResolvedTarget:
        """Return where the target is on the current screen. Raises ScreenMoved if the screen has changed too much."""

    def is_certain(self, gate: Gate) -> bool:
        """Return whether the target is certain enough, given `gate`: the decision of the approval rules about this
        input. By default, a target that was found is.
        """
        del gate
        return True


@dataclass(frozen=True, slots=True)
class AtAnchor(Aim):
    """A control that the person chose by its number on a picture in a chat. It must still be the same control,
    surrounded by the same words.
    """

    anchor: dict[str, Any]

    def locate(self, now: ScreenView, action: ManualAction) -> ResolvedTarget:
        """Return where the control is on the current screen. Raises ScreenMoved if it is not there."""
        del action
        where = relocated(self.anchor, now.observation)
        if where is None:
            raise ScreenMoved
        return where


@dataclass(frozen=True, slots=True)
class OnScreen(Aim):
    """The whole screen, identified by its fingerprint `word`. Used for keys, text and scrolling, which have
    no place.
    """

    word: str

    def locate(self, now: ScreenView, action: ManualAction) -> ResolvedTarget:
        """Return where the input goes on the current screen. Raises ScreenMoved if the fingerprint differs."""
        if screen_word(now.observation) != self.word:
            raise ScreenMoved
        return resolve_target(action, now)


@dataclass(frozen=True, slots=True)
class Still:
    """A picture of the live view that a person was shown, kept as a thumbnail. `before` is the picture before it."""

    number: int
    seen: Observation
    """Only the size, app and thumbnail of the screen."""
    before: Observation | None = None


class OnStill(Aim):
    """A place on a picture of the live view. The screen must look the same around it; for keys and text, only the app
    must be the same.

    If the rules allow the touch without approval, a place where something moves by itself, such as a film, may also be
    touched.
    """

    def __init__(self, still: Still) -> None:
        self._still = still
        self._is_animated = False

    def locate(self, now: ScreenView, action: ManualAction) -> ResolvedTarget:
        """Return where the place is on the current screen. Raises ScreenMoved if the screen there has changed."""
        seen, there = self._still.seen, now.observation
        hidden = seen.thumbnail is None
        if there.package != seen.package or not (hidden or there.size == seen.size):
            raise ScreenMoved
        where = resolve_target(action, now)
        if where.point is None:
            return where
        if hidden or there.thumbnail is None:
            raise ScreenMoved  # keys and text go to a screen that may not be shown, and nobody has seen a place on it
        patch = _patch(where, there.size)
        if not _alike(seen, there, patch):
            if self._still.before is None or _alike(self._still.before, seen, patch):
                raise ScreenMoved
            self._is_animated = True
        return where

    def is_certain(self, gate: Gate) -> bool:
        """Return whether the place is certain enough: a moving one is only if the rules allow the touch without
        approval.
        """
        return not self._is_animated or gate.verdict == "allow"


def _patch(target: ResolvedTarget, size: Size) -> Bounds:
    """Return the area around a point that is compared: the control there, unless that is large."""
    assert target.point is not None
    reach = int(size.height * _PATCH)
    around = Bounds(target.point.x - reach, target.point.y - reach, target.point.x + reach, target.point.y + reach)
    box = around if target.element is None else target.element.bounds.clipped(size)
    return (box if 0 < box.area <= around.area else around).clipped(size)


def _alike(one: Observation, other: Observation, where: Bounds) -> bool:
    """Return whether both screens show the same in this area; both have a picture."""
    here, there = picture_of(one, where), picture_of(other, where)
    assert here is not None
    assert there is not None
    return same_picture(here, there)


class ManualInput:
    """Performs people's input on phones. `policy` contains the rules about approvals; `journal` records each input."""

    def __init__(self, leases: PhoneLeases, phones: Phones, policy: Policy, journal: Journal) -> None:
        self._leases = leases
        self._phones = phones
        self._policy = policy
        self._journal = journal

    async def touch(self, phone: str, action: ManualAction, event: str, *, allowed: str = "") -> Touched:
        """Perform one input on a phone that nobody holds, once per `event` id, and return what it hit. `allowed` is
        what a person has approved: the `approval_key` of an earlier NeedsApproval, "" for nothing.

        Raises NeedsApproval; also ManualInputError if the rules refuse the input, if the phone is busy, unreachable or
        rejects it, or if an input with this `event` was begun before.
        """
        run = RunId(f"hand-{hashlib.sha256(event.encode()).hexdigest()[:16]}")
        fence = await acquire_lease(self._leases, run, phone)
        try:
            found = self._phones.get(phone)
            await found.prepare()
            try:
                return await self._touch(found, action, ActionKey(run, 1, 1, 0), fence, None, allowed, approves=False)
            finally:
                with suppress(PhoneError):
                    await found.restore()
        except PhoneError as error:
            raise ManualInputError(say("operate.failed", why=said(sentence_of(error)))) from error
        finally:
            await self._leases.release(run)

    async def touch_in_session(
        self, lease: Lease, action: ManualAction, event: str, aim: Aim, *, allowed: str = "", approves: bool
    ) -> Touched:
        """Perform one input under an existing lease, once per `event` id, at the place described by `aim`. With
        `approves`, the person's touch itself counts as the approval; `allowed` is that of `touch`.

        Raises what `touch` raises, and ScreenMoved.
        """
        step = int.from_bytes(hashlib.sha256(event.encode()).digest()[:6])
        key = ActionKey(lease.run, MANUAL_SUBTASK, step, 0)
        try:
            phone = self._phones.get(lease.phone)
            return await self._touch(phone, action, key, lease.fence, aim, allowed, approves=approves)
        except PhoneError as error:
            raise ManualInputError(say("operate.failed", why=said(sentence_of(error)))) from error
        except LeaseLost as error:
            raise ManualInputError(say("hand.over")) from error

    async def _touch(
        self,
        phone: Phone,
        action: ManualAction,
        key: ActionKey,
        fence: int,
        aim: Aim | None,
        allowed: str,
        *,
        approves: bool,
    ) -> Touched:
        seen = await phone.observe(fit=_tiny)
        screen, targets = screen_of(replace(seen, image=None, jpeg=None), seen.size)
        view = ScreenView(seen.without_picture(), screen, targets)
        where = resolve_target(action, view) if aim is None else aim.locate(view, action)
        gate = self._policy.gate(action, spot_of(view, where, action))
        if aim is not None and not aim.is_certain(gate):
            raise ScreenMoved
        yes = self._approval_reason(gate, action, view, where, allowed, approves=approves)
        if not await self._journal.begin(key, _journalled(action), fence=fence):
            raise ManualInputError(say("operate.begun"))
        try:
            await phone.act(_input_of(action, where, view), receipt=key.receipt)
        except InputRejected as error:
            await self._journal.finish(key, "rejected", type(error).__name__)
            raise
        except BaseException as error:
            await self._journal.finish(key, "uncertain", type(error).__name__)
            raise
        await self._journal.finish(key, "done", "")
        return Touched(seen.package, _called(where.element), yes, view.observation)

    def _approval_reason(
        self,
        gate: Gate,
        action: ManualAction,
        view: ScreenView,
        target: ResolvedTarget,
        allowed: str,
        *,
        approves: bool,
    ) -> str:
        """Return why the rules require an approval, if the person's own touch counts as that approval; "" if they
        require none.

        Raises ManualInputError if the rules refuse the input, and NeedsApproval.
        """
        reason = said(gate.reason)
        if gate.verdict == "refuse":
            raise ManualInputError(say("operate.refused", why=reason))
        if gate.verdict != "approve":
            return ""
        label = _called(target.element)
        told = "\0".join((view.observation.package, label, reason, action.model_dump_json()))
        asked = hashlib.sha256(told.encode()).hexdigest()[:32]
        if asked != allowed and not approves:
            raise NeedsApproval(label or action.kind, reason, asked, anchor_of(target, view))
        return reason


GIVEN_BACK_S: Final = 12.0
"""Seconds to wait for the return of a borrowed phone; restoring it may take ten (`agent.runner.local.RESTORE_S`)."""


async def acquire_lease(leases: PhoneLeases, run: RunId, phone: str) -> int:
    """Lease a phone that is free, or that is only borrowed and returned in time, and return the lease's fencing number.
    Does not wait for a working task: then ManualInputError is raised.
    """
    try:
        async with asyncio.timeout(GIVEN_BACK_S), aclosing(leases.acquire(run, phone)) as waiting:
            async for found in waiting:
                if isinstance(found, Lease):
                    return found.fence
                if leases.holder(phone) is not None:
                    break
    except NoPhone as error:
        raise ManualInputError(str(error)) from error
    except TimeoutError:
        pass  # the phone counts as busy
    raise ManualInputError(say("operate.busy"))


def _tiny(screen: Size) -> Size:
    """Return the size of a thumbnail for comparisons; nobody gets to see it."""
    return Size(max(1, screen.width // 8), max(1, screen.height // 8))


def _called(element: Element | None) -> str:
    """The name of an element, never text that a person typed into it."""
    if element is None:
        return ""
    return element.description or element.hint if element.editable else element.label


def _journalled(action: ManualAction) -> dict[str, Any]:
    """The action as the journal stores it: of typed text only the length."""
    data = action.model_dump(mode="json")
    return data | {"text": "", "length": len(action.text)} if isinstance(action, act.Type) else data


def _input_of(action: ManualAction, target: ResolvedTarget, view: ScreenView) -> Input:
    spec = BUILT_IN.spec_of(action)
    assert isinstance(spec, InputAction)
    physical = spec.to_input(action, target, view)
    assert physical is not None, "whatever is done by hand has its place"
    return replace(physical, secret=True) if isinstance(physical, TypeText) else physical
