"""The interface of phone leases, which decide which run may use which phone. The bot implements queues and leases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from agent.run import RunId

GIVE_BACK_S: Final = 600.0
"""Seconds that a run waits for a person's answer before it lends its phone to others in the meantime."""


@dataclass(frozen=True, slots=True)
class Place:
    """A run's place in the queue (from 1) for a phone: its name, or "any phone"."""

    number: int
    phone: str


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of a run to use a phone. `fence` is a number that grows with every lease of that phone, so that writes
    of an older lease can be rejected.
    """

    phone: str
    run: RunId
    fence: int


class NoPhone(Exception):
    """No phone can serve the request at present: none is attached, the name is unknown, or the phone is unusable."""


class PhoneLeft(NoPhone):
    """The phone on which a run began is not available any more, so its work there stays unfinished."""


class Leases(Protocol):
    """The queues for phones and the leases on them."""

    def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncIterator[Place | Lease]:
        """Wait for a phone: yields the run's place in the queue while waiting, and finally the lease.

        `wish` is a phone's stable id, or "" for any free phone. `first` puts the run at the head of the queue, for a
        run that gave its phone back while it waited for a person. A run that already holds a lease gets the same one.
        Raises NoPhone.
        """

    async def release(self, run: RunId) -> None:
        """Give the run's phone back. Does nothing if it has none."""


@runtime_checkable
class Lender(Leases, Protocol):
    """Leases that can also lend a free phone to a run that may not need it."""

    async def borrow(self, run: RunId, wish: str, wanted: Callable[[], None]) -> Lease | None:
        """Borrow a phone that is free right now, for a run that may not need it; None if there is none.

        `wish` is a phone's id, or "" for any. `wanted` is called as soon as another run could use the phone. The phone
        must then be given back at once, unless `keep` was called.
        """

    def keep(self, run: RunId) -> bool:
        """Turn the borrowed phone into a normal lease because the run needs it; others then wait for it. Returns False
        if another run was first.
        """
