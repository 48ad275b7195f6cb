"""intent_analyzer: decides how a request is handled."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal, cast

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from agent.control import Stopped
from agent.events import Planned, SkillChosen, Todo
from agent.graph.main.context import TaskContext
from agent.graph.main.nodes.executor import run_order
from agent.graph.main.nodes.member import sent
from agent.graph.main.prompt_facts import dated, given, noted, remembered
from agent.graph.main.state import MainState, check_budget, ended_by, joined, order_of, spent_update
from agent.graph.streaming import FieldOnly, Thoughts
from agent.graph.subjects import spent
from agent.limits import BudgetReached
from agent.models.base import PILOT, ModelRequest, Purpose, Usage, prompted
from agent.models.errors import ModelAnswerUnusable, ModelError
from agent.models.json_answers import ask
from agent.ports.agent import TaskOrder
from agent.prompts import prompt
from agent.relevance import ranked
from agent.request_words import asks_for_act, plain_tasks
from agent.run import NeedsModel, Outcome
from agent.tools.spec import Tool
from agent.wording import has_words, sentence, shortened

logger = logging.getLogger(__name__)

TITLE_LETTERS = 200
"""The maximum letters of the title of an unplanned task; the card shortens it further."""
MOST_SIMPLE_LETTERS: Final = 240
"""A longer request usually needs a plan, so nothing is begun on a phone before that is decided."""
_PHONE: Final = re.compile(r"\bphone\b|手机", re.IGNORECASE)

Route = Command[Literal["executor", "member", "plan_generator", "summarizer", "__end__"]]


class Intent(BaseModel):
    """How a request is to be handled. `answer` is for chat and refuse, `member` who does what needs no phone.

    `skill` is the one that is to be followed, `arguments` what it is to be done with.
    """

    kind: Literal["chat", "refuse", "member", "simple", "complex"]
    need_plan: bool = False
    answer: str = ""
    member: str = ""
    skill: str = ""
    arguments: dict[str, str] = Field(default_factory=dict)
    needs_model: SkipJsonSchema[NeedsModel | None] = None
    """What the offline pilot reports that it cannot do."""


async def intent_analyzer(state: MainState, runtime: Runtime[TaskContext]) -> Route:
    """Decide how the request is handled: answered, refused, done at once, or planned first. A quick task goes directly
    to the phone.

    Work that was begun on a phone in advance is dropped if the task does not go directly there.
    """
    route, context = await _route(state, runtime.context), runtime.context
    if route.goto != "executor":
        dropped = await context.runner.cool_down(context.session.run)
        if dropped.tokens:
            update = cast("MainState", route.update or {})
            before = update.get("progress", {}).get("usage")
            used = (spent(state["progress"]) if before is None else Usage.of(before)) + dropped
            return Command(goto=route.goto, update=joined(update, {"progress": {"usage": used.data()}}))
    return route


async def _route(state: MainState, context: TaskContext) -> Route:
    order = order_of(state)
    if (skill := state["plan"]["skill"]) and skill not in context.skills.found:
        return Command(goto="__end__", update=_failed(sentence("ended.no_skill", skill=skill)))
    model = context.models.for_purpose(Purpose.INTENT)
    # The offline pilot costs nothing, and needs no phone for what it only answers or refuses.
    quick = order.quick and model.name != PILOT
    simple: MainState = {"plan": {"kind": "simple"}, "progress": {"goal": order.text}}
    if quick or context.skills.recording(skill, state["plan"]["arguments"]) is not None:
        return Command(goto="executor", update=simple)
    others = context.names[1:]
    if wished := order.member:
        if wished in others:
            return _to_member(state, context, wished, {})
        names = ", ".join(others) or "-"
        return Command(goto="__end__", update=_failed(sentence("member.unknown_wish", member=wished, names=names)))
    if model.name != PILOT and not noted(state) and _is_plain(order, context):
        return Command(goto="executor", update=simple)
    instructions = prompt("intent")
    if others:
        assert context.members is not None
        instructions += f"\n\n{prompt('intent_members', members=context.members.described())}"
    instructions += context.skills.listed() + context.guidance.block
    known = await remembered(state, context) + noted(state)
    if model.name != PILOT:  # the pilot parses a task to the last word
        known += dated(context)
    request = ModelRequest(
        Purpose.INTENT,
        prompted(instructions, order.text + given(state) + known),
        schema=Intent,
        conversation=f"{order.task}-intent",
        task=order.task,
        # Its length is not limited, because a reply that was cut off could not be parsed.
        temperature=context.guidance.temperature,
    )
    acts = bool(skill or await asyncio.to_thread(asks_for_act, order.text))
    stream = Thoughts("intent_analyzer", context.emit, is_answer=True)
    words = FieldOnly(stream, "answer", lambda said: not acts and said.get("kind") == "chat")
    try:
        await check_budget(state, context)
        if acts and model.name != PILOT and _may_be_simple(order, context):
            await context.runner.warm_up(await run_order(joined(state, simple), context))
        intent, usage = await context.run_restartable(
            lambda: ask(model, request, Intent, check=partial(_wrong, names=others, acts=acts), on_delta=words)
        )
    except ModelAnswerUnusable as error:
        # Failing to classify a task must not fail the task: the work itself shows what it needs.
        logger.info("task %s is taken as a simple one: %s", order.task, error)
        intent, usage = Intent(kind="simple"), error.usage
    except (ModelError, Stopped, BudgetReached) as error:
        return Command(goto="summarizer", update=ended_by(error, context.session.control, state["progress"]))
    finally:
        stream.flush()
    if acts and (intent.kind == "chat" or (intent.kind == "member" and not _can_act(intent.member, context))):
        # A reply in words cannot do a requested action.
        logger.info("task %s asks for an act and was taken as %s: it is worked on", order.task, intent.kind)
        intent = Intent(kind="simple", skill=intent.skill, arguments=intent.arguments)
    update = joined({"plan": {"kind": intent.kind}}, spent_update(state, context, usage))
    if intent.kind in {"chat", "refuse"}:
        outcome = Outcome.ANSWERED if intent.kind == "chat" else Outcome.BLOCKED
        summary = intent.answer if has_words(intent.answer) else sentence("ended.refused_plainly")
        lacks = intent.needs_model
        update["ending"] = {
            "outcome": outcome.value,
            "summary": summary,
            "needs_model": None if lacks is None else lacks.model_dump(mode="json"),
        }
        return Command(goto="__end__", update=update)
    if not state["plan"]["skill"] and intent.skill in context.skills.found:
        update["plan"] |= {"skill": intent.skill, "arguments": intent.arguments}
        context.emit(SkillChosen(skill=intent.skill, arguments=intent.arguments))
    if intent.kind == "member":
        return _to_member(state, context, intent.member, update)
    if intent.kind == "complex" or intent.need_plan:
        return Command(goto="plan_generator", update=update)
    return Command(goto="executor", update=joined(update, {"progress": {"goal": order.text}}))


def _may_be_simple(order: TaskOrder, context: TaskContext) -> bool:
    """Whether the task may well go directly to the phone as it is."""
    if context.deep_thinking or order.deep or order.search or order.skill:
        return False
    return len(order.text) <= MOST_SIMPLE_LETTERS and "\n" not in order.text.strip()


def _is_plain(order: TaskOrder, context: TaskContext) -> bool:
    """Whether no model has to classify the task: it opens an app, turns a switch, writes a note, fills a cart or sets a
    clock, and there is no skill for it, nor a member with another server's tool that might do the same without the
    phone. Whether a message may be sent at all is for a model to decide.
    """
    if context.members is not None:
        outside = {tool.kind for tool in context.members.toolbox.offered_now()}
        if any(not outside.isdisjoint(_tools(name, context)) for name in context.names[1:]):
            return False
    if context.deep_thinking or order.deep or order.search or order.files:
        return False
    plain = next((each for each in plain_tasks(order.text) if each.kind != "sent"), None)
    if plain is None:
        return False
    # The words for the phone and the app do not say what is to be done, so no skill is chosen by them.
    about = _PHONE.sub("", order.text if plain.kind == "opened" else order.text.replace(plain.app, ""))
    return not ranked(about, [f"{each.name} {each.description}" for each in context.skills.found.values()])


def _failed(summary: str) -> MainState:
    return {"ending": {"outcome": Outcome.FAILED.value, "summary": summary}}


def _to_member(state: MainState, context: TaskContext, name: str, update: MainState) -> Route:
    """Assign the whole task as one sub-task to a member without a phone; it is shown like a part of a plan."""
    number, text = state["progress"]["subtask"] + 1, order_of(state).text
    todo = Todo(title=shortened(text, TITLE_LETTERS), member=name, state="in progress")
    assignment = {"number": number, "member": name, "todo": 0, "goal": text}
    assigned: MainState = {
        "plan": {"kind": "member", "todos": [todo.model_dump()]},
        "progress": {"goal": text, "assignments": [assignment]},
    }
    update = joined(update, assigned)
    context.session.todos = (todo,)
    context.emit(Planned(plan="", todos=context.session.todos))
    part = sent(joined(state, update), name, text, number, 0, planned=False)
    return Command(goto=part, update=update)


def _can_act(name: str, context: TaskContext) -> bool:
    """Whether a member has a tool that does more than look something up."""
    return any(not tool.repeatable for tool in _tools(name, context).values())


def _tools(name: str, context: TaskContext) -> dict[str, Tool[Any]]:
    assert context.members is not None
    return {tool.kind: tool for tool in context.members.toolbox.named(context.members.team.members[name].tools)}


def _wrong(intent: Intent, names: Sequence[str], *, acts: bool) -> str:
    if intent.kind == "member" and intent.member not in names:
        return f"there is no member {intent.member!r}; there are: {', '.join(names) or 'none'}."
    if intent.kind == "chat" and not acts and not has_words(intent.answer):
        return "the answer has no words; write the answer, or say what kind of work it is."
    return ""
