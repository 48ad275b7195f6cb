"""A task's events from its very first one on, for whoever comes a moment later, and the same as lines of JSON."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent.events import Asked, Seen, Step, TaskEnded, TaskEvent, Thinking
from agent.outcome import Outcome
from bot.domain.address import Person
from bot.domain.task import Task, TaskError
from bot.tasks.service import TaskService
from bot.texts import say
from bot.views.tasks import tokens_json


@dataclass(frozen=True, slots=True)
class Heard:
    """An event, and which phone's part it is of, such as "12.1", with the phone's name; "" where one phone works."""

    event: TaskEvent
    part: str = ""
    phone: str = ""

    @property
    def last(self) -> bool:
        """Whether it is the end of the task, not only of one phone's part."""
        return isinstance(self.event, TaskEnded) and not self.part


class Runs(Protocol):
    """The work on tasks, as the command line follows it."""

    def events(self, task: str) -> AsyncGenerator[Heard, None]:
        """The task's events from its very first one on, also those before this call; ends after TaskEnded, or
        without it when the service shuts down. Closing it changes nothing for the task. Where several phones work,
        the events of all come as they happen, and the TaskEnded of each before that of the task.
        """
        ...

    async def answer(self, person: Person, question: str, text: str | None) -> str:
        """Answer an open question; None says that nobody will. "" when that was taken, else why not."""
        ...


def line_of(heard: Heard) -> dict[str, Any]:
    """The event as one plain object; steps, questions and the end have the form that scripts rely on.

    Where several phones work, each of theirs has `part` and `on`, the phone's name, and an end of one is a `part end`.
    """
    line = _line(heard.event)
    if not heard.part:
        return line
    ended = {"type": "part end"} if isinstance(heard.event, TaskEnded) else {}
    return line | ended | {"part": heard.part, "on": heard.phone}


def _line(event: TaskEvent) -> dict[str, Any]:
    match event:
        case Step():
            line = event.model_dump(mode="json", exclude={"usage"})
            return line | {"denied": event.denied, "tokens": tokens_json(event.usage)}
        case Asked():
            line = event.question.model_dump(mode="json", exclude={"id"})
            return {"type": "question", "question": event.question.id} | line
        case TaskEnded():
            line = event.model_dump(mode="json", exclude={"usage"})
            return line | {"tokens": tokens_json(event.usage)}
        case _:
            return event.model_dump(mode="json")


def interrupted() -> dict[str, Any]:
    """The last line when there is no final one."""
    return {"type": "interrupted", "text": say("desk.stopping")}


def encoded(line: dict[str, Any]) -> bytes:
    """The object as one line of UTF-8."""
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


KEPT_TASKS = 100
"""Tasks whose events are remembered; a follower comes within moments after the acceptance."""


@dataclass
class _Track:
    events: list[TaskEvent] = field(default_factory=list)
    followers: set[asyncio.Event] = field(default_factory=set)

    def wake(self) -> None:
        """There is something new."""
        for news in self.followers:
            news.set()


@dataclass
class _Follower:
    """How far the events of a task, or of one phone's part, were told."""

    track: _Track
    part: Task | None = None
    told: int = 0

    def told_end(self, part: Task) -> bool:
        """Whether it is this part's, and its end was told."""
        mine = self.part is not None and self.part.id == part.id
        return mine and any(isinstance(event, TaskEnded) for event in self.track.events[: self.told])

    def news(self) -> list[Heard]:
        """What was not told yet."""
        events = self.track.events[self.told :]
        self.told += len(events)
        if self.part is None:
            return [Heard(event) for event in events]
        return [Heard(event, self.part.called, self.part.phone_name) for event in events]


class TaskFollowers:
    """Remembers the events of the latest tasks. Streamed pieces of thought and first looks are left out."""

    def __init__(self, task_service: TaskService) -> None:
        self._task_service = task_service
        self._tracks: OrderedDict[str, _Track] = OrderedDict()
        self._closed = False
        self._stops = (task_service.on_event(self._happened), task_service.subscribe(self._changed))

    def close(self) -> None:
        """Listen no more; everybody who follows a task comes to an end."""
        self._closed = True
        for stop in self._stops:
            stop()
        for track in self._tracks.values():
            track.wake()

    async def events(self, task: str) -> AsyncGenerator[Heard, None]:
        """The events so far, then those to come; ends after TaskEnded, also when the task ended without its agent,
        and without it for a task that is not known and after `close`.
        """
        news = asyncio.Event()
        parts = await self._task_service.parts(task)
        heard = [_Follower(self._track(task)), *(_Follower(self._track(part.id), part) for part in parts)]
        for each in heard:
            each.track.followers.add(news)
        try:
            while True:
                news.clear()
                # Read before what is told: an end that is known then was told before it.
                known = await self._task_service.get(task)
                for one in [one for each in heard for one in each.news()]:
                    yield one
                    if one.last:
                        return
                if known is None:
                    return
                if known.outcome is not None:
                    for part in await self._task_service.parts(task):
                        # What ended without its agent, or a moment before its event: each end is told.
                        if part.outcome is not None and not any(each.told_end(part) for each in heard):
                            yield Heard(_end(part, part.outcome), part.called, part.phone_name)
                    yield Heard(_end(known, known.outcome))
                    return
                if self._closed:
                    return
                await news.wait()
        finally:
            for each in heard:
                each.track.followers.discard(news)

    async def answer(self, person: Person, question: str, text: str | None) -> str:
        """Answer an open question; None says that nobody will. "" when that was taken, else why not."""
        try:
            if text is None:
                await self._task_service.give_up(question)
                return ""
            answered = await self._task_service.answer(question, text, person)
        except TaskError as error:
            return str(error)
        return "" if answered.won else say("desk.answered_before")

    def _happened(self, task: str, event: TaskEvent) -> None:
        if isinstance(event, Thinking | Seen):
            return
        track = self._track(task)
        track.events.append(event)
        track.wake()

    def _changed(self, task: str) -> None:
        self._track(task).wake()

    def _track(self, task: str) -> _Track:
        track = self._tracks.setdefault(task, _Track())
        self._tracks.move_to_end(task)
        if len(self._tracks) > KEPT_TASKS:
            # Not one that is followed: its follower would hear nothing any more. Nor this one, the last.
            idle = [each for each in list(self._tracks)[:-1] if not self._tracks[each].followers]
            for each in idle[: len(self._tracks) - KEPT_TASKS]:
                del self._tracks[each]
        return track


def _end(task: Task, outcome: Outcome) -> TaskEnded:
    return TaskEnded(
        outcome=outcome,
        summary=task.summary,
        data=task.data,
        steps=task.steps,
        usage=task.usage,
        frame=task.frame,
        sources=task.sources,
    )
