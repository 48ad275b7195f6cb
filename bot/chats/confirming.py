"""When what people did is confirmed to their platform: an event that the record has not taken in has to come again.

Platforms deliver what is not confirmed once more: to this service, or to the one that takes over its record. So a
message is not lost that was written while the record could not be reached.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from bot.domain.chat import Record


class NotAccepted(Exception):
    """Nothing was done with an event, as the record does not answer: the platform must get no confirmation."""


async def not_accepted(works: Collection[asyncio.Task[bool]], record: Record) -> set[asyncio.Task[bool]]:
    """The works whose events have to come again; each returns whether its event was accepted.

    A work that takes long, such as a large download, counts as accepted while the record answers: nothing else must
    wait for it. If the record does not answer, the work may be waiting for that.
    """
    answers = all(work.done() for work in works) or await record.answers()
    return {work for work in works if not (was_accepted(work) if work.done() else answers)}


def was_accepted(work: asyncio.Task[bool]) -> bool:
    """Whether a finished work has accepted its event."""
    return not work.cancelled() and work.exception() is None and work.result()
