"""Tasks: their states and the allowed transitions, their steps and questions, and the errors of the task service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import blake2s
from typing import Any

from agent.effect_facts import Effect, is_denied
from agent.events import Source, Todo
from agent.members.loading import EXECUTOR
from agent.models.base import Usage
from agent.questions import Question
from agent.recorded_skills.step_record import StepRecord
from agent.run import NeedsModel, Outcome, RunId
from bot.domain.address import Address, MessageRef, Person
from bot.domain.task_request import TaskRequest
from bot.domain.watch import Finding, Verdict
from bot.texts import say
from devices.names import readable


class TaskState(StrEnum):
    """The state of a task. `bot.domain.task.TRANSITIONS` lists the allowed changes."""

    QUEUED = "queued"
    WORKING = "working"
    WAITING = "waiting"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Task:
    """A stored task: what a person asked for, and its progress and result. Times are Unix seconds."""

    id: str
    """A number as text, counted up, so that people can say it."""
    request: TaskRequest
    """The request with which it was accepted."""
    place: Address | None
    """Where its card and messages go; None until the place was opened."""
    state: TaskState
    outcome: Outcome | None
    summary: str
    data: str | None
    phone: str
    """The id of the wished phone, later of the phone it runs on; "" for any phone."""
    steps: int
    usage: Usage
    created: float
    started: float | None
    ended: float | None
    frame: str | None
    """The reference of its latest screenshot."""
    parent: str = ""
    """The id of the task that this is one phone's part of; "" for a task that is no part."""
    parts: int = 0
    """How many phones work on parts of it; 0 if it works on a phone itself. Its state follows that of its parts."""
    phone_name: str = ""
    """The name of its phone; "" before it has one."""
    todos: tuple[Todo, ...] = ()
    """Its plan, as last updated."""
    sources: tuple[Source, ...] = ()
    """The web pages that were read for it; its end lists them."""
    needs_model: NeedsModel | None = None
    """What could not be done because no model is set."""
    verdict: Verdict | None = None
    """The result of a watch's reading, once the task has ended."""

    @property
    def text(self) -> str:
        """What the task is to do, in the words of the person who gave it."""
        return self.request.text

    @property
    def person(self) -> Person:
        """The person who gave the task."""
        return self.request.person

    @property
    def origin(self) -> Address:
        """The address at which the task was given."""
        return self.request.origin.address

    @property
    def end_is_told(self) -> bool:
        """Whether people get a message about its end. A task that makes one reading for a watch (a schedule that reads
        one value) gets one only if the reading is to be reported.
        """
        return self.request.watch is None or (self.verdict is not None and self.verdict.finding is not Finding.SILENT)

    @property
    def members_at_work(self) -> bool:
        """Whether members of the team are working on a part of the task that needs no phone."""
        return any(todo.state == "in progress" and todo.member != EXECUTOR for todo in self.todos)

    @property
    def holds_phone(self) -> bool:
        """Whether the task may be using a phone now, as far as is known."""
        at_work = {todo.member for todo in self.todos if todo.state == "in progress"}
        return bool(self.phone_name) and (not at_work or EXECUTOR in at_work)

    @property
    def called(self) -> str:
        """The task's number as people write it, such as "12", or "12.1" for the first phone's part of task 12."""
        return f"{self.parent}.{int(self.id) - int(self.parent)}" if self.parent else self.id


_TOLD_OTHERWISE = frozenset({"ask_user", "take_over", "enter_secret", "finish"})


@dataclass(frozen=True, slots=True)
class Ahead:
    """The task that has the phone for which another one waits, and the estimated wait in seconds (None if it cannot be
    estimated).
    """

    task: Task
    seconds: float | None


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a task (look at the screen, decide, act), as the card, the thread and the replay show it."""

    task: str
    """The number of the task as people know it."""
    run: RunId
    subtask: int
    step: int
    max_steps: int
    summary: str
    thought: str
    action: dict[str, Any]
    effect: tuple[Effect, ...]
    app: str
    frame: str | None
    mark: tuple[int, int] | None
    usage: Usage
    seconds: float
    at: float
    part: str = ""
    """The id of the part that did it, if several phones work on the task."""
    phone_name: str = ""
    """The name of the phone that did it; "" if one phone works on the task."""
    app_name: str = ""
    """The app's label as the phone reports it."""
    record: StepRecord = field(default_factory=StepRecord)
    """What is recorded of the step so that a skill can be made from it."""

    @property
    def is_shown_elsewhere(self) -> bool:
        """Whether a separate message already reports the step: a question, or the end of the task."""
        return self.action.get("kind") in _TOLD_OTHERWISE

    @property
    def denied(self) -> bool:
        """Whether the step's action was not done because a person refused to approve it, now or earlier in the run."""
        return is_denied(self.effect)

    @property
    def app_shown(self) -> str:
        """The app's name for people; derived from its package if the phone reported no label."""
        return self.app_name or readable(self.app)

    @property
    def target(self) -> str:
        """The label of the element that was touched; "" if unknown."""
        anchors = (action.anchor for action in self.record.actions if action.anchor is not None)
        return next((anchor.words for anchor in anchors), "")


@dataclass(frozen=True, slots=True)
class PartNow:
    """The progress of one phone's part of a task.

    - `step`: Its latest step; None before the first.
    - `place`: Its place in the queue, from 1; None if it is not waiting for its phone.
    """

    task: Task
    step: StepRow | None
    place: int | None


class Closing(StrEnum):
    """Why a question was closed without an answer."""

    EXPIRED = "expired"
    """Nobody answered in time."""
    CANCELLED = "cancelled"
    """Its task was cancelled."""
    ENDED = "ended"
    """Its task ended for another reason."""
    WENT_ON = "went_on"
    """Its task continued without an answer."""
    GIVEN_UP = "given_up"
    """The person who gave the task said that nobody would answer."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A stored question and its answer, if any. Times are Unix seconds."""

    task: str
    question: Question
    asked: float
    expires: float
    message: MessageRef | None
    answer: str | None
    """None while open. For a secret it is always "" once answered; `expired` tells whether it was closed instead."""
    answered_by: str
    expired: bool
    """Whether it was closed without an answer; `closing` says why."""
    closed: float | None = None
    """When it was answered or closed; None while it is open."""
    closing: Closing | None = None


def locator(question: str) -> str:
    """Return a hash of 16 characters for a question's id, so that long ids fit into a button's data."""
    return blake2s(question.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Accepted:
    """The result of accepting a task. `duplicate` says whether the same event (message) had created it before."""

    task: Task
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of answering a question: whether this answer was the first (`won`), and the question as it is now."""

    won: bool
    question: OpenQuestion


class TaskError(Exception):
    """The task service refused a request. Base class; the subclasses are the reasons."""


class UnknownTask(TaskError):
    """There is no task with this id."""

    def __init__(self, task: str) -> None:
        super().__init__(say("desk.no_task", task=task[:40]))


class UnknownQuestion(TaskError):
    """There is no question with this id."""

    def __init__(self, question: str) -> None:
        super().__init__(say("desk.no_question", question=question[:40]))


class WrongState(TaskError):
    """The task's state does not allow what was asked for.

    - `task`: The task as it is now.
    - `wanted`: The state that it was to change to, or "taken" (over by a person) or "steered" (given a note).
    """

    def __init__(self, task: Task, wanted: str) -> None:
        self.task = task
        self.state = task.state
        words = say(f"desk.wanted.{wanted}")
        super().__init__(say("desk.wrong_state", task=task.called, standing=_standing(task), wanted=words))


class NotWaiting(TaskError):
    """The task is not waiting for a phone, so it has no place in a queue."""

    def __init__(self, task: Task) -> None:
        super().__init__(say("desk.not_waiting", task=task.called, standing=_standing(task)))


class BadText(TaskError):
    """A text is empty, too long, or not a valid answer to this kind of question."""


class TooManyTasks(TaskError):
    """The maximum number of unfinished tasks is reached."""


class OverQuota(TaskError):
    """The person has used up a daily quota; `detail` says which one, for the audit log."""

    def __init__(self, text: str, detail: str) -> None:
        self.detail = detail
        super().__init__(text)


class OverTriggerLimit(TaskError):
    """A trigger has reached its limit of tasks per hour."""

    def __init__(self, limit: int) -> None:
        super().__init__(say("trigger.limit", number=limit))


class ActionUnfinished(TaskError):
    """The task is paused, but its last action has not finished yet, so a person cannot operate the phone.

    - `task`: The task as it is now.
    - `sent`: Whether an input may still reach the phone.
    """

    def __init__(self, task: Task, *, sent: bool) -> None:
        self.task = task
        self.sent = sent
        super().__init__(say("desk.not_still_sending" if sent else "desk.not_still", task=task.called))


class AgentFailed(TaskError):
    """The agent failed to carry out a request, such as starting or stopping a task."""


def _standing(task: Task) -> str:
    return say(f"desk.stands.{task.state}")


TRANSITIONS: Mapping[TaskState, frozenset[TaskState]] = {
    # A question that needs no phone may come before the run has one; if a task waits too long, its person is asked.
    # If a task is paused, a phone's part that is still queued is paused too, so that it does not begin.
    TaskState.QUEUED: frozenset(
        {TaskState.WORKING, TaskState.WAITING, TaskState.PAUSED, TaskState.INTERRUPTED, TaskState.ENDED}
    ),
    TaskState.WORKING: frozenset({TaskState.WAITING, TaskState.PAUSED, TaskState.INTERRUPTED, TaskState.ENDED}),
    # To QUEUED if the question came before the run had a phone.
    TaskState.WAITING: frozenset({TaskState.WORKING, TaskState.QUEUED, TaskState.ENDED}),
    # To WAITING if a question arrived while the pause was taking effect.
    TaskState.PAUSED: frozenset({TaskState.WORKING, TaskState.WAITING, TaskState.QUEUED, TaskState.ENDED}),
    # To QUEUED if it never had a phone.
    TaskState.INTERRUPTED: frozenset({TaskState.WORKING, TaskState.QUEUED, TaskState.ENDED}),
    TaskState.ENDED: frozenset(),
}


def require(task: Task, to: TaskState) -> None:
    """Check that the task may change to the state `to`. Raises WrongState if not."""
    if to not in TRANSITIONS[task.state]:
        raise WrongState(task, to.value)


def moved(task: Task, to: TaskState, *, now: float, outcome: Outcome | None = None) -> Task:
    """Return a copy of the task in the state `to`, with `started` and `ended` set accordingly. `now` is in Unix
    seconds.

    `outcome` must be given if and only if `to` is ENDED. Raises WrongState if the change is not allowed.
    """
    require(task, to)
    assert (outcome is not None) == (to is TaskState.ENDED)
    started = now if to is TaskState.WORKING and task.started is None else task.started
    ended = now if to is TaskState.ENDED else None
    return replace(task, state=to, outcome=outcome, started=started, ended=ended)
