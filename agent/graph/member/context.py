"""The services that a team member works with."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, Field

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


class MemberSession(Protocol):
    """The interface through which a member uses its task: limits, person, models and events."""

    @property
    def control(self) -> Control:
        """The task's stop and pause signals."""

    @property
    def models(self) -> Models:
        """The models of the task."""

    @property
    def guidance(self) -> Guidance:
        """The person's preferences for how the task is worked on."""

    @property
    def phone(self) -> str:
        """The id of the task's phone; "" before it has one."""

    def emit(self, event: TaskEvent) -> None:
        """Emit an event of the task."""

    async def run_restartable(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await a call that may be repeated after a pause. Raises Stopped and BudgetReached."""

    def take_notes(self) -> list[str]:
        """Return the person's notes that this member has not read, and mark them as read."""

    @property
    def has_notes(self) -> bool:
        """Whether there are unread notes."""

    async def reached_limit(self, usage: Usage) -> Fault | None:
        """Return the limit that is reached if this member has used so many tokens, or None."""

    async def ask(self, question: Question) -> Answer:
        """Ask the person and return the answer, after any question asked earlier. Raises Stopped when the task ends or
        the service shuts down, not on a pause.
        """


class MemberOrder(BaseModel, frozen=True):
    """One assignment for a team member. An order with a known task and number continues that assignment."""

    task: str
    number: int
    member: str
    goal: str
    """The goal, with every fact needed to reach it."""
    text: str
    """The person's request, in full."""
    person: str = ""
    facts: str = ""
    """Further known facts, as marked blocks."""
    skill: str = ""
    """The skill to follow; "" for none."""
    arguments: dict[str, str] = Field(default_factory=dict)
    said: tuple[str, ...] = ()
    """What the person wrote between the request and the assignment."""
    notes: tuple[str, ...] = ()
    """Earlier notes and results of runs on the phone."""
    documents: tuple[str, ...] = ()
    """What the planner read in the operator's documents, parts of which may be in the goal."""
    is_whole: bool = False
    """Whether it is the whole task instead of part of a plan."""


@dataclass(frozen=True)
class MemberContext:
    """The services and data that one member works with during one assignment. It is never stored."""

    order: MemberOrder
    member: Member
    caller: ToolCaller
    session: MemberSession
    frames: Frames
    mask: Mask
    asks_for_secret: Callable[[str], bool]
    """Returns whether a question asks for a secret, which models must not be told."""
    memory: tuple[str, ...] = ()
    """Remembered facts about the person, read when the work begins or continues, and never stored."""
    facts_of_others: tuple[str, ...] = ()
    """Remembered facts that other workers of the task were told. They count as private here too, but are in
    no prompt.
    """
