"""Shows on the cards of tasks that work has stopped because nothing can be stored, and removes that when it
continues.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

from bot.domain.task import Task, TaskState
from bot.monitoring.dependencies import Dependencies, Wait
from bot.store.errors import StoreError
from bot.texts import say, speaking
from devices.wording import said

STORE = "store"
AT_WORK = frozenset({TaskState.QUEUED, TaskState.WORKING})
"""The states of tasks that would continue on their own; the others wait for a person."""

logger = logging.getLogger(__name__)


class Cards(Protocol):
    """The part of the task service that is needed here."""

    async def active(self) -> tuple[Task, ...]:
        """Return all tasks that have not ended."""
        ...

    def note(self, task: str, text: str) -> None:
        """Show this text on the task's card until its work continues; "" removes it."""
        ...


def standstill_words(waits: Iterable[Wait]) -> str:
    """Return why all work has stopped, in the current language; "" if it has not."""
    why = next((wait.why for wait in waits if wait.what == STORE), "")
    return say("card.stands_still", why=said(why)) if why else ""


class OutageNotice:
    """Shows on the cards of queued and working tasks that nothing can be stored for now, and removes that when it is
    over. This itself is not stored.
    """

    def __init__(self, task_service: Cards, waits: Dependencies) -> None:
        self._task_service = task_service
        self._waits = waits
        self._told: set[str] = set()
        waits.on_change(self._changed)

    async def _changed(self, what: str) -> None:
        if what != STORE:
            return
        try:
            tasks = [task for task in await self._task_service.active() if not task.parent and task.state in AT_WORK]
        except StoreError as error:
            logger.warning("The cards could not be updated to say that work is on hold: %s", error)
            return
        waits = self._waits.now()
        stands_still = any(wait.what == STORE for wait in waits)
        if not stands_still:
            tasks = [task for task in tasks if task.id in self._told]
        for task in tasks:
            with speaking(task.person.language):
                self._task_service.note(task.id, standstill_words(waits))
        self._told = {task.id for task in tasks} if stands_still else set()
