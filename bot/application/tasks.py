"""What a caller can do with tasks: start, stop and steer them, and answer their questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.ports.agent import AS_SET, Guidance, ReceivedText
from agent.ports.stores import GivenFile
from agent.questions import QuestionKind, StandingYes
from bot.application.access import Caller, CallerActions, Refused, Unknown, audited
from bot.application.own_facts import answer_to
from bot.application.phones import Meant, entitlement, phones_meant, wished
from bot.application.skills import require_skill, result_of_skill
from bot.application.task_access import latest_task, require_to_go_on, require_to_hold, task_named
from bot.cards.card import state_line
from bot.cards.question import closed_line
from bot.domain.address import Place
from bot.domain.incoming import Attachment
from bot.domain.right import Right
from bot.domain.task import OpenQuestion, Task, TaskState
from bot.domain.task_request import Origin, TaskDraft, TaskRequest
from bot.domain.trigger import TaskTrigger
from bot.domain.watch import TaskWatch
from bot.tasks.files import check, keep
from bot.tasks.input import choice_typed
from bot.tasks.remote_control import ControlSession
from bot.texts import say
from devices.phone import PhoneInfo

LATEST: Final = "latest"
"""Used as a task number: the caller's latest task."""
TAKES_A_MODEL: Final[Mapping[str, Callable[[TaskDraft], object]]] = {
    "member": lambda draft: draft.options.member,
    "search": lambda draft: draft.options.search,
    "follows": lambda draft: draft.follows,
}
"""The options that only a model can carry out, each with the function that reads it from a draft."""


@dataclass(frozen=True, slots=True)
class StartResult:
    """The result of `TaskCommands.start`: the task, and what people should know about it."""

    task: Task
    duplicate: bool = False
    """Whether the same chat message had already started this task; `left_out` and `held` are then empty."""
    left_out: tuple[PhoneInfo, ...] = ()
    """If all phones were asked for, those that the task does not use."""
    held: ControlSession | None = None
    """A person's hold on the phone, for whose end the task has to wait."""
    lost: tuple[str, ...] = ()
    """The names of a repeated task's files that are no longer stored."""


class QuestionClosed(Refused):
    """The question has already been answered or has expired; `question` is its current state."""

    def __init__(self, question: OpenQuestion) -> None:
        super().__init__(closed_line(question))
        self.question = question


class TaskCommands(CallerActions):
    """The actions on tasks that one caller can perform. Every method raises NotAllowed (which is written to the audit
    log), Refused or TaskError. These methods do not detect old messages: a surface on which messages can arrive late
    has to withhold those itself.

    For example:

        commands = TaskCommands(caller, services)
        started = await commands.start(TaskDraft("Set an alarm for 7:00", device="pixel"))
        await commands.steer(started.task, "On weekdays only")
    """

    async def task(self, number: str) -> Task:
        """Return the task with this number; with `LATEST` ("latest"), the one that the caller most likely means here,
        such as their latest unfinished task. Raises Unknown if there is none that may be shown to them here.
        """
        await self._require(Right.USE)
        if number == LATEST:
            task = await latest_task(self._caller, self._services)
            if task is None:
                raise Unknown(say("task.none"))
            return task
        return await task_named(number, self._caller, self._services)

    async def start(
        self,
        draft: TaskDraft,
        files: Sequence[Attachment] = (),
        *,
        guidance: Guidance = AS_SET,
        standing: tuple[StandingYes, ...] = (),
        watch: TaskWatch | None = None,
        trigger: TaskTrigger | None = None,
        received: tuple[ReceivedText, ...] = (),
    ) -> StartResult:
        """Queue a task for the caller. Without a model, a simple question that the service can answer itself is
        answered at once. Also raises BadText, BadFiles, TooManyTasks, OverQuota and OverTriggerLimit.

        - `guidance` holds the preferences of the person or place for how tasks are worked on, such as standing
          instructions.
        - `standing` are approvals given in advance, one for each recipient and exact text.
        - `watch` is the watch that this task is a run of; `trigger` is the notification that started it.
        - `received` are texts by others that the task began with, such as a notification; the agent treats them as
          data.
        """
        caller, services = self._caller, self._services
        await self._require(Right.USE)
        lacking = next((name for name, given in TAKES_A_MODEL.items() if given(draft)), "")
        if lacking and services.offline:
            raise Refused(say(f"needs_model.{lacking}"))
        check([(file.name, len(file.data)) for file in files])
        followed = await task_named(draft.follows, caller, services) if draft.follows else None
        answer = await self._known(draft, files)
        meant = Meant() if answer else phones_meant(caller, draft.device, services, quick=draft.options.quick)
        most = services.live.now.max_steps
        request = TaskRequest(
            text=draft.text,
            person=caller.person,
            origin=Origin(
                caller.address,
                caller.event,
                "" if caller.message is None else caller.message.message,
                private=caller.place.private,
            ),
            phones=wished(meant.phones),
            files=await keep(services.frames, files),
            options=draft.options,
            max_steps=most if draft.max_steps is None else min(draft.max_steps, most),
            skill=None if draft.skill is None else require_skill(draft.skill, services),
            result_schema=draft.result_schema or result_of_skill(draft.skill, services),
            guidance=guidance,
            follows="" if followed is None else followed.parent or followed.id,
            watch=watch,
            standing=standing,
            trigger=trigger,
            received=received,
            entitled=entitlement(caller, services),
        )
        if answer:
            return StartResult((await services.task_service.reply(request, answer)).task)
        accepted = await services.task_service.accept(request)
        if accepted.duplicate:
            return StartResult(accepted.task, duplicate=True)
        hold = services.remote_control.session_on(request.phones[0].id) if len(request.phones) == 1 else None
        return StartResult(accepted.task, left_out=meant.left_out, held=hold)

    async def _known(self, draft: TaskDraft, files: Sequence[Attachment]) -> str:
        """The service's own answer if no model is set; "" if the task has to be worked on."""
        if not self._services.offline or draft.skill is not None or draft.result_schema is not None or files:
            return ""
        return await answer_to(draft.text, draft.device, self._caller, self._services)

    async def instead(self, task: Task, choice: int) -> StartResult:
        """Start one of the alternatives that were offered for a task that needs a model. `choice` is its index. It
        becomes a new task of the caller, on the same phones. Requires the right to use the old task; raises Refused if
        there is no such alternative.
        """
        await self._require(Right.USE, owner=task.person)
        lacks = task.needs_model
        if lacks is None or choice >= len(lacks.choices):
            raise Refused(say("press.unknown"))
        draft = TaskDraft(lacks.choices[choice], ",".join(phone.id for phone in task.request.phones))
        return await TaskCommands(self._beside(task), self._services).start(draft)

    async def again(
        self,
        task: Task,
        changes: str = "",
        *,
        device: str = "",
        quick: bool | None = None,
        files: Sequence[Attachment] = (),
    ) -> StartResult:
        """Repeat a task as a new task of the caller, with the old task's files and `files`.

        `changes` is added to the text. The phones and the `quick` option stay the same unless given. Requires the right
        to use the old task.
        """
        await self._require(Right.USE, owner=task.person)
        asked = task.request
        parts = await self._services.task_service.parts(task.id)
        draft = TaskDraft(
            say("again.changed", text=asked.text, changes=changes) if changes else asked.text,
            device or ",".join(part.phone for part in parts) or task.phone,
            asked.options if quick is None else asked.options.model_copy(update={"quick": quick}),
            None if changes else asked.skill,
            asked.follows,
            result_schema=asked.result_schema,
        )
        kept, lost = await self._files(asked.files)
        again = TaskCommands(self._beside(task), self._services)
        started = await again.start(draft, (*kept, *files), guidance=asked.guidance, received=asked.received)
        return replace(started, lost=lost)

    def _beside(self, task: Task) -> Caller:
        """Return the caller, moved to the place where the task was asked for if they are in its own thread, because a
        new task belongs there.
        """
        caller = self._caller
        if task.place == task.origin or caller.address != task.place:
            return caller
        return replace(caller, place=Place(task.origin, caller.place.private), message=None)

    async def _files(self, given: Sequence[GivenFile]) -> tuple[list[Attachment], tuple[str, ...]]:
        """The stored files of a task, and the names of those no longer stored."""
        files, lost = [], []
        for file in given:
            try:
                files.append(Attachment(file.name, await self._services.frames.load(file.content)))
            except KeyError:
                lost.append(file.name)
        return files, tuple(lost)

    async def cancel(self, task: Task) -> Task:
        """End a task within a second, and return it. Raises Refused if it has already ended."""
        await self._require_to_hold(task)
        if task.state is TaskState.ENDED:
            raise Refused(say("task.ended_already", task=task.called, state=state_line(task, None)))
        return await self._services.task_service.cancel(task.id, self._caller.person)

    async def pause(self, task: Task) -> Task:
        """Pause a task, and return it."""
        await self._require_to_hold(task)
        return await self._services.task_service.pause(task.id, self._caller.person)

    async def take_over(self, task: Task) -> Task:
        """Pause a task so that the person can operate its phone, and return the task."""
        await self._require_to_hold(task)
        return await self._services.task_service.take_over(task.id, self._caller.person)

    async def resume(self, task: Task, note: str = "") -> Task:
        """Resume a paused or interrupted task, optionally with a note for the agent, and return the task."""
        await self._require_to_go_on(task)
        return await self._services.task_service.resume(task.id, note, self._caller.person)

    async def steer(self, task: Task, note: str) -> Task:
        """Give a task a note, which the agent reads before its next step, and return the task."""
        await self._require_to_go_on(task)
        return await self._services.task_service.steer(task.id, note, self._caller.person)

    async def hurry(self, task: Task) -> Task:
        """Move a task to the head of its queue, and return it; running tasks are not interrupted. Requires the right to
        approve; for other people's tasks, the caller must be an admin.
        """
        await self._require_to_go_on(task, Right.APPROVE)
        return await self._services.task_service.hurry(task.id, self._caller.person)

    async def answer(self, question: OpenQuestion, text: str) -> OpenQuestion:
        """Answer a question, and return its new state. The first valid answer wins; a later one raises QuestionClosed.
        If the question is whether an action is allowed, the right to approve is required, also to deny it. Also raises
        BadText.
        """
        await self.require_to_answer(question)
        words = choice_typed(question.question, text)
        answered = await self._services.task_service.answer(question.question.id, words, self._caller.person)
        if not answered.won:
            raise QuestionClosed(answered.question)
        return answered.question

    async def give_up(self, question: OpenQuestion) -> None:
        """Close a question that nobody will answer; its task then ends as blocked. Raises QuestionClosed if it is
        closed already.
        """
        await self.require_to_answer(question)
        await self._services.task_service.give_up(question.question.id)

    async def question(self, task: Task, question: str) -> OpenQuestion:
        """Return the open question with this id that belongs to the task or to one of its parts. Raises Unknown if
        there is none.
        """
        for one in await self._services.task_service.open_questions(task=task.id):
            if one.question.id == question:
                return one
        raise Unknown(say("desk.no_question", question=question[:40]))

    async def require_to_answer(self, question: OpenQuestion) -> None:
        """Check that the caller may answer a question. Raises NotAllowed, or QuestionClosed if it is no longer open."""
        task = await self._services.task_service.get(question.task)
        right = Right.APPROVE if question.question.kind is QuestionKind.APPROVE else Right.USE
        owner, phone = (None, "") if task is None else (task.person, task.phone)
        await self._require(right, owner=owner, phone=phone)
        if question.answer is not None or question.expired:
            raise QuestionClosed(question)

    async def _require_to_hold(self, task: Task) -> None:
        async with audited(self._caller.person, self._services.store):
            await require_to_hold(self._caller, self._services, task)

    async def _require_to_go_on(self, task: Task, right: Right = Right.USE) -> None:
        async with audited(self._caller.person, self._services.store):
            await require_to_go_on(self._caller, self._services, task, right)
