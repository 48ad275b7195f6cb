"""What a member works with."""

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
from agent.ports.frames import Frames
from agent.questions import Answer, Question
from agent.tools.calling import ToolCaller

T = TypeVar("T")


class Desk(Protocol):
    """What the task gives a member: its limits, its person and its models."""

    @property
    def control(self) -> Control:
        """Stop signs."""
        ...

    @property
    def models(self) -> Models:
        """The task's models."""
        ...

    @property
    def guidance(self) -> Guidance:
        """How the person wants it to be thought about."""
        ...

    @property
    def phone(self) -> str:
        """The id of the phone that the task is on, "" before it has one."""
        ...

    def emit(self, event: TaskEvent) -> None:
        """Tell the outside."""
        ...

    async def patiently(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await a call that may be repeated after a pause. Raises Stopped and BudgetReached."""
        ...

    def take_notes(self) -> list[str]:
        """What the person has written that this member has not read; it is read now."""
        ...

    @property
    def has_notes(self) -> bool:
        """Whether there is something of it."""
        ...

    async def reached(self, usage: Usage) -> Fault | None:
        """What is used up when this member has used so much."""
        ...

    async def ask(self, question: Question) -> Answer:
        """Ask the person and wait, after whoever asks already. Raises Stopped on an end, not on a pause."""
        ...


@dataclass(frozen=True)
class MemberContext:
    """One piece of work of one member. Never stored."""

    task: str
    text: str
    """What the person asked."""
    person: str
    said: tuple[str, ...]
    """What the person has written since, before the work began."""
    number: int
    member: Member
    caller: ToolCaller
    desk: Desk
    frames: Frames
    mask: Mask
    asks_for_secret: Callable[[str], bool]
    """Whether a question asks for what no model may be told."""
    memory: tuple[str, ...] = ()
    """What is remembered of the person; read when the work begins or goes on, and stored nowhere."""
    told_others: tuple[str, ...] = ()
    """What is remembered that others of the task were told: private here too, and in no prompt."""
    plan_notes: tuple[str, ...] = ()
    """What was noted, and what runs on the phone have brought back, before."""
    documents: tuple[str, ...] = ()
    """What the planner has read in the operator's documents."""
    is_whole: bool = False
    """Whether it is the whole task."""
