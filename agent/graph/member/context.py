"""The services that a team member works with."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from agent.control import Control
from agent.error_mapping import Fault
from agent.events import TaskEvent
from agent.guards.masking import Mask
from agent.members.loading import Member
from agent.models.base import Models, Usage
from agent.ports.agent import Guidance
from agent.ports.stores import Frames
from agent.questions import Answer, Question
from agent.tools.calling import ToolCaller

T = TypeVar("T")


class Desk(Protocol):
    """The interface through which a member uses its task: limits, person, models and events."""

    @property
    def control(self) -> Control:
        """The task's stop and pause signals."""
        ...

    @property
    def models(self) -> Models:
        """The models of the task."""
        ...

    @property
    def guidance(self) -> Guidance:
        """The person's preferences for how the task is worked on."""
        ...

    @property
    def phone(self) -> str:
        """The id of the task's phone; "" before it has one."""
        ...

    def emit(self, event: TaskEvent) -> None:
        """Emit an event of the task."""
        ...

    async def patiently(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await a call that may be repeated after a pause. Raises Stopped and BudgetReached."""
        ...

    def take_notes(self) -> list[str]:
        """Return the person's notes that this member has not read, and mark them as read."""
        ...

    @property
    def has_notes(self) -> bool:
        """Whether there are unread notes."""
        ...

    async def reached(self, usage: Usage) -> Fault | None:
        """Return the limit that is reached if this member has used so many tokens, or None."""
        ...

    async def ask(self, question: Question) -> Answer:
        """Ask the person and return the answer, after any question asked earlier. Raises Stopped when the task ends or
        the service shuts down, not on a pause.
        """
        ...


@dataclass(frozen=True)
class MemberContext:
    """The services and data that one member works with during one assignment. It is never stored."""

    task: str
    text: str
    """The person's request."""
    person: str
    said: tuple[str, ...]
    """What the person wrote between the request and the assignment."""
    number: int
    member: Member
    caller: ToolCaller
    desk: Desk
    frames: Frames
    mask: Mask
    asks_for_secret: Callable[[str], bool]
    """Returns whether a question asks for a secret, which models must not be told."""
    memory: tuple[str, ...] = ()
    """Remembered facts about the person, read when the work begins or continues, and never stored."""
    told_others: tuple[str, ...] = ()
    """Remembered facts that other workers of the task were told. They count as private here too, but are in
    no prompt.
    """
    plan_notes: tuple[str, ...] = ()
    """Earlier notes and results of runs on the phone."""
    documents: tuple[str, ...] = ()
    """The passages of the operator's documents that the planner read."""
    is_whole: bool = False
    """Whether the assignment is the whole task."""
