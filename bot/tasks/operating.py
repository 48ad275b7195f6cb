"""A phone touched by hand from afar: one input, through lease, rules and journal as every action of a run."""

from __future__ import annotations

import hashlib
import logging
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from agent import actions as act
from agent.graph.executor.gate import spot_of
from agent.graph.executor.targets import ResolvedTarget, resolve_target
from agent.guards.gate import Gate
from agent.guards.policy import Policy
from agent.observing import ScreenView, screen_of
from agent.ports.journal import ActionKey, Journal
from agent.ports.leases import Lease, NoPhone
from agent.run_id import RunId
from bot.domain.task import TaskError
from bot.tasks.leases import PhoneLeases
from bot.texts import say
from devices.errors import InputRejected, PhoneError
from devices.geometry import Point
from devices.inputs import Input, OpenApp, PressKey, Tap, TypeText
from devices.phone import Observation, Phone, Phones
from devices.wording import said, sentence_of

logger = logging.getLogger(__name__)

ByHand = act.Tap | act.Type | act.PressKey | act.OpenApp
"""What can be done by hand. Points are in the phone's own pixels."""


class Operated(TaskError):
    """The phone was not touched, or nobody knows whether it was."""


class NeedsApproval(TaskError):
    """The rules ask a person first. `asked` names what exactly, so that a yes holds for this and nothing else."""

    def __init__(self, text: str, asked: str) -> None:
        super().__init__(text)
        self.asked = asked


@dataclass(frozen=True, slots=True)
class Touched:
    """What an input met: the app in front, and the label of what is at that place."""

    app: str
    target: str


class Operating:
    """Touches phones that no task works on. `policy` are the rules of what needs approval."""

    def __init__(self, leases: PhoneLeases, phones: Phones, policy: Policy, journal: Journal) -> None:
        self._leases = leases
        self._phones = phones
        self._policy = policy
        self._journal = journal

    async def touch(self, phone: str, action: ByHand, event: str, *, allowed: str = "") -> Touched:
        """Do it once for this `event`, and say what it met. `allowed` is what a person has said yes to: the `asked` of
        an earlier refusal.

        Raises NeedsApproval, or Operated: refused by the rules, or the phone is at work, away or did not take it.
        """
        run = RunId(f"hand-{hashlib.sha256(event.encode()).hexdigest()[:16]}")
        fence = await self._leased(run, phone)
        try:
            return await self._touch(self._phones.get(phone), action, ActionKey(run, 1, 1, 0), fence, allowed)
        except PhoneError as error:
            raise Operated(say("operate.failed", why=said(sentence_of(error)))) from error
        finally:
            await self._leases.release(run)

    async def _leased(self, run: RunId, phone: str) -> int:
        """The number of the lease of a phone that is free now; a task at work is not waited for."""
        try:
            async with aclosing(self._leases.acquire(run, phone)) as waiting:
                async for found in waiting:
                    if isinstance(found, Lease):
                        return found.fence
                    break
        except NoPhone as error:
            raise Operated(str(error)) from error
        raise Operated(say("operate.busy"))

    async def _touch(self, phone: Phone, action: ByHand, key: ActionKey, fence: int, allowed: str) -> Touched:
        await phone.prepare()
        try:
            seen = await phone.observe()
            screen, targets = screen_of(replace(seen, image=None), seen.size)
            sight = ScreenView(seen, screen, targets)
            where = resolve_target(action, sight)
            gate = self._policy.gate(action, spot_of(sight, where, action))
            self._require(gate, action, seen, where, allowed)
            secret = gate.verdict == "secret"
            data = action.model_dump(mode="json") | ({"text": ""} if secret else {})
            if not await self._journal.begin(key, data, fence=fence):
                raise Operated(say("operate.begun"))
            try:
                await phone.act(_input_of(action, where, secret=secret), receipt=key.receipt)
            except InputRejected as error:
                await self._journal.finish(key, "rejected", type(error).__name__)
                raise
            except BaseException as error:
                await self._journal.finish(key, "uncertain", type(error).__name__)
                raise
            await self._journal.finish(key, "done", "")
            return Touched(seen.package, where.element.label if where.element is not None else "")
        finally:
            with suppress(PhoneError):
                await phone.restore()

    def _require(self, gate: Gate, action: ByHand, seen: Observation, where: ResolvedTarget, allowed: str) -> None:
        reason = said(gate.reason)
        if gate.verdict == "refuse":
            raise Operated(say("operate.refused", why=reason))
        if gate.verdict != "approve":
            return
        label = where.element.label if where.element is not None else ""
        told = "\0".join((seen.package, label, reason, action.model_dump_json()))
        asked = hashlib.sha256(told.encode()).hexdigest()[:32]
        if asked != allowed:
            raise NeedsApproval(say("operate.asks", what=label or action.kind, why=reason), asked)


def _input_of(action: ByHand, where: ResolvedTarget, *, secret: bool) -> Input:
    match action:
        case act.Tap():
            assert where.point is not None
            return Tap(Point(where.point.x, where.point.y))
        case act.Type():
            return TypeText(action.text, clear=action.clear, submit=action.submit, secret=secret)
        case act.PressKey():
            return PressKey(action.key)
        case act.OpenApp():
            return OpenApp(action.name)
