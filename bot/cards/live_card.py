"""The card of a task as it stands at this moment, from who knows the task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from agent.ports.frames import Frames
from bot.cards.card import render_card
from bot.domain.outgoing import Message
from bot.domain.task import Ahead, PartNow, StepRow, Task, TaskState

_MAY_WAIT = frozenset({TaskState.QUEUED, TaskState.WORKING})
"""What was at work may wait for a phone again: its members began without one, or others had it in between."""


class KnowsTasks(Protocol):
    """What a card tells besides the stored task; the task service knows it."""

    async def last_step(self, task: str) -> StepRow | None:
        """The last step, None before the first one."""
        ...

    async def place_in_queue(self, task: str) -> int | None:
        """The task's place in the queue, from 1; None while it waits for no phone."""
        ...

    async def ahead(self, task: Task) -> Ahead | None:
        """Whom it waits for there."""
        ...

    async def parts_now(self, task: str) -> Sequence[PartNow]:
        """How the parts stand of a task for several phones."""
        ...

    def ending(self, task: str) -> bool:
        """Whether somebody has ended it and it comes to rest."""
        ...


async def live_card(
    task: Task,
    known: KnowsTasks,
    *,
    frames: Frames,
    now: float,
    note: Callable[[str], str] = lambda _task: "",
    counts_down: bool = False,
) -> Message:
    """The card as it reads now (Unix seconds); `note` gives what else should be seen of a task or part. A chat that
    `counts_down` shows the time by itself.
    """
    place = await known.place_in_queue(task.id) if task.state in _MAY_WAIT else None
    parts = await known.parts_now(task.id) if task.parts else ()
    return await render_card(
        task,
        await known.last_step(task.id),
        frames=frames,
        now=now,
        note=note(task.id),
        queue_place=place,
        ahead=await known.ahead(task) if place is not None else None,
        ending=known.ending(task.id),
        parts=parts,
        notes={part.task.id: note(part.task.id) for part in parts},
        counts_down=counts_down,
    )
