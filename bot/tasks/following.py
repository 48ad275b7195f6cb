"""A task's events from its very first one on, for whoever comes a moment later: the command line and the console."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from agent.events import TaskEnded, TaskEvent, Thinking
from agent.outcome import Outcome
from bot.chats.address import Person
from bot.tasks.desk import TaskDesk
from bot.tasks.errors import TaskError
from bot.tasks.lines import Heard
from bot.tasks.model import Task
from bot.texts import say

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


class Following:
    """Remembers the events of the latest tasks. Streamed pieces of thought are left out."""

    def __init__(self, desk: TaskDesk) -> None:
        self._desk = desk
        self._tracks: OrderedDict[str, _Track] = OrderedDict()
        self._closed = False
        self._stops = (desk.on_event(self._happened), desk.subscribe(self._changed))

    def close(self) -> None:
        """Listen no more; everybody who follows a task comes to an end."""
        self._closed = True
        for stop in self._stops:
            stop()
        for track in self._tracks.values():
            track.wake()

    async def events(self, task: str) -> AsyncGenerator[Heard, None]:
        """The events so far, then those to come; ends after TaskEnded, also when the task ended without its mind,
        and without it for a task that is not known and after `close`.
        """
        news = asyncio.Event()
        parts = await self._desk.parts(task)
        heard = [_Follower(self._track(task)), *(_Follower(self._track(part.id), part) for part in parts)]
        for each in heard:
            each.track.followers.add(news)
        try:
            while True:
                news.clear()
                # Read before what is told: an end that is known then was told before it.
                known = await self._desk.get(task)
                for one in [one for each in heard for one in each.news()]:
                    yield one
                    if one.last:
                        return
                if known is None:
                    return
                if known.outcome is not None:
                    for part in await self._desk.parts(task):
                        # What ended without its mind, or a moment before its event: each end is told.
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
                await self._desk.give_up(question)
                return ""
            answered = await self._desk.answer(question, text, person)
        except TaskError as error:
            return str(error)
        return "" if answered.won else say("desk.answered_before")

    def _happened(self, task: str, event: TaskEvent) -> None:
        if isinstance(event, Thinking):
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
        outcome=outcome, summary=task.summary, data=task.data, steps=task.steps, usage=task.usage, frame=task.frame
    )
