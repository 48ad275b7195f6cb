"""Notifies listeners of what happens to tasks. Listeners are called in the event loop, after the change is committed if
it is stored at all, and must be quick.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from agent.events import ModelAway, Started, Step, TaskEnded, TaskEvent, Thinking, Told

logger = logging.getLogger(__name__)

ChangeListener = Callable[[str], None]
EventListener = Callable[[str, TaskEvent], None]


class EventBus:
    """Calls registered listeners about tasks. If one raises, that is logged and the others are still called."""

    def __init__(self) -> None:
        self._on_change: list[ChangeListener] = []
        self._on_event: list[EventListener] = []
        self._on_passing: list[EventListener] = []
        self._status: dict[str, Told | ModelAway] = {}

    def subscribe(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` with the id of each task that changed. Returns a function that unsubscribes it."""
        self._on_change.append(listener)
        return lambda: self._on_change.remove(listener)

    def on_event(self, listener: EventListener) -> Callable[[], None]:
        """Call `listener` with each event of a task's work, stored or not. Returns a function that unsubscribes it."""
        self._on_event.append(listener)
        return lambda: self._on_event.remove(listener)

    def on_passing(self, listener: EventListener) -> Callable[[], None]:
        """Call `listener` with each event that is not stored in a log, such as streamed text. Returns a function that
        unsubscribes it.
        """
        self._on_passing.append(listener)
        return lambda: self._on_passing.remove(listener)

    def changed(self, task: str) -> None:
        """Call the listeners of `subscribe` with the id of a task that changed."""
        for listener in tuple(self._on_change):
            try:
                listener(task)
            except Exception:
                logger.exception("A listener failed when task %s changed", task)

    def happened(self, task: str, event: TaskEvent) -> None:
        """Call the listeners of `on_event` with an event of a task's work that was stored."""
        stays = isinstance(event, Step) and isinstance(away := self._status.get(task), ModelAway) and away.stand_in
        if isinstance(event, Step | Started | TaskEnded) and not stays:
            self._status.pop(task, None)
        self._tell(self._on_event, task, event)

    def passed(self, task: str, event: TaskEvent) -> None:
        """Call the listeners of `on_event` and `on_passing` with an event that is not stored: a piece of streamed text,
        or what the task is waiting for.
        """
        self._tell(self._on_event, task, event)
        self._tell(self._on_passing, task, event)
        match event:
            case Told(text=""):
                self._status.pop(task, None)
            case ModelAway(until=None, stand_in=""):
                if isinstance(self._status.get(task), ModelAway):
                    del self._status[task]
            case Told() | ModelAway():
                self._status[task] = event
            case _:
                pass
        if not isinstance(event, Thinking):
            self.changed(task)

    def status(self, task: str) -> Told | ModelAway | None:
        """Return what the work on a task is waiting for, or which model stands in for its own; None if neither."""
        return self._status.get(task)

    def _tell(self, listeners: list[EventListener], task: str, event: TaskEvent) -> None:
        for listener in tuple(listeners):
            try:
                listener(task, event)
            except Exception:
                logger.exception("A listener failed at an event of task %s", task)
