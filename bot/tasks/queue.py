"""Decides which waiting run gets which phone. These are pure functions: they read and write nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from agent.ports.leases import NoPhone
from agent.run import RunId
from bot.tasks.input import health_words
from bot.texts import listed, paragraph, say
from devices.phone import Health, PhoneInfo
from devices.wording import said

_BEST_FIRST = (Health.READY, Health.ASLEEP, Health.LOW_BATTERY, Health.LOCKED)
"""A locked phone comes last: somebody may have to be asked to unlock it."""


Admits = Callable[[str], bool]


def _any(_phone: str) -> bool:
    return True


class Standing(Enum):
    """How certain it is that a run may have the phones for which it waits."""

    SURE = auto()
    ASKED = auto()
    """The chat platform is being asked for the person's roles, which ends soon: the phone is reserved for the run until
    then.
    """
    UNKNOWN = auto()
    """The chat platform does not answer for now: other runs go first."""


def _sure() -> Standing:
    return Standing.SURE


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
    standing: Callable[[], Standing] = _sure
    """Called when there is a phone for the run, to learn how sure its right is."""


def granted(
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
        standing = waiter.standing() if chosen is not None else Standing.UNKNOWN
        if chosen is None or standing is Standing.UNKNOWN:
            continue
        free.remove(chosen)
        if standing is Standing.SURE:
            grants.append((waiter, chosen.id))
    return tuple(grants)


def place_of(waiter: Waiter, waiters: Collection[Waiter]) -> int:
    """Return the run's place in the queue, from 1. A run that takes any phone counts as waiting for every phone."""
    return 1 + sum(
        other.rank < waiter.rank and (not waiter.wish or not other.wish or waiter.wish == other.wish)
        for other in waiters
    )


def hopeless(
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


def silent(wish: str, phones: Collection[PhoneInfo], admits: Admits = _any) -> bool:
    """Return whether a phone that fits the wish and that `admits` allows is connected but does not answer now."""
    return any(phone.health is Health.SILENT and wish in {"", phone.id} and admits(phone.id) for phone in phones)


def _trouble(phone: PhoneInfo) -> str:
    reason = said(phone.reason) or health_words(phone.health)
    return paragraph(say("desk.phone.unusable", name=phone.name, why=reason.rstrip(".。")), said(phone.fix))
