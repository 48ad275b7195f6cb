"""Following tasks: whoever reads a log is woken, and gets what no log keeps; a task's events, also as lines of JSON."""

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
class Heard:
    """An event, and which phone's part it is of, such as "12.1", with the phone's name; "" where one phone works."""

    event: TaskEvent | ToolCalled
    part: str = ""
    phone: str = ""

    @property
    def last(self) -> bool:
        """Whether it is the end of the task, not only of one phone's part."""
        return isinstance(self.event, TaskEnded) and not self.part


def line_of(heard: Heard) -> dict[str, Any]:
    """The event as one plain object; steps, questions and the end have the form that scripts rely on.

    Where several phones work, each of theirs has `part` and `on`, the phone's name, and an end of one is a `part end`.
    """
    line = _line(heard.event)
    if not heard.part:
        return line
    ended = {"type": "part end"} if isinstance(heard.event, TaskEnded) else {}
    return line | ended | {"part": heard.part, "on": heard.phone}


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
    """The last line when there is no final one."""
    return {"type": "interrupted", "text": say("desk.stopping")}


def encoded(line: dict[str, Any]) -> bytes:
    """The object as one line of UTF-8."""
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


PASSING_KEPT = 200
"""What waits for a reader of what no log keeps; who is further behind misses the oldest of it."""


@dataclass(frozen=True, slots=True)
class Passing:
    """An event that no log keeps, and of which task; `part` is the id of the task or of its part."""

    task: str
    part: str
    event: TaskEvent


@dataclass(eq=False)
class _Reader:
    """Somebody who reads a log: whether there is something new, and what has passed that no log keeps."""

    news: asyncio.Event = field(default_factory=asyncio.Event)
    passing: deque[Passing] = field(default_factory=lambda: deque(maxlen=PASSING_KEPT))


class TaskFollowers:
    """Wakes those who read the log of a task or of a conversation."""

    def __init__(self, task_service: TaskService, log: TaskEvents) -> None:
        self._task_service = task_service
        self._log = log
        self._readers: dict[str, set[_Reader]] = {}
        self._logs: dict[str, tuple[str, str]] = {}
        """The task and the conversation, "" for none, in whose logs each task or part at work is told."""
        self._closed = False
        self._stops = (log.on_append(self._appended), task_service.on_passing(self._passed))

    def close(self) -> None:
        """Listen no more; everybody who follows a task comes to an end."""
        self._closed = True
        for stop in self._stops:
            stop()
        for readers in self._readers.values():
            for each in readers:
                each.news.set()

    async def follow(
        self, *, task: str = "", conversation: str = "", after: int = 0, beat: float | None = None
    ) -> AsyncGenerator[LoggedEvent | Passing | None, None]:
        """The log of a task, or of a conversation, behind the event with this number in it, then what comes, with what
        no log keeps. There is None where that is all for now, and again after each `beat` seconds of silence. Ends when
        the service shuts down.
        """
        with self._reading(task or conversation) as reader:
            while not self._closed:
                reader.news.clear()
                found = await (
                    self._log.of_task(task, after) if task else self._log.of_conversation(conversation, after)
                )
                for one in found:
                    after = one.number if task else one.told
                    yield one
                while reader.passing:
                    yield reader.passing.popleft()
                if len(found) < AT_ONCE:
                    yield None
                    with suppress(TimeoutError):
                        async with asyncio.timeout(beat):
                            await reader.news.wait()

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
        """How many read it now."""
        return len(self._readers.get(log, ()))

    async def events(self, task: str, *, thinking: bool = False) -> AsyncGenerator[Heard, None]:
        """The task's events from its very first one on, also those before this call; ends after TaskEnded, or without
        it when the service shuts down. Closing it changes nothing for the task. Where several phones work, the events
        of all come as they happen, and the TaskEnded of each before that of the task. Those of a task that is not
        known, or whose log was removed, are none. With `thinking`, what models think and write, and the tools that they
        use, are among them.
        """
        parts = {part.id: part for part in await self._task_service.parts(task)}

        def heard(event: TaskEvent | ToolCalled, part: str) -> Heard:
            return Heard(event, parts[part].called, parts[part].phone_name) if part in parts else Heard(event)

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
                    case Passing(part=part, event=event):
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

    def _appended(self, task: Task, _: LogEvent) -> None:
        logs = (task.parent or task.id, task.origin.thread if task.origin.platform == API_PLATFORM else "")
        if task.state is TaskState.ENDED:
            self._logs.pop(task.id, None)
        else:
            self._logs[task.id] = logs
        for log in logs:
            for reader in self._readers.get(log, ()):
                reader.news.set()

    def _passed(self, task: str, event: TaskEvent) -> None:
        logs = self._logs.get(task, (task,))
        for log in logs:
            for reader in self._readers.get(log, ()):
                reader.passing.append(Passing(logs[0], task, event))
                reader.news.set()


def _is_taken_over(event: LogEvent) -> bool:
    """Whether it asks for the word that somebody is done who has the phone in their hands: that is theirs to say."""
    return isinstance(event, Asked) and event.question.origin is QuestionOrigin.TAKEOVER
