"""The interface of phone leases: which run may use which phone. The bot implements queues, leases and fencing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from agent.run_id import RunId

GIVE_BACK_S: Final = 600.0
"""Seconds that a run waits for a person before it lends its phone to others in the meantime."""


@dataclass(frozen=True, slots=True)
class Place:
    """A run's place in a queue (from 1) and the phone, or "any phone"."""

    number: int
    phone: str


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to use a phone. `fence` grows with every lease of that phone."""

    phone: str
    run: RunId
    fence: int


class NoPhone(Exception):
    """No phone can serve the request as things are: none is attached, the name is unknown, or it is unusable."""


class PhoneLeft(NoPhone):
    """The phone on which a run was begun cannot be had any more: the work on it stops half-done."""


class Leases(Protocol):
    """The queues for phones and the leases on them."""

    def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncIterator[Place | Lease]:
        """Wait for a phone: yields the run's place in the queue while waiting, and finally the lease.

        `wish` is a phone's stable id, or "" for any free phone. `first` puts the run at the head of the queue, for a
        run that gave its phone back while it waited for a person. A run that already holds a lease gets the same one.
        Raises NoPhone.
        """
        ...

    async def release(self, run: RunId) -> None:
        """Give the phone back. Does nothing if the run holds none."""
        ...


@runtime_checkable
class Lender(Leases, Protocol):
    """Leases that can also lend out phones that no run needs."""

    async def borrow(self, run: RunId, wish: str, wanted: Callable[[], None]) -> Lease | None:
        """Borrow a phone that is free right now, for a run that may not need one; None if there is none.

        `wanted` is called as soon as another run could use the phone. The phone must then be given back at once, unless
        `keep` was called.
        """
        ...

    def keep(self, run: RunId) -> bool:
        """Keep the borrowed phone because the run needs it; others then wait for it. Returns False if another run was
        first.
        """
        ...
