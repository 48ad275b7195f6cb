"""summarizer: ends a task. Code determines the outcome from the sub-tasks and their results; a model words
the summary if there are several results.

The result is brought into the form that the order requires: read by code if possible, otherwise filled in by a model.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, Final

from langgraph.runtime import Runtime
from pydantic import BaseModel

from agent.control import Stopped
from agent.error_mapping import FaultKind
from agent.graph.main import prompt_facts
from agent.graph.main.context import TaskContext
from agent.graph.main.state import EndingState, MainState, folded, joined, order_of
from agent.graph.streaming import Thoughts
from agent.graph.subjects import spent
from agent.limits import BudgetReached
from agent.models.base import PILOT, ModelRequest, Purpose, Usage, prompted
from agent.models.errors import ModelError
from agent.models.json_answers import ask
from agent.prompts import prompt
from agent.run import Outcome
from agent.task_results import JsonSchema, JsonValue, ResultSchema, Unreadable, Value, read_document, read_value
from agent.wording import has_words, sentence

logger = logging.getLogger(__name__)


_DONE: Final = frozenset({Outcome.SUCCEEDED, Outcome.ANSWERED, Outcome.UNVERIFIED})
"""Outcomes that can have a result."""


class Filled(BaseModel):
    """A model's reading of the results: whether the value is among them, and the value as text."""

    found: bool
    value: str = ""


async def value_of(state: MainState, context: TaskContext, outcome: Outcome) -> tuple[Value | JsonValue | None, Usage]:
    """Return the value that the order asks for, and the tokens used to read it.

    The value is None if the order asks for none, it was not found, the task was not done, or the model failed. No model
    is called for a number that is alone in the data, nor for text that the last screen showed word for word.
    """
    order = order_of(state)
    schema = order.result
    if schema is None or outcome not in _DONE:
        return None, Usage()
    read = _read_by_code(state, schema)
    model = context.models.for_purpose(Purpose.SUMMARIZE)
    if read is not None or model.name == PILOT:
        return read, Usage()
    request = ModelRequest(
        Purpose.SUMMARIZE,
        prompted(
            prompt("value_json" if isinstance(schema, JsonSchema) else "value"),
            f"Task: {order.text}\n{prompt_facts.wanted(state)}\n\n{prompt_facts.results(state)}",
        ),
        schema=Filled,
        conversation=f"{order.task}-value",
        task=order.task,
    )
    try:
        filled, usage = await context.run_restartable(
            lambda: ask(model, request, Filled, check=lambda answer: _wrong(answer, schema))
        )
    except (ModelError, BudgetReached) as error:
        logger.warning("Task %s: the model gave no usable value: %s", order.task, error)
        return None, error.usage if isinstance(error, ModelError) else Usage()
    except Stopped:
        if not context.session.control.cancelled:
            raise
        return None, Usage()
    return _read(filled.value, schema) if filled.found else None, usage


def _read(text: str, schema: ResultSchema | JsonSchema) -> Value | JsonValue:
    return read_document(text, schema) if isinstance(schema, JsonSchema) else read_value(text, schema)


def _read_by_code(state: MainState, schema: ResultSchema | JsonSchema) -> Value | JsonValue | None:
    """Return the value in the data of the last result. Text is only used as the screen showed it, because models word
    the same thing differently each time.
    """
    results = state["findings"]["results"]
    last = results[-1] if results else {}
    data = last.get("data") or ""
    if not data or (schema.type in {"text", "list"} and not last.get("on_screen")):
        return None
    try:
        return _read(data, schema)
    except Unreadable:
        return None


def _wrong(filled: Filled, schema: ResultSchema | JsonSchema) -> str:
    if not filled.found:
        return ""
    try:
        _read(filled.value, schema)
    except Unreadable as why:
        return str(why)
    return ""


def outcome_of(state: MainState) -> Outcome:
    """Return the outcome of the task.

    It is decided by, in this order: a fault of the whole task; the last sub-task, if there is no plan or it was
    cancelled or blocked; any sub-task that is not completed; a denial, unless the person approved the same action
    later.
    """
    fault = state["ending"]["fault"]
    if fault is not None:
        return Outcome(fault["outcome"])
    if state["ending"]["run_outcome"]:
        return Outcome(state["ending"]["run_outcome"])
    if not state["findings"]["results"]:
        refused = _refused(state)
        return Outcome.BLOCKED if refused and refused == state["plan"]["todos"] else Outcome.FAILED
    last = Outcome(state["findings"]["results"][-1]["outcome"])
    if not state["plan"]["todos"] or last in {Outcome.CANCELLED, Outcome.BLOCKED}:
        return last
    states = {todo["state"] for todo in state["plan"]["todos"]}
    if states - {"completed", "declined", "refused"}:
        return Outcome.FAILED
    if "refused" in states:
        return Outcome.BLOCKED
    if declined(state):
        return Outcome.DECLINED
    outcomes = [Outcome(result["outcome"]) for result in state["findings"]["results"]]
    return Outcome.UNVERIFIED if Outcome.UNVERIFIED in outcomes else Outcome.SUCCEEDED


def declined(state: MainState) -> list[str]:
    """Return descriptions of what people denied: in the run on the phone, whose latest result lists all its denials,
    and to team members.
    """
    runs = [result for result in state["findings"]["results"] if "run" in result]
    members = [result for result in state["findings"]["results"] if "member" in result]
    return [what for result in [*runs[-1:], *members] for what in result.get("declined", [])]


def told_plainly(state: MainState) -> str:
    """Return the summary that is made without a model: what each sub-task reported, and what was not done and why. It
    may be "" for a task that succeeded without a report, or that a person cancelled, because that is reported
    elsewhere.
    """
    lines = [result["summary"] for result in state["findings"]["results"] if result["summary"]]
    lines += [sentence("ended.refused", title=todo["title"], why=todo["note"]).strip() for todo in _refused(state)]
    left = [todo["title"] for todo in state["plan"]["todos"] if todo["state"] in {"pending", "in progress"}]
    fault = state["ending"]["fault"]
    if fault is not None and fault["summary"]:
        lines.append(fault["summary"])
    if left:
        lines.append(sentence("ended.left", titles="; ".join(left)))
    if not lines and outcome_of(state) not in {Outcome.CANCELLED, Outcome.SUCCEEDED, Outcome.UNVERIFIED}:
        return sentence("ended.nothing")
    return "\n".join(lines)


def _refused(state: MainState) -> list[dict[str, Any]]:
    return [todo for todo in state["plan"]["todos"] if todo["state"] == "refused"]


async def summarizer(state: MainState, runtime: Runtime[TaskContext]) -> MainState:
    """End the task: report a single result as it is, or have a model summarise several. If the model fails, or after a
    denial, a cancel or a used-up budget, the summary made by code is used.
    """
    context, order = runtime.context, order_of(state)
    back = folded(state)
    state = joined(state, back)
    outcome, fault, results = outcome_of(state), state["ending"]["fault"], state["findings"]["results"]
    value, usage = await value_of(state, context, outcome)
    usage = spent(state["progress"]) + usage
    data, summary = "\n".join(result["data"] for result in results if result["data"]) or None, told_plainly(state)
    if isinstance(order.result, JsonSchema):
        data = value.text if isinstance(value, JsonValue) else None
        if data is None and outcome in _DONE:
            # A program that reads it must not treat it as done.
            outcome, summary = Outcome.FAILED, f"{sentence('ended.no_document')}\n{summary}".strip()
    ending: EndingState = {
        "outcome": outcome.value,
        "data": data,
        "value": None if value is None or isinstance(value, JsonValue) else value.model_dump(mode="json"),
        "summary": summary,
        "needs_model": results[-1].get("needs_model") if results else None,
    }
    update = joined(back, {"ending": ending, "progress": {"usage": usage.data()}})
    # No model call if a person stopped the task or its budget is used up.
    over = fault is not None and fault.get("kind") == FaultKind.BUDGET
    # No model call after a denial: its words about the denied action could be wrong.
    if len(results) < 2 or outcome in {Outcome.CANCELLED, Outcome.DECLINED} or over:
        return update
    how = f"\nHow it ended: {fault['summary']}" if fault else ""
    messages = prompt_facts.written(state["findings"]["user_messages"])
    words = (
        f"Task: {order.text}{messages}\nOutcome: {outcome}{how}\n"
        f"Results:\n{prompt_facts.results(state)}\nNotes:\n{prompt_facts.notes(state)}"
    )
    request = ModelRequest(
        Purpose.SUMMARIZE,
        prompted(prompt("summarize") + context.guidance.block, words),
        conversation=f"{order.task}-summary",
        task=order.task,
    )
    if not any("run" in result for result in results):
        request = replace(request, temperature=context.guidance.temperature, max_tokens=context.guidance.max_tokens)
    model = context.models.for_purpose(Purpose.SUMMARIZE)
    stream = Thoughts("summarizer", context.emit, is_answer=True)
    try:
        reply = await context.run_restartable(lambda: model.complete(request, on_delta=stream))
    except (ModelError, BudgetReached) as error:
        logger.warning("Task %s: the model gave no summary: %s", order.task, error)
        return update
    except Stopped:
        if not context.session.control.cancelled:
            raise
        return update
    finally:
        stream.flush()
    update = joined(update, {"progress": {"usage": (usage + reply.usage).data()}})
    if not has_words(reply.text):
        return update
    # The reason for the end is in the program's own words, whatever the model says.
    reasons = [fault["summary"]] if fault else []
    if outcome is Outcome.FAILED and outcome_of(state) is not outcome:
        reasons = [sentence("ended.no_document")]
    summary = "\n".join([*reasons, reply.text.strip()])
    return joined(update, {"ending": {"summary": summary}})
