"""A phone touched by hand from afar: one input, through lease, rules and journal as every action of a run."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from agent import actions as act
from agent.graph.executor.action_spec import InputAction
from agent.graph.executor.anchors import anchor_of, relocated
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.executor.gate import spot_of
from agent.graph.executor.targets import ResolvedTarget, resolve_target
from agent.guards.binding import picture_of, same_picture
from agent.guards.gate import Gate
from agent.guards.policy import Policy
from agent.guards.screen_identity import screen_word
from agent.observing import ScreenView, screen_of
from agent.ports.journal import ActionKey, Journal, LeaseLost
from agent.ports.leases import Lease, NoPhone
from agent.run_id import RunId
from bot.domain.task import TaskError
from bot.tasks.leases import PhoneLeases
from bot.texts import say
from devices.errors import InputRejected, PhoneError
from devices.geometry import Bounds, Size
from devices.inputs import Input, TypeText
from devices.phone import Element, Observation, Phone, Phones
from devices.wording import said, sentence_of

logger = logging.getLogger(__name__)

ByHand = act.Tap | act.LongPress | act.Swipe | act.Drag | act.Scroll | act.Type | act.PressKey | act.OpenApp
"""What can be done by hand. Points are in the phone's own pixels."""

BY_HAND = -1
"""The number of the sub-task that touches of a taken-over run are journalled under; its own begin at 1."""
_PATCH = 0.06
"""Share of the screen's height, each way, that has to look the same around a place that was touched on a picture."""


class Operated(TaskError):
    """The phone was not touched, or nobody knows whether it was."""


class ScreenMoved(Operated):
    """The screen is not the one that the person saw any more, so nothing was touched."""

    def __init__(self) -> None:
        super().__init__(say("hand.moved"))


class NeedsApproval(TaskError):
    """The rules ask a person first. `asked` names what exactly, so that a yes holds for this and nothing else.

    `what` and `why` are for whoever is asked; `anchor` is what the touch has to meet once it is allowed.
    """

    def __init__(self, what: str, why: str, asked: str, anchor: dict[str, Any]) -> None:
        super().__init__(say("operate.asks", what=what, why=why))
        self.what = what
        self.why = why
        self.asked = asked
        self.anchor = anchor


@dataclass(frozen=True, slots=True)
class Touched:
    """What an input met: the app in front, and the label of what is at that place. `yes` is why the rules ask about it,
    where the touch itself was the yes. `seen` is the screen before it, without its picture.
    """

    app: str
    target: str
    yes: str = ""
    seen: Observation | None = field(default=None, repr=False)


class Aim(Protocol):
    """What a person touched on the screen that they saw."""

    def found(self, now: ScreenView, action: ByHand) -> ResolvedTarget:
        """Where that is now. Raises ScreenMoved."""
        ...

    def holds(self, gate: Gate) -> bool:
        """Whether it is still sure enough for what the rules say of it."""
        ...


@dataclass(frozen=True, slots=True)
class AtAnchor:
    """A numbered place of a picture that was sent: the same control, among the same words."""

    anchor: dict[str, Any]

    def found(self, now: ScreenView, action: ByHand) -> ResolvedTarget:
        """See `Aim.found`."""
        del action
        target_now = relocated(self.anchor, now.observation)
        if target_now is None:
            raise ScreenMoved
        return target_now.target

    def holds(self, gate: Gate) -> bool:
        """See `Aim.holds`."""
        del gate
        return True


@dataclass(frozen=True, slots=True)
class OnScreen:
    """No place but a whole screen, by its word: for keys, text and scrolling."""

    word: str

    def found(self, now: ScreenView, action: ByHand) -> ResolvedTarget:
        """See `Aim.found`."""
        if screen_word(now.observation) != self.word:
            raise ScreenMoved
        return resolve_target(action, now)

    def holds(self, gate: Gate) -> bool:
        """See `Aim.holds`."""
        del gate
        return True


@dataclass(frozen=True, slots=True)
class Still:
    """A live picture that somebody was shown, in the small; `before` is the one before it."""

    number: int
    seen: Observation
    """Nothing but its size, its app and its small picture."""
    before: Observation | None = None


class OnStill:
    """A place of a live picture: around it the screen has to look as it did, and keys and text have to find its app.

    What moves by itself, such as a film, may be touched all the same where the rules ask nothing.
    """

    def __init__(self, still: Still) -> None:
        self._still = still
        self._moves = False

    def found(self, now: ScreenView, action: ByHand) -> ResolvedTarget:
        """See `Aim.found`."""
        seen, there = self._still.seen, now.observation
        hidden = seen.thumbnail is None
        if there.package != seen.package or not (hidden or there.size == seen.size):
            raise ScreenMoved
        where = resolve_target(action, now)
        if where.point is None:
            return where
        if hidden:
            raise ScreenMoved  # keys and text go to a screen that may not be shown, and nobody has seen a place on it
        patch = _patch(where, there.size)
        if not _alike(seen, there, patch):
            if self._still.before is None or _alike(self._still.before, seen, patch):
                raise ScreenMoved
            self._moves = True
        return where

    def holds(self, gate: Gate) -> bool:
        """See `Aim.holds`."""
        return not self._moves or gate.verdict == "allow"


def _patch(where: ResolvedTarget, size: Size) -> Bounds:
    """What is looked at around a point: its control, unless that is large."""
    assert where.point is not None
    reach = int(size.height * _PATCH)
    around = Bounds(where.point.x - reach, where.point.y - reach, where.point.x + reach, where.point.y + reach)
    box = around if where.element is None else where.element.bounds.clipped(size)
    return (box if 0 < box.area <= around.area else around).clipped(size)


def _alike(one: Observation, other: Observation, where: Bounds) -> bool:
    """Whether both show the same there. A protected screen shows nothing, and is told by its elements alone."""
    here, there = picture_of(one, where), picture_of(other, where)
    return here is None or there is None or same_picture(here, there)


class Operating:
    """Sends what people do by hand. `policy` are the rules of what needs approval."""

    def __init__(self, leases: PhoneLeases, phones: Phones, policy: Policy, journal: Journal) -> None:
        self._leases = leases
        self._phones = phones
        self._policy = policy
        self._journal = journal

    async def touch(self, phone: str, action: ByHand, event: str, *, allowed: str = "") -> Touched:
        """Do it once for this `event` on a phone that nobody holds, and say what it met. `allowed` is what a person has
        said yes to: the `asked` of an earlier refusal.

        Raises NeedsApproval, or Operated: refused by the rules, or the phone is at work, away or did not take it.
        """
        run = RunId(f"hand-{hashlib.sha256(event.encode()).hexdigest()[:16]}")
        fence = await leased(self._leases, run, phone)
        try:
            found = self._phones.get(phone)
            await found.prepare()
            try:
                return await self._touch(found, action, ActionKey(run, 1, 1, 0), fence, None, allowed, approves=False)
            finally:
                with suppress(PhoneError):
                    await found.restore()
        except PhoneError as error:
            raise Operated(say("operate.failed", why=said(sentence_of(error)))) from error
        finally:
            await self._leases.release(run)

    async def touch_held(
        self, lease: Lease, action: ByHand, event: str, aim: Aim, *, allowed: str = "", approves: bool
    ) -> Touched:
        """Do it once for this `event` by a lease that is held already, where the person aimed. With `approves` the
        touch itself is the yes to what the rules ask.

        Raises as `touch` does, and ScreenMoved.
        """
        step = int.from_bytes(hashlib.sha256(event.encode()).digest()[:6])
        key = ActionKey(lease.run, BY_HAND, step, 0)
        try:
            phone = self._phones.get(lease.phone)
            return await self._touch(phone, action, key, lease.fence, aim, allowed, approves=approves)
        except PhoneError as error:
            raise Operated(say("operate.failed", why=said(sentence_of(error)))) from error
        except LeaseLost as error:
            raise Operated(say("hand.over")) from error

    async def _touch(
        self, phone: Phone, action: ByHand, key: ActionKey, fence: int, aim: Aim | None, allowed: str, *, approves: bool
    ) -> Touched:
        seen = await phone.observe(fit=_tiny)
        screen, targets = screen_of(replace(seen, image=None, jpeg=None), seen.size)
        view = ScreenView(seen.without_picture(), screen, targets)
        where = resolve_target(action, view) if aim is None else aim.found(view, action)
        gate = self._policy.gate(action, spot_of(view, where, action))
        if aim is not None and not aim.holds(gate):
            raise ScreenMoved
        yes = self._yes(gate, action, view, where, allowed, approves=approves)
        if not await self._journal.begin(key, _journalled(action), fence=fence):
            raise Operated(say("operate.begun"))
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

    def _yes(
        self, gate: Gate, action: ByHand, view: ScreenView, where: ResolvedTarget, allowed: str, *, approves: bool
    ) -> str:
        """Why the rules ask about what the person's own touch allows; "" for what they do not ask about.

        Raises Operated for what they refuse, and NeedsApproval.
        """
        reason = said(gate.reason)
        if gate.verdict == "refuse":
            raise Operated(say("operate.refused", why=reason))
        if gate.verdict != "approve":
            return ""
        label = _called(where.element)
        told = "\0".join((view.observation.package, label, reason, action.model_dump_json()))
        asked = hashlib.sha256(told.encode()).hexdigest()[:32]
        if asked != allowed and not approves:
            raise NeedsApproval(label or action.kind, reason, asked, anchor_of(where, view))
        return reason


GIVEN_BACK_S: Final = 12.0
"""Seconds that a lent phone is waited for; to put it back as it was may take ten (`agent.runner.local.RESTORE_S`)."""


async def leased(leases: PhoneLeases, run: RunId, phone: str) -> int:
    """The number of the lease of a phone that is free now, or that is given back at once because it was only lent; a
    task at work is not waited for. Raises Operated.
    """
    try:
        async with asyncio.timeout(GIVEN_BACK_S), aclosing(leases.acquire(run, phone)) as waiting:
            async for found in waiting:
                if isinstance(found, Lease):
                    return found.fence
                if leases.holder(phone) is not None:
                    break
    except NoPhone as error:
        raise Operated(str(error)) from error
    except TimeoutError:
        pass  # it is as good as at work
    raise Operated(say("operate.busy"))


def _tiny(screen: Size) -> Size:
    """Nobody is shown this look: what is compared is the picture in the small."""
    return Size(max(1, screen.width // 8), max(1, screen.height // 8))


def _called(element: Element | None) -> str:
    """What an element is called: never what somebody has typed into it."""
    if element is None:
        return ""
    return element.description or element.hint if element.editable else element.label


def _journalled(action: ByHand) -> dict[str, Any]:
    """The action as it is kept: of a text its length alone."""
    data = action.model_dump(mode="json")
    return data | {"text": "", "length": len(action.text)} if isinstance(action, act.Type) else data


def _input_of(action: ByHand, where: ResolvedTarget, view: ScreenView) -> Input:
    spec = BUILT_IN.spec_of(action)
    assert isinstance(spec, InputAction)
    physical = spec.to_input(action, where, view)
    assert physical is not None, "whatever is done by hand has its place"
    return replace(physical, secret=True) if isinstance(physical, TypeText) else physical
