"""Decides which waiting run gets which phone: the order of the runs, and the phones that each person was allowed to use
when they asked, as far as that right still holds.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from agent.ports.leases import NoPhone
from agent.run import RunId
from bot.domain.address import Person, Place
from bot.domain.right import Right
from bot.domain.task import Task
from bot.people.access import Policy, authorize
from bot.tasks.input import health_words
from bot.texts import listed, paragraph, say, speaking
from devices.phone import Health, PhoneInfo
from devices.wording import said

logger = logging.getLogger(__name__)


_BEST_FIRST = (Health.READY, Health.ASLEEP, Health.LOW_BATTERY, Health.LOCKED)
"""A locked phone comes last: somebody may have to be asked to unlock it."""


Admits = Callable[[str], bool]


def _any(_phone: str) -> bool:
    return True


class Certainty(Enum):
    """How certain it is that a run may have the phones for which it waits."""

    SURE = auto()
    ASKED = auto()
    """The chat platform is being asked for the person's roles, which ends soon: the phone is reserved for the run until
    then.
    """
    UNKNOWN = auto()
    """The chat platform does not answer for now: other runs go first."""


def _sure() -> Certainty:
    return Certainty.SURE


class NotAdmitted(NoPhone):
    """The person may not use the phone they asked for, or any phone at all, so the run does not wait."""


@dataclass(frozen=True, slots=True)
class Waiter:
    """A run that waits for a phone."""

    run: RunId
    wish: str
    """The id of the wanted phone; "" for any."""
    rank: int
    """The position in the queue: lower ranks are served first."""
    admits: Admits = _any
    """Whether the run may have the phone with this id; called each time, as rights change meanwhile."""
    certainty: Callable[[], Certainty] = _sure
    """Called when there is a phone for the run, to learn how sure its right is."""


def assign_phones(
    waiters: Sequence[Waiter], phones: Collection[PhoneInfo], held: Collection[str]
) -> tuple[tuple[Waiter, str], ...]:
    """Return the waiting runs that get a phone now, each with the phone's id. `held` are the ids of the phones that
    other runs have.
    """
    free = sorted(
        (phone for phone in phones if phone.health.usable and phone.id not in held),
        # A phone that reports no battery has mains power.
        key=lambda phone: (_BEST_FIRST.index(phone.health), -(100 if phone.battery is None else phone.battery)),
    )
    grants = []
    for waiter in sorted(waiters, key=lambda waiter: waiter.rank):
        chosen = next((phone for phone in free if waiter.wish in {"", phone.id} and waiter.admits(phone.id)), None)
        standing = waiter.certainty() if chosen is not None else Certainty.UNKNOWN
        if chosen is None or standing is Certainty.UNKNOWN:
            continue
        free.remove(chosen)
        if standing is Certainty.SURE:
            grants.append((waiter, chosen.id))
    return tuple(grants)


def place_of(waiter: Waiter, waiters: Collection[Waiter]) -> int:
    """Return the run's place in the queue, from 1. A run that takes any phone counts as waiting for every phone."""
    return 1 + sum(
        other.rank < waiter.rank and (not waiter.wish or not other.wish or waiter.wish == other.wish)
        for other in waiters
    )


def unservable_reason(
    wish: str, phones: Collection[PhoneInfo], held: Collection[str], admits: Admits = _any, *, called: str = ""
) -> NoPhone | None:
    """Return why no phone can serve this wish (a phone's id, "" for any) at present; None if waiting makes sense.
    `called` is the wished phone's name, needed if it is not among `phones`; `held` are the ids of phones that runs
    have.

    A phone that a run has is worth waiting for even if it is unplugged, because that run waits for it too. So is a
    phone that another service uses.
    """
    if wish and not admits(wish):
        name = next((phone.name for phone in phones if phone.id == wish), called or wish)
        return NotAdmitted(say("desk.phone.not_open", name=name))
    known, phones = phones, [phone for phone in phones if admits(phone.id)]
    held = [phone for phone in held if admits(phone)]
    if known and not phones and not held:
        return NotAdmitted(say("desk.phone.none_open"))
    wished = [phone for phone in phones if wish in {"", phone.id}]
    if any(phone.health.usable or phone.health is Health.BUSY_ELSEWHERE for phone in wished) or (
        wish in held if wish else held
    ):
        return None
    if wished:
        return NoPhone(paragraph(*(_trouble(phone) for phone in wished)))
    if phones:
        names = listed(say("desk.phone.named", name=phone.name, id=phone.id) for phone in phones)
        return NoPhone(say("desk.phone.unknown", name=called or wish, names=names))
    return NoPhone(say("desk.phone.none"))


def has_silent_phone(wish: str, phones: Collection[PhoneInfo], admits: Admits = _any) -> bool:
    """Return whether a phone that fits the wish and that `admits` allows is connected but does not answer now."""
    return any(phone.health is Health.SILENT and wish in {"", phone.id} and admits(phone.id) for phone in phones)


def _trouble(phone: PhoneInfo) -> str:
    reason = said(phone.reason) or health_words(phone.health)
    return paragraph(say("desk.phone.unusable", name=phone.name, why=reason.rstrip(".。")), said(phone.fix))


FRESH_S: Final = 10.0
"""Seconds for which looked-up roles count as current: two heartbeats of the queue, enough to give a phone by them."""
AGAIN_S: Final = 15.0
"""Seconds until a platform that did not return somebody's roles is asked again."""


AskRoles = Callable[[Person, Place], Awaitable[Person | None]]
"""Returns the person with their current roles, or None if the platform does not answer. Ends in bounded time."""
Note = Callable[[str, str], None]
"""Takes the id of a task and what it is waiting for."""
RolesListener = Callable[[Task, Person], Awaitable[None]]
"""Takes a task and its person with their current roles, before the task gets a phone."""


@dataclass
class _ActiveTask:
    """A task being worked on, and the latest answer about its person's roles."""

    task: Task
    person: Person | None = None
    at: float = float("-inf")
    """When the answer, or the lack of one, came."""
    lookup: asyncio.Task[None] | None = None
    callbacks: set[Callable[[], None]] = field(default_factory=set)
    outage_shown: bool = False
    """Whether the card says that the platform does not answer."""


class Admission:
    """Decides which phones the running tasks may be given, by the current rights of their persons."""

    def __init__(self, policy: Callable[[], Policy], clock: Callable[[], float] = time.monotonic) -> None:
        """`policy` returns the current access policy, `clock` seconds."""
        self._policy = policy
        self._clock = clock
        self._lookup_roles: AskRoles | None = None
        self._note: Note
        self._on_roles: RolesListener
        self._active: dict[str, _ActiveTask] = {}

    def subject(self, person: Person) -> str:
        """Return the id under which memory is kept for tasks of this person."""
        return self._policy().subject(person)

    def set_role_lookup(self, ask: AskRoles, note: Note, listener: RolesListener) -> None:
        """Set how people's roles are looked up. Until this is called, tasks that depend on a role wait. `note` is
        called to show on a task's card that the roles could not be found out; `listener` is called with the task and
        its person with the roles that were found.
        """
        self._lookup_roles, self._note, self._on_roles = ask, note, listener

    def begin(self, task: Task) -> None:
        """Register a task that is now being worked on."""
        self._active[task.id] = _ActiveTask(task)

    def end(self, task: Task) -> None:
        """Forget a task that is no longer being worked on."""
        held = self._active.pop(task.id, None)
        if held is not None and held.lookup is not None:
            held.lookup.cancel()

    def admits(self, run: RunId, phone: str) -> bool:
        """Return whether the run (one attempt to work on a task) may have this phone, as far as is known. Called each
        time a phone is about to be given out.

        If the person's right came with a role that has not been looked up yet, it is assumed to hold; see `certainty`.
        """
        held = self._active.get(run.task)
        entitled = None if held is None else held.task.request.entitled
        if held is None or entitled is None:
            return True
        if entitled.phones and phone not in entitled.phones:
            return False
        person = held.task.person
        if entitled.by_role:
            if not self._has_fresh_roles(held):
                return True
            person = held.person or person
        place = _place(held.task)
        return authorize(person, place, Right.USE, self._policy(), phone=phone).allowed

    def certainty(self, run: RunId, told: Callable[[], None]) -> Certainty:
        """Return how certain the answer of `admits` is at this moment. If a role has to be looked up, this starts the
        look-up and calls `callbacks` when it is done.

        A role that was looked up more than FRESH_S seconds ago does not count, because it may have been taken away. If
        only the person's tier (their quota level) depends on roles and the platform does not answer, the phone is given
        and the task keeps the tier with which it was accepted.
        """
        held = self._active.get(run.task)
        if held is None or self._has_fresh_roles(held):
            return Certainty.SURE
        by_right = _by_role(held.task)
        if not by_right and not self._policy().tier_depends_on_roles(held.task.person, held.task.origin):
            return Certainty.SURE
        lately = held.person is None and self._clock() - held.at < AGAIN_S
        if held.lookup is None and (lately or self._lookup_roles is None):
            return Certainty.UNKNOWN if by_right else Certainty.SURE
        held.callbacks.add(told)
        if held.lookup is None and self._lookup_roles is not None:
            held.lookup = asyncio.create_task(self._refresh_roles(held, self._lookup_roles), name=f"roles for {run}")
        return Certainty.ASKED

    def _has_fresh_roles(self, active: _ActiveTask) -> bool:
        return active.person is not None and self._clock() - active.at < FRESH_S

    async def _refresh_roles(self, active: _ActiveTask, ask: AskRoles) -> None:
        task, active.person = active.task, None
        try:
            person = await ask(task.person, _place(task))
            if person is not None:
                await self._on_roles(task, person)
            active.person = person
        except Exception:
            logger.exception("The roles for task %s could not be read", task.id)
        finally:
            active.at, active.lookup = self._clock(), None
            told, active.callbacks = active.callbacks, set()
            for each in told:
                each()
        if active.person is None and not active.outage_shown and _by_role(task):
            with speaking(task.person.language):
                self._note(task.id, say("desk.phone.role_unknown"))
        active.outage_shown = active.person is None


def _by_role(task: Task) -> bool:
    return task.request.entitled is not None and task.request.entitled.by_role


def _place(task: Task) -> Place:
    return Place(task.origin, task.request.origin.private)
