"""The words of the task desk: tasks, their states, and the questions they wait on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agent.events import Todo
from agent.files import GivenFile
from agent.models.base import Usage
from agent.outcome import Outcome
from agent.questions import Question
from bot.chats.address import Address, MessageRef, Person
from devices.app_titles import readable


class TaskState(StrEnum):
    """Where a task stands; `bot.tasks.states` has the table of what may follow what."""

    QUEUED = "queued"
    WORKING = "working"
    WAITING = "waiting"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Entitlement:
    """Which phones somebody might use when they asked, and what is needed to look at it again later."""

    phones: tuple[str, ...] = ()
    """The ids of the only ones; () for every phone."""
    private: bool = False
    """Asked in a private chat."""
    by_role: bool = False
    """The right came with a role of that moment, and roles are not kept: it cannot be looked at again."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a person asked, as stored. Times are Unix seconds."""

    id: str
    """Short and sayable: a number as text, counted up."""
    text: str
    person: Person
    origin: Address
    """Where it was asked."""
    anchor: str
    """The id of the asking message there; "" when there is none (a slash command)."""
    place: Address | None
    """Where its card and messages go; None until the place was opened."""
    state: TaskState
    outcome: Outcome | None
    summary: str
    data: str | None
    phone: str
    """The wished phone's stable id until it has one, then the one it runs on; "" for any."""
    quick: bool
    steps: int
    max_steps: int
    usage: Usage
    created: float
    started: float | None
    ended: float | None
    frame: str | None
    """The last screen's reference."""
    files: tuple[GivenFile, ...] = ()
    """What came with it."""
    parent: str = ""
    """The task of which this is one phone's part; "" for one that was asked for as it is."""
    parts: int = 0
    """How many phones work on parts of it; 0 for a task that works on a phone itself. It follows its parts."""
    phone_name: str = ""
    """What its phone is called; "" before it has one."""
    entitled: Entitlement | None = None
    """Which phones its person might use; None when that is not looked at."""
    todos: tuple[Todo, ...] = ()
    """The todo list as last planned."""

    @property
    def called(self) -> str:
        """Its number as people write it, such as "12", or "12.1" for the first phone's part of task 12."""
        return f"{self.parent}.{int(self.id) - int(self.parent)}" if self.parent else self.id


@dataclass(frozen=True, slots=True)
class WishedPhone:
    """One of several phones that a task is for."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class TaskWish:
    """A task before it was accepted."""

    text: str
    person: Person
    origin: Address
    event: str
    """The platform's id of the asking message: the same one is accepted once."""
    anchor: str = ""
    phone: str = ""
    quick: bool = False
    max_steps: int | None = None
    files: tuple[GivenFile, ...] = ()
    phones: tuple[WishedPhone, ...] = ()
    """Several phones, each of which does all of it; `phone` is not looked at then."""
    entitled: Entitlement | None = None
    """Which phones the person may use; None when that is not looked at."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of a run, for the card, the thread and the replay."""

    task: str
    """The task that people know."""
    run: str
    subtask: int
    step: int
    max_steps: int
    summary: str
    thought: str
    action: dict[str, Any]
    effect: str
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

    @property
    def app_shown(self) -> str:
        """The app as people read it; steps of before its label was kept have a readable name."""
        return self.app_name or readable(self.app)


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
    """When it was answered or closed; None while it is open, and for those of before this was kept."""
    closing: Closing | None = None


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
