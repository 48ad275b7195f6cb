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
        self._change_listeners: list[ChangeListener] = []
        self._event_listeners: list[EventListener] = []
        self._transient_listeners: list[EventListener] = []
        self._status: dict[str, Told | ModelAway] = {}

    def subscribe(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` with the id of each task that changed. Returns a function that unsubscribes it."""
        self._change_listeners.append(listener)
        return lambda: self._change_listeners.remove(listener)

    def on_event(self, listener: EventListener) -> Callable[[], None]:
        """Call `listener` with each event of a task's work, stored or not. Returns a function that unsubscribes it."""
        self._event_listeners.append(listener)
        return lambda: self._event_listeners.remove(listener)

    def on_transient(self, listener: EventListener) -> Callable[[], None]:
        """Call `listener` with each event that is not stored in a log, such as streamed text. Returns a function that
        unsubscribes it.
        """
        self._transient_listeners.append(listener)
        return lambda: self._transient_listeners.remove(listener)

    def publish_change(self, task: str) -> None:
        """Call the listeners of `subscribe` with the id of a task that changed."""
        for listener in tuple(self._change_listeners):
            try:
                listener(task)
            except Exception:
                logger.exception("A listener failed when task %s changed", task)

    def publish_event(self, task: str, event: TaskEvent) -> None:
        """Call the listeners of `on_event` with an event of a task's work that was stored."""
        stays = isinstance(event, Step) and isinstance(away := self._status.get(task), ModelAway) and away.stand_in
        if isinstance(event, Step | Started | TaskEnded) and not stays:
            self._status.pop(task, None)
        self._notify(self._event_listeners, task, event)

    def publish_transient(self, task: str, event: TaskEvent) -> None:
        """Call the listeners of `on_event` and `on_transient` with an event that is not stored: a piece of streamed
        text, or what the task is waiting for.
        """
        self._notify(self._event_listeners, task, event)
        self._notify(self._transient_listeners, task, event)
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
            self.publish_change(task)

    def status(self, task: str) -> Told | ModelAway | None:
        """Return what the work on a task is waiting for, or which model stands in for its own; None if neither."""
        return self._status.get(task)

    def _notify(self, listeners: list[EventListener], task: str, event: TaskEvent) -> None:
        for listener in tuple(listeners):
            try:
                listener(task, event)
            except Exception:
                logger.exception("A listener failed at an event of task %s", task)
