"""Decides whether an event is confirmed to its platform. An event that the service could not store must be delivered
again.

Platforms deliver an unconfirmed event once more: to this service, or to the one that takes over its record (the stored
data). So a message that was written while the record was unreachable is not lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from bot.domain.chat import Record


class NotAccepted(Exception):
    """Raised for an event that could not be processed because the record (the stored data) does not answer: the
    platform must get no confirmation.
    """


async def not_accepted(works: Collection[asyncio.Task[bool]], record: Record) -> set[asyncio.Task[bool]]:
    """Return those of the works whose events must be delivered again; each work returns whether its event was accepted.

    An unfinished work, such as a large download, counts as accepted while the record answers, so that it delays no
    other event. If the record does not answer, it counts as not accepted, because it may be waiting for the record.
    """
    answers = all(work.done() for work in works) or await record.answers()
    return {work for work in works if not (was_accepted(work) if work.done() else answers)}


def was_accepted(work: asyncio.Task[bool]) -> bool:
    """Return whether a finished work has accepted its event."""
    return not work.cancelled() and work.exception() is None and work.result()
