"""plan_generator: has a model make the plan, and streams the model's reasoning if it provides any."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field, StringConstraints

from agent.control import Stopped
from agent.events import Planned, Todo, Told
from agent.graph.main.context import TaskContext
from agent.graph.main.nodes.member import TaskMemberSession
from agent.graph.main.prompt_facts import dated, documents, given, noted, remembered, user_messages, written
from agent.graph.main.state import MainState, check_budget, ended_by, joined, order_of, spent_update
from agent.graph.member.context import MemberOrder
from agent.graph.streaming import ProseOnly, Thoughts
from agent.graph.subjects import spent
from agent.limits import BudgetReached
from agent.members.loading import EXECUTOR
from agent.models.base import ModelRequest, Purpose, Usage, prompted
from agent.models.errors import ModelAnswerUnusable, ModelError
from agent.models.json_answers import ask
from agent.ports.memory import Passage
from agent.prompts import prompt
from agent.wording import sentence

logger = logging.getLogger(__name__)

PASSAGES = 5
"""How many passages of the operator's documents the planner reads, a few thousand tokens at most."""
MOST_STEPS = 20


class PlanStep(BaseModel):
    """One part of a plan, for one member."""

    member: str = EXECUTOR
    title: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    description: str = ""
    note: str = ""


class Plan(BaseModel):
    """A plan: what is wanted and why it is done so, and the steps."""

    thought: str = ""
    title: str = ""
    steps: list[PlanStep] = Field(min_length=1, max_length=MOST_STEPS)

    def written(self) -> str:
        """Return the plan as Markdown, for people and for the supervisor."""
        lines = [
            f"{number}. **{step.title}** ({step.member})"
            + (f": {step.description}" if step.description else "")
            + (f" — {step.note}" if step.note else "")
            for number, step in enumerate(self.steps, 1)
        ]
        return "\n\n".join(part for part in (f"## {self.title}" if self.title else "", self.thought) if part) + (
            "\n\n" * bool(self.title or self.thought) + "\n".join(lines)
        )


async def plan_generator(
    state: MainState, runtime: Runtime[TaskContext]
) -> Command[Literal["plan_supervisor", "summarizer"]]:
    """Make the plan with one request to the reasoning model (repeated once if the answer is unusable), after searching
    the operator's documents and, if requested, the web.
    """
    context, order = runtime.context, order_of(state)
    messages = user_messages(state, context)
    deep = context.deep_thinking if order.deep is None else order.deep
    stream = Thoughts("plan_generator", context.emit)
    instructions = prompt("plan", members=context.described) + (f"\n\n{prompt('plan_deep')}" if deep else "")
    instructions += context.skills.listed() + context.skills.followed(
        state["plan"]["skill"], state["plan"]["arguments"]
    )
    instructions += context.guidance.block
    try:
        await check_budget(state, context)
        pages = await context.run_restartable(lambda: _pages(state, context))
        passages = await context.run_restartable(lambda: _search(order.text, context))
        known = await context.run_restartable(lambda: remembered(state, context))
        facts = f"Task: {order.text}{given(state)}{written(messages)}{known}{noted(state)}{documents(passages)}{pages}"
        facts += dated(context)
        request = ModelRequest(
            Purpose.PLAN,
            prompted(instructions, facts),
            conversation=f"{order.task}-plan",
            task=order.task,
            deep=deep,
        )
        plan, todos, usage = await context.run_restartable(lambda: _plan(request, context, stream))
    except (ModelError, Stopped, BudgetReached) as error:
        return Command(goto="summarizer", update=ended_by(error, context.session.control, state["progress"]))
    finally:
        stream.flush()
    context.emit(Planned(plan=plan, todos=todos))
    update: MainState = {
        "plan": {
            "text": plan,
            "todos": [todo.model_dump() for todo in todos],
            "documents": [each.text for each in passages],
        },
        "findings": {"user_messages": messages},
    }
    return Command(goto="plan_supervisor", update=joined(update, spent_update(state, context, usage)))


async def _plan(request: ModelRequest, context: TaskContext, stream: Thoughts) -> tuple[str, tuple[Todo, ...], Usage]:
    """Return the plan and its sub-tasks. If a model answers in prose, that is its plan, without sub-tasks yet."""
    model = context.models.for_purpose(Purpose.PLAN)
    words = ProseOnly(stream)
    try:
        plan, usage = await ask(model, request, Plan, check=partial(_unknown, names=context.names), on_delta=words)
    except ModelAnswerUnusable as error:
        if not error.text.strip() or error.text.lstrip()[:1] in "{[`":
            raise
        logger.info("the plan of task %s is taken as prose: %s", request.task, error)
        return error.text, (), error.usage
    todos = tuple(Todo(title=step.title, member=step.member) for step in plan.steps)
    return plan.written(), todos, usage


def _unknown(plan: Plan, names: Sequence[str]) -> str:
    unknown = [step.member for step in plan.steps if step.member not in names]
    return f"there is no member {unknown[0]!r}; there are: {', '.join(names)}." if unknown else ""


async def _pages(state: MainState, context: TaskContext) -> str:
    """Return what a web search found for the task, if the person wants one and it is configured."""
    order, progress = order_of(state), state["progress"]
    if not order.search or context.members is None:
        return ""
    looking = MemberOrder(
        task=order.task, number=0, member="planner", goal=order.text, text=order.text, person=order.person
    )
    found = await context.members.look_up(looking, TaskMemberSession(context, 0, progress["steps"], spent(progress)))
    if not found:
        context.emit(Told(text=sentence("told.no_search")))
        return ""
    context.emit(Told(text=sentence("told.searched")))
    return f"\n\nFound in the web (data; use what fits):\n{found}"


async def _search(text: str, context: TaskContext) -> tuple[Passage, ...]:
    """Return document passages for the task. A failed search only costs its findings, and the person is told."""
    if context.knowledge is None:
        return ()
    try:
        found = await context.knowledge.search(text, limit=PASSAGES)
    except OSError as error:
        logger.warning("The documents could not be searched, so the plan is made without them: %s", error)
        context.emit(Told(text=sentence("told.no_documents")))
        return ()
    if found:
        names = ", ".join(dict.fromkeys(hit.file for hit in found))
        context.emit(Told(text=sentence("told.documents", names=names)))
    return found
