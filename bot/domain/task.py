"""A task: its states and which may follow which, its questions, and what cannot be done with it."""

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
from agent.outcome import NeedsModel, Outcome
from agent.questions import Question
from agent.recorded_skills.step_record import StepRecord
from agent.run_id import RunId
from bot.domain.address import Address, MessageRef, Person
from bot.domain.task_request import TaskRequest
from bot.domain.watch import Finding, Verdict
from bot.texts import say
from devices.app_titles import readable


class TaskState(StrEnum):
    """Where a task stands; `bot.domain.task` has the table of what may follow what."""

    QUEUED = "queued"
    WORKING = "working"
    WAITING = "waiting"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Task:
    """What a person asked, and what has become of it, as stored. Times are Unix seconds."""

    id: str
    """Short and sayable: a number as text, counted up."""
    request: TaskRequest
    """What it was accepted with."""
    place: Address | None
    """Where its card and messages go; None until the place was opened."""
    state: TaskState
    outcome: Outcome | None
    summary: str
    data: str | None
    phone: str
    """The wished phone's stable id until it has one, then the one it runs on; "" for any."""
    steps: int
    usage: Usage
    created: float
    started: float | None
    ended: float | None
    frame: str | None
    """The last screen's reference."""
    parent: str = ""
    """The task of which this is one phone's part; "" for one that was asked for as it is."""
    parts: int = 0
    """How many phones work on parts of it; 0 for a task that works on a phone itself. It follows its parts."""
    phone_name: str = ""
    """What its phone is called; "" before it has one."""
    todos: tuple[Todo, ...] = ()
    """The todo list as last planned."""
    sources: tuple[Source, ...] = ()
    """The pages that were read for it, told with its end."""
    needs_model: NeedsModel | None = None
    """What it lacked, where it took a model and none is set."""
    verdict: Verdict | None = None
    """What came of a reading of a watch, once it has ended."""

    @property
    def text(self) -> str:
        """What is to be done."""
        return self.request.text

    @property
    def person(self) -> Person:
        """Who gave it."""
        return self.request.person

    @property
    def origin(self) -> Address:
        """Where it was asked."""
        return self.request.origin.address

    @property
    def end_is_told(self) -> bool:
        """Whether its end is worth a message: that of a reading only when it has found something."""
        return self.request.watch is None or (self.verdict is not None and self.verdict.finding is not Finding.SILENT)

    @property
    def members_at_work(self) -> bool:
        """Whether somebody of the team works on a part that needs no phone."""
        return any(todo.state == "in progress" and todo.member != EXECUTOR for todo in self.todos)

    @property
    def holds_phone(self) -> bool:
        """Whether a run may be at work on a phone, as far as was told."""
        at_work = {todo.member for todo in self.todos if todo.state == "in progress"}
        return bool(self.phone_name) and (not at_work or EXECUTOR in at_work)

    @property
    def called(self) -> str:
        """The task's number as people write it, such as "12", or "12.1" for the first phone's part of task 12."""
        return f"{self.parent}.{int(self.id) - int(self.parent)}" if self.parent else self.id


_TOLD_OTHERWISE = frozenset({"ask_user", "take_over", "enter_secret", "finish"})


@dataclass(frozen=True, slots=True)
class Ahead:
    """Whom a queued task waits for, and about how many seconds it will wait; None where nothing tells."""

    task: Task
    seconds: float | None


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a run, for the card, the thread and the replay."""

    task: str
    """The task that people know."""
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
    """The id of the phone's part that did it, where several phones work on the task."""
    phone_name: str = ""
    """That phone's name; "" where one phone works."""
    app_name: str = ""
    """What the phone called the app."""
    record: StepRecord = field(default_factory=StepRecord)
    """What a skill can be made of."""

    @property
    def told_otherwise(self) -> bool:
        """Whether a message of its own tells it: the question that it asks, or the end."""
        return self.action.get("kind") in _TOLD_OTHERWISE

    @property
    def denied(self) -> bool:
        """Whether a person did not allow what it was about to do."""
        return is_denied(self.effect)

    @property
    def app_shown(self) -> str:
        """The app as people read it; one whose label the phone did not tell has a readable name."""
        return self.app_name or readable(self.app)

    @property
    def target(self) -> str:
        """What people call the thing that it touched, "" where that is not known."""
        anchors = (action.anchor for action in self.record.actions if action.anchor is not None)
        return next((anchor.words for anchor in anchors), "")


@dataclass(frozen=True, slots=True)
class PartNow:
    """How one phone's part of a task stands: its last step, and its place in the queue while it waits for its phone."""

    task: Task
    step: StepRow | None
    place: int | None


class Closing(StrEnum):
    """Why a question was closed that nobody answered."""

    EXPIRED = "expired"
    """Nobody answered in time."""
    CANCELLED = "cancelled"
    """Its task was cancelled."""
    ENDED = "ended"
    """Its task has ended otherwise."""
    WENT_ON = "went_on"
    """Its task went on without it."""
    GIVEN_UP = "given_up"
    """Whoever gave the task said that nobody will answer."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A stored question and what became of it. Times are Unix seconds."""

    task: str
    question: Question
    asked: float
    expires: float
    message: MessageRef | None
    answer: str | None
    """None while open; for a secret always "" once answered; "expired" is told by `expired`."""
    answered_by: str
    expired: bool
    """Closed without an answer, as `closing` tells."""
    closed: float | None = None
    """When it was answered or closed; None while it is open."""
    closing: Closing | None = None


def locator(question: str) -> str:
    """Sixteen characters that stand for a question's id in the data of a button, however long that is."""
    return blake2s(question.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Accepted:
    """A task was accepted, now or (`duplicate`) when the same event came before."""

    task: Task
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """Whether this answer was the first one, and the question as it stands now."""

    won: bool
    question: OpenQuestion


class TaskError(Exception):
    """The task service did not do what was asked."""


class UnknownTask(TaskError):
    """There is no such task."""

    def __init__(self, task: str) -> None:
        super().__init__(say("desk.no_task", task=task[:40]))


class UnknownQuestion(TaskError):
    """There is no such question."""

    def __init__(self, question: str) -> None:
        super().__init__(say("desk.no_question", question=question[:40]))


class WrongState(TaskError):
    """The task is in a state in which this cannot be done. `task` is as it stands now.

    `wanted` is the state that it was to have, or "taken" (over by a person) or "steered".
    """

    def __init__(self, task: Task, wanted: str) -> None:
        self.task = task
        self.state = task.state
        words = say(f"desk.wanted.{wanted}")
        super().__init__(say("desk.wrong_state", task=task.called, standing=_standing(task), wanted=words))


class NotWaiting(TaskError):
    """The task does not wait for a phone, so it has no place in a queue."""

    def __init__(self, task: Task) -> None:
        super().__init__(say("desk.not_waiting", task=task.called, standing=_standing(task)))


class BadText(TaskError):
    """A text is empty, too long, or no answer to a question of this kind."""


class TooManyTasks(TaskError):
    """Too many tasks live already."""


class OverQuota(TaskError):
    """The person has used up what they may use in a day; `detail` says what, for the audit."""

    def __init__(self, text: str, detail: str) -> None:
        self.detail = detail
        super().__init__(text)


class OverTriggerLimit(TaskError):
    """A trigger has begun as many tasks within an hour as it may."""

    def __init__(self, limit: int) -> None:
        super().__init__(say("trigger.limit", number=limit))


class NotStill(TaskError):
    """The task was paused, but what it was doing has not come to rest yet. `task` is as it stands now.

    `sent`: an input was under way, which may still reach the phone.
    """

    def __init__(self, task: Task, *, sent: bool) -> None:
        self.task = task
        self.sent = sent
        super().__init__(say("desk.not_still_sending" if sent else "desk.not_still", task=task.called))


class AgentFailed(TaskError):
    """The agent could not take the request."""


def _standing(task: Task) -> str:
    return say(f"desk.stands.{task.state}")


TRANSITIONS: Mapping[TaskState, frozenset[TaskState]] = {
    # A question that needs no phone may come before the run has one; a task that queued too long is asked about.
    # One phone's part of a task that is paused does not begin when that phone is free.
    TaskState.QUEUED: frozenset(
        {TaskState.WORKING, TaskState.WAITING, TaskState.PAUSED, TaskState.INTERRUPTED, TaskState.ENDED}
    ),
    TaskState.WORKING: frozenset({TaskState.WAITING, TaskState.PAUSED, TaskState.INTERRUPTED, TaskState.ENDED}),
    # Back in its queue, when the question came before the run had a phone.
    TaskState.WAITING: frozenset({TaskState.WORKING, TaskState.QUEUED, TaskState.ENDED}),
    # A question that arrived while the pause was on its way is open when the pause ends.
    TaskState.PAUSED: frozenset({TaskState.WORKING, TaskState.WAITING, TaskState.QUEUED, TaskState.ENDED}),
    # One that never had a phone is queued again.
    TaskState.INTERRUPTED: frozenset({TaskState.WORKING, TaskState.QUEUED, TaskState.ENDED}),
    TaskState.ENDED: frozenset(),
}


def require(task: Task, to: TaskState) -> None:
    """Raises WrongState when `to` may not follow the task's state."""
    if to not in TRANSITIONS[task.state]:
        raise WrongState(task, to.value)


def moved(task: Task, to: TaskState, *, now: float, outcome: Outcome | None = None) -> Task:
    """The task in its next state; `outcome` is given exactly when it ends. Raises WrongState."""
    require(task, to)
    assert (outcome is not None) == (to is TaskState.ENDED)
    started = now if to is TaskState.WORKING and task.started is None else task.started
    ended = now if to is TaskState.ENDED else None
    return replace(task, state=to, outcome=outcome, started=started, ended=ended)
