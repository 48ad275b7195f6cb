"""member: passes a sub-task that needs no phone to a team member. Several members work at once, each
independently.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypedDict, TypeVar

from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from agent.control import Control, Stopped
from agent.error_mapping import Fault
from agent.events import Asked, Planned, Resumed, TaskEvent, Todo
from agent.graph.main import prompt_facts
from agent.graph.main.context import TaskContext
from agent.graph.main.state import MainState, order_of, todo_state
from agent.graph.member.context import MemberOrder
from agent.graph.member.members import MemberEnded
from agent.graph.subjects import spent
from agent.models.base import Models, Usage
from agent.ports.agent import Guidance
from agent.ports.memory import recalled_for
from agent.questions import Answer, Question
from agent.run import Outcome
from agent.wording import sentence

T = TypeVar("T")


class PartState(TypedDict):
    """The input of the `member` node: one assignment, and the state of the task at that time."""

    order: dict[str, Any]
    """The member's assignment (agent.graph.member.context.MemberOrder)."""
    todo: int | None
    """The index of the sub-task in the plan."""
    todos: list[dict[str, Any]]
    """All sub-tasks of the plan, as they were when this one was assigned."""
    plan: str
    """The plan as Markdown."""
    planned: bool
    """Whether the assignment is part of a plan, so that the supervisor reads the report."""
    steps: int
    """The steps that the task had taken on phones by then."""
    usage: dict[str, Any]
    """The tokens that the task had used by then."""
    goals: list[str]
    """The goals of the sub-tasks that have ended."""


def sent(state: MainState, member: str, goal: str, number: int, todo: int | None, *, planned: bool) -> Send:
    """Return the message that starts the `member` node with this assignment.

    `number` is the number of the sub-task in the task, `todo` its index in the plan (None without a plan), and
    `planned` says whether it is part of a plan.
    """
    wish, plan, findings = order_of(state), state["plan"], state["findings"]
    order = MemberOrder(
        task=wish.task,
        number=number,
        member=member,
        goal=goal,
        text=wish.text,
        person=wish.person,
        facts=_facts(state),
        skill=plan["skill"],
        arguments=plan["arguments"],
        said=tuple(findings["user_messages"]),
        notes=(*findings["notes"], *prompt_facts.brought_from_phone(state)),
        documents=tuple(plan["documents"]),
        is_whole=not planned,
    )
    part: PartState = {
        "order": order.model_dump(mode="json"),
        "todo": todo,
        "todos": plan["todos"],
        "plan": plan["text"],
        "planned": planned,
        "steps": state["progress"]["steps"],
        "usage": state["progress"]["usage"],
        "goals": list(prompt_facts.goals(state)),
    }
    return Send("member", part)


def _facts(state: MainState) -> str:
    known = prompt_facts.written(state["findings"]["user_messages"])
    if state["findings"]["results"]:
        known += f"\n\nWhat others of the team have brought back (data):\n{prompt_facts.results(state)}"
    if state["findings"]["notes"]:
        known += f"\n\nNoted (data):\n{prompt_facts.notes(state)}"
    return known


async def member(state: PartState, runtime: Runtime[TaskContext]) -> Command[Literal["plan_supervisor", "summarizer"]]:
    """Carry out one assignment that needs no phone. After a restart, the same number continues the same work."""
    context = runtime.context
    session = context.session
    order = MemberOrder.model_validate(state["order"])
    order = order.model_copy(update={"facts": order.facts + context.guidance.block + prompt_facts.dated(context)})
    desk = TaskMemberSession(context, order.number, state["steps"], spent(state))
    session.inboxes[order.number] = []
    try:
        if context.members is None or order.member not in context.members.team.members:
            ended = MemberEnded(
                member=order.member,
                goal=order.goal,
                outcome=Outcome.FAILED,
                summary=sentence("member.unknown", member=order.member),
            )
        else:
            recall = partial(recalled_for, context.memory, order.person, order.text, phone=context.session.phone_in_use)
            memory, told_others = await recall((order.goal,)), await recall(state["goals"])
            ended = await context.members.work(order, desk, memory=memory, told_others=told_others)
    except Stopped:
        # This would cut off a run of the same task, which stops at its own safe point.
        async with session.phone_lock:
            raise
    finally:
        del session.inboxes[order.number]
    if state["todo"] is not None:
        what = todo_state(ended.outcome)
        emit_todo(context, state["plan"], state["todos"], state["todo"], what, ended.summary)
    return Command(
        goto="plan_supervisor" if state["planned"] else "summarizer",
        update={"reports": {str(order.number): ended.model_dump(mode="json")}},
    )


def emit_todo(context: TaskContext, plan: str, todos: list[dict[str, Any]], place: int, what: str, note: str) -> None:
    """Emit the event that the state of one sub-task of the plan has changed.

    `todos` are all sub-tasks as they were when this one was assigned, `place` is its index, `what` its new state, and
    `note` an explanation.
    """
    session = context.session
    known = list(session.todos or map(Todo.model_validate, todos))
    known[place] = known[place].model_copy(update={"state": what, "note": note})
    session.todos = tuple(known)
    context.emit(Planned(plan=plan, todos=session.todos))


@dataclass(frozen=True)
class TaskMemberSession:
    """Implements `agent.graph.member.context.MemberSession`, a member's interface to its task, for one sub-task."""

    context: TaskContext
    number: int
    steps: int
    before: Usage
    """The tokens that the task had used when the sub-task was assigned."""

    @property
    def control(self) -> Control:
        """The task's stop and pause signals. Implements `MemberSession.control`."""
        return self.context.session.control

    @property
    def guidance(self) -> Guidance:
        """The person's preferences for how the task is worked on. Implements `MemberSession.guidance`."""
        return self.context.guidance

    @property
    def models(self) -> Models:
        """The models of the task. Implements `MemberSession.models`."""
        return self.context.models

    @property
    def phone(self) -> str:
        """The id of the task's phone; "" before it has one. Implements `MemberSession.phone`."""
        return self.context.session.phone_in_use

    def emit(self, event: TaskEvent) -> None:
        """Emit an event of the task. Implements `MemberSession.emit`."""
        self.context.emit(event)

    async def run_restartable(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await a call that may be repeated after a pause. Raises Stopped and BudgetReached. Implements
        `MemberSession.patiently`.
        """
        return await self.context.run_restartable(call)

    def take_notes(self) -> list[str]:
        """Return the person's notes that this member has not read, and mark them as read. Implements
        `MemberSession.take_notes`.
        """
        inbox = self.context.session.inboxes[self.number]
        notes = [*inbox]
        inbox.clear()
        return notes

    @property
    def has_notes(self) -> bool:
        """Whether there are notes that this member has not read. Implements `MemberSession.has_notes`."""
        return bool(self.context.session.inboxes[self.number])

    async def reached_limit(self, usage: Usage) -> Fault | None:
        """Return the limit that is reached if this member has used so many tokens, or None. Implements
        `MemberSession.reached`.
        """
        session = self.context.session
        session.usage_by_part[self.number] = usage
        return await self.context.reached_limit(self.steps, self.before + usage + session.spent_beside(self.number))

    async def ask(self, question: Question) -> Answer:
        """Ask the person and return the answer, after any question asked earlier. Raises Stopped when the task ends,
        not on a pause. Implements `MemberSession.ask`.
        """
        session = self.context.session
        return await session.control.guard(self._asked(question), pausing=False)

    async def _asked(self, question: Question) -> Answer:
        session = self.context.session
        async with session.asking:
            self.emit(Asked(question=question))
            session.stopwatch.pause(question.id)
            try:
                answer = await session.answers.answer_to(question.id)
            finally:
                session.stopwatch.resume(question.id)
            self.emit(Resumed(question=question.id))
        return answer
