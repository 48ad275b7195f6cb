"""Which run may be given which phone: what its person might use when they asked, as far as that still holds."""

from __future__ import annotations

from collections.abc import Callable

from agent.graph.main.state import run_of
from bot.access import Policy, Right, authorize
from bot.chats.base import Place
from bot.tasks.model import Task


class Admission:
    """Knows the tasks that are worked on, by their runs. `policy` gives what holds now."""

    def __init__(self, policy: Callable[[], Policy]) -> None:
        self._policy = policy
        self._tasks: dict[str, Task] = {}

    def begin(self, task: Task) -> None:
        """The task is worked on from now on."""
        self._tasks[run_of(task.id)] = task

    def end(self, task: Task) -> None:
        """It is not worked on any more."""
        self._tasks.pop(run_of(task.id), None)

    def admits(self, run: str, phone: str) -> bool:
        """Whether the run may have this phone, asked each time one is about to be given.

        A right that came with a role is not looked at again: the roles of a person are not kept.
        """
        task = self._tasks.get(run)
        entitled = None if task is None else task.entitled
        if task is None or entitled is None:
            return True
        if entitled.phones and phone not in entitled.phones:
            return False
        place = Place(task.origin, entitled.private)
        return entitled.by_role or authorize(task.person, place, Right.USE, self._policy(), phone=phone).allowed
