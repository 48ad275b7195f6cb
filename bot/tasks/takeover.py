"""Takeover: the task is paused while a person does something on its phone, until they say that they are done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from agent.control import done_by_hand
from agent.questions import Question, QuestionKind, QuestionOrigin
from bot.domain.address import Person
from bot.domain.task import NotStill, Task, TaskState, WrongState
from bot.tasks.event_bus import EventBus
from bot.tasks.multi_device import MultiDeviceControl
from bot.tasks.repository import TaskRepository
from bot.texts import say


class Takeover:
    """Asks the question that stays open until a person is done on the phone, and resumes the task once it is
    answered.
    """

    def __init__(
        self, control: MultiDeviceControl, record: TaskRepository, news: EventBus, clock: Callable[[], float]
    ) -> None:
        self._control = control
        self._record = record
        self._news = news
        self._clock = clock

    async def take(self, task: Task, by: Person) -> Task:
        """Pause the task, ask the person to say when they are done, and return the task. Taking over twice changes
        nothing.

        Raises WrongState, AgentFailed, or NotStill as a pause does; after NotStill, the question is open nevertheless.
        """
        if task.state not in {TaskState.WORKING, TaskState.PAUSED}:
            raise WrongState(task, "taken")
        if task.state is TaskState.PAUSED:
            return await self._ask(task, by)
        try:
            paused = await self._control.pause(task)
        except NotStill as moving:
            await self._ask(moving.task, by)
            raise
        return await self._ask(paused, by)

    async def done(self, task: Task, by: Person) -> None:
        """Resume the task with a note for the agent, because the person is done. Does nothing if it has been resumed
        meanwhile.

        Raises AgentFailed; the task is then still paused and can be resumed.
        """
        name = by.name or by.id
        note = done_by_hand(name)
        with suppress(WrongState):
            await self._control.resume(task, note)

    async def _ask(self, task: Task, by: Person) -> Task:
        alone = by == task.person and task.request.origin.private
        question = Question(
            id=f"{task.id}.takeover.{int(self._clock() * 1000)}",
            origin=QuestionOrigin.TAKEOVER,
            kind=QuestionKind.TAKE_OVER,
            text=say("take_over.text_by_you") if alone else say("take_over.text", by=by.name or by.id),
            frame=task.frame,
        )
        if await self._record.ask_for_hands(task.id, question):
            self._news.changed(task.id)
        return task
