"""Follows tasks: streams stored and passing events to readers, and converts events to JSON lines."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from agent.events import Asked, Step, TaskEnded, TaskEvent, Thinking
from agent.questions import QuestionOrigin
from bot.domain.right import API_PLATFORM
from bot.domain.task import Task, TaskState
from bot.domain.task_events import LogEvent, LoggedEvent, ServiceEvent, ToolCalled
from bot.store.task_events import AT_ONCE, TaskEvents
from bot.tasks.service import TaskService
from bot.texts import say
from bot.views.tasks import tokens_json


@dataclass(frozen=True, slots=True)
class PartEvent:
    """An event of a task. If several phones work on it, `part` is the part that it belongs to, such as "12.1", and
    `phone` that phone's name; otherwise both are "".
    """

    event: TaskEvent | ToolCalled
    part: str = ""
    phone: str = ""

    @property
    def last(self) -> bool:
        """Whether this event ends the whole task, not only one phone's part."""
        return isinstance(self.event, TaskEnded) and not self.part


def line_of(event: PartEvent) -> dict[str, Any]:
    """Convert the event to a plain JSON object. Steps, questions and the end have a stable form that scripts rely on.

    If several phones work on the task, their events also have `part` and `on` (the phone's name), and the end of one
    part has the type "part end".
    """
    line = _line(event.event)
    if not event.part:
        return line
    ended = {"type": "part end"} if isinstance(event.event, TaskEnded) else {}
    return line | ended | {"part": event.part, "on": event.phone}


def _line(event: TaskEvent | ToolCalled) -> dict[str, Any]:
    match event:
        case Step():
            line = event.model_dump(mode="json", exclude={"usage", "record", "index", "phone_name", "target"})
            return line | {"denied": event.denied, "tokens": tokens_json(event.usage)}
        case Asked():
            line = event.question.model_dump(mode="json", exclude={"id"})
            return {"type": "question", "question": event.question.id} | line
        case TaskEnded():
            line = event.model_dump(mode="json", exclude={"usage", "quiet"})
            return line | {"tokens": tokens_json(event.usage)}
        case _:
            return event.model_dump(mode="json")


def interrupted() -> dict[str, Any]:
    """Return the JSON object for the last line of a stream that ends before the task does."""
    return {"type": "interrupted", "text": say("desk.stopping")}


def encoded(line: dict[str, Any]) -> bytes:
    """Encode the object as one line of JSON in UTF-8."""
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


TRANSIENT_KEPT = 200
"""Maximum unread passing events per reader; a reader that is further behind misses the oldest."""


@dataclass(frozen=True, slots=True)
class TransientEvent:
    """An event that is not stored in any log, such as a piece of streamed text."""

    task: str
    part: str
    """The id of the task, or of its part, to which the event belongs."""
    event: TaskEvent


@dataclass(eq=False)
class _Reader:
    """One reader of a log: whether there is something new, and the passing events since its last read."""

    wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    transient: deque[TransientEvent] = field(default_factory=lambda: deque(maxlen=TRANSIENT_KEPT))


class TaskFollowers:
    """Streams the stored log of a task or a conversation, and wakes its readers when there is more."""

    def __init__(self, task_service: TaskService, log: TaskEvents) -> None:
        self._task_service = task_service
        self._log = log
        self._readers: dict[str, set[_Reader]] = {}
        self._logs: dict[str, tuple[str, str]] = {}
        """The task and the conversation, "" for none, in whose logs each task or part at work is told."""
        self._closed = False
        self._unsubscribe = (log.on_append(self._on_append), task_service.on_transient(self._on_transient))

    def close(self) -> None:
        """Stop listening, and end every stream that follows a task."""
        self._closed = True
        for stop in self._unsubscribe:
            stop()
        for readers in self._readers.values():
            for each in readers:
                each.wakeup.set()

    async def follow(
        self, *, task: str = "", conversation: str = "", after: int = 0, beat: float | None = None
    ) -> AsyncGenerator[LoggedEvent | TransientEvent | None, None]:
        """Stream the log of a task or a conversation from after event number `after`, then new events as they happen,
        mixed with passing events, which no log stores.

        None is yielded when there is nothing more for now, and after every `beat` seconds without an event. Ends when
        the service shuts down.
        """
        with self._reading(task or conversation) as reader:
            while not self._closed:
                reader.wakeup.clear()
                found = await (
                    self._log.of_task(task, after) if task else self._log.of_conversation(conversation, after)
                )
                for one in found:
                    after = one.number if task else one.told
                    yield one
                while reader.transient:
                    yield reader.transient.popleft()
                if len(found) < AT_ONCE:
                    yield None
                    with suppress(TimeoutError):
                        async with asyncio.timeout(beat):
                            await reader.wakeup.wait()

    @contextmanager
    def _reading(self, log: str) -> Iterator[_Reader]:
        reader = _Reader()
        self._readers.setdefault(log, set()).add(reader)
        try:
            yield reader
        finally:
            self._readers[log].discard(reader)
            if not self._readers[log]:
                del self._readers[log]

    def readers(self, log: str) -> int:
        """Return how many readers follow this log now; `log` is the id of the task or conversation."""
        return len(self._readers.get(log, ()))

    async def events(self, task: str, *, thinking: bool = False) -> AsyncGenerator[PartEvent, None]:
        """Stream the events of the work on a task from its first, including those before this call. Ends after
        TaskEnded, or when the service shuts down; closing the stream does not affect the task. What people and the
        service do (notes, pauses, takeovers) is not streamed.

        If several phones work, their events are in the order in which they happen, and the TaskEnded of each part comes
        before that of the task. An unknown task, or one whose log was removed, has no events. With `thinking`, the
        models' thoughts, their streamed text and the tools they use are included.
        """
        parts = {part.id: part for part in await self._task_service.parts(task)}

        def heard(event: TaskEvent | ToolCalled, part: str) -> PartEvent:
            return PartEvent(event, parts[part].called, parts[part].phone_name) if part in parts else PartEvent(event)

        untold = [task, *parts]
        """Of which nothing was told yet that no log keeps: what each waits for is still to tell."""
        known = False
        async with aclosing(self.follow(task=task)) as log:
            async for one in log:
                match one:
                    case LoggedEvent(event=Thinking() | ToolCalled() as event, part=part):
                        known = True
                        if thinking:
                            yield heard(event, part)
                    case LoggedEvent(event=event, part=part):
                        known = True
                        if not isinstance(event, ServiceEvent) and not _is_taken_over(event):
                            yield heard(event, part)
                        if one.is_last:
                            return
                    case TransientEvent(part=part, event=event):
                        if not isinstance(event, Thinking):
                            untold = [each for each in untold if each != part]
                            yield heard(event, part)
                        elif thinking:
                            yield heard(event, part)
                    case None if known:
                        for part in untold:
                            if (status := self._task_service.status(part)) is not None:
                                yield heard(status, part)
                        untold = []
                    case None:
                        return

    def _on_append(self, task: Task, _: LogEvent) -> None:
        logs = (task.parent or task.id, task.origin.thread if task.origin.platform == API_PLATFORM else "")
        if task.state is TaskState.ENDED:
            self._logs.pop(task.id, None)
        else:
            self._logs[task.id] = logs
        for log in logs:
            for reader in self._readers.get(log, ()):
                reader.wakeup.set()

    def _on_transient(self, task: str, event: TaskEvent) -> None:
        logs = self._logs.get(task, (task,))
        for log in logs:
            for reader in self._readers.get(log, ()):
                reader.transient.append(TransientEvent(logs[0], task, event))
                reader.wakeup.set()


def _is_taken_over(event: LogEvent) -> bool:
    """Return whether the event asks the person who has the phone in their hands to say that they are done. Only they
    can answer that.
    """
    return isinstance(event, Asked) and event.question.origin is QuestionOrigin.TAKEOVER
