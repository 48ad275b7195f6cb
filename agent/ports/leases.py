"""Who may touch which phone. Queue, lease and fencing belong to the bot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from agent.run_id import RunId

GIVE_BACK_S: Final = 600.0
"""Seconds after which a run that waits for a person gives its phone to others meanwhile."""


@dataclass(frozen=True, slots=True)
class Place:
    """Still waiting: the place in the queue (from 1) and the phone, or "any phone"."""

    number: int
    phone: str


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to use a phone. `fence` grows with every lease of that phone."""

    phone: str
    run: RunId
    fence: int


class NoPhone(Exception):
    """No phone can ever serve this wish as things are: none attached, unknown name, or not usable."""


class PhoneLeft(NoPhone):
    """The phone on which a run was begun cannot be had any more: the work on it stops half-done."""


class Leases(Protocol):
    """The queues before the phones."""

    def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncIterator[Place | Lease]:
        """Wait for a phone: places in the queue while waiting, at last the lease.

        `wish` is a phone's stable id, or "" for any free phone; `first` puts the run at the head (it gave the
        phone back while it waited for a person). A run that holds its lease gets it again. Raises NoPhone.
        """
        ...

    async def release(self, run: RunId) -> None:
        """Give the phone back. Nothing happens when the run holds none."""
        ...


@runtime_checkable
class Lender(Leases, Protocol):
    """Leases that also lend phones which nobody needs."""

    async def borrow(self, run: RunId, wish: str, wanted: Callable[[], None]) -> Lease | None:
        """A phone that is free at this moment, for a run that may not need one; None where there is none.

        `wanted` is called as soon as somebody else could have the phone: it is then given back at once, unless `keep`
        has been called.
        """
        ...

    def keep(self, run: RunId) -> bool:
        """The run needs what it has borrowed: from now on others wait for the phone. False where somebody was first."""
        ...
