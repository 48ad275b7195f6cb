"""Brings a result into the form that the order asks for: read by code where it can be, else filled in by a model."""

from __future__ import annotations

import logging

from pydantic import BaseModel

from agent.control import Stopped
from agent.graph.main import prompt_facts
from agent.graph.main.context import TaskContext
from agent.graph.main.state import MainState, order_of
from agent.limits import BudgetReached
from agent.models.base import PILOT, Message, ModelRequest, Purpose, Usage
from agent.models.errors import ModelAnswerUnusable, ModelError
from agent.models.structured import ask
from agent.outcome import Outcome
from agent.prompts import prompt
from agent.result_value import ResultSchema, Unreadable, Value, read_value

logger = logging.getLogger(__name__)


class Filled(BaseModel):
    """A model's reading of the results: whether the value is among them, and the value as text."""

    found: bool
    value: str = ""


async def value_of(state: MainState, context: TaskContext, outcome: Outcome) -> tuple[Value | None, Usage]:
    """The value that was asked for (None: it was not found, or the task was not done), and what reading it cost.

    No call is made for a number that stands alone in the data, nor for what the last screen showed word for word.
    """
    order = order_of(state)
    schema = order.result
    if schema is None or outcome not in {Outcome.SUCCEEDED, Outcome.UNVERIFIED}:
        return None, Usage()
    read = _read_by_code(state, schema)
    model = context.models.for_purpose(Purpose.SUMMARIZE)
    if read is not None or model.name == PILOT:
        return read, Usage()
    request = ModelRequest(
        Purpose.SUMMARIZE,
        (
            Message("system", (prompt("value"),)),
            Message("user", (f"Task: {order.text}\n{prompt_facts.wanted(state)}\n\n{prompt_facts.results(state)}",)),
        ),
        schema=Filled,
        conversation=f"{order.task}-value",
        task=order.task,
    )
    try:
        filled, usage = await context.patiently(
            lambda: ask(model, request, Filled, check=lambda answer: _wrong(answer, schema))
        )
    except ModelAnswerUnusable as error:
        logger.info("task %s: no value from the model: %s", order.task, error)
        return None, error.usage
    except (ModelError, BudgetReached) as error:
        logger.warning("task %s: no value from the model: %s", order.task, error)
        return None, Usage()
    except Stopped:
        if not context.session.control.cancelled:
            raise
        return None, Usage()
    return read_value(filled.value, schema) if filled.found else None, usage


def _read_by_code(state: MainState, schema: ResultSchema) -> Value | None:
    """The value in the data of the last result. Words are only taken from there as the screen showed them: a model
    writes the same thing otherwise each time.
    """
    results = state["findings"]["results"]
    last = results[-1] if results else {}
    data = last.get("data") or ""
    if not data or (schema.type in {"text", "list"} and not last.get("on_screen")):
        return None
    try:
        return read_value(data, schema)
    except Unreadable:
        return None


def _wrong(filled: Filled, schema: ResultSchema) -> str:
    if not filled.found:
        return ""
    try:
        read_value(filled.value, schema)
    except Unreadable as why:
        return str(why)
    return ""
