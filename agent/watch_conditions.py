"""Asks the reasoning model about which change of a result a person wants to be notified, for a watch (a schedule that
reads one value).

Code checks the answer against the person's words, and the person confirms it before anything is watched.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from agent.models.base import PILOT, Model, ModelRequest, Purpose, prompted
from agent.models.errors import ModelError
from agent.models.json_answers import ask
from agent.prompts import prompt
from agent.task_results import MOST_NAME, MOST_TEXT, ResultSchema, Unreadable, ValueType, folded, numbers_in, read_value

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 40.0
"""Seconds to wait for the model while a person waits for the preview. After that, the meaning that code found
is used.
"""
COMPARED: Final = {
    "number": frozenset({"below", "at-most", "above", "at-least", "becomes", "changes"}),
    "text": frozenset({"becomes", "contains", "changes"}),
    "yes-no": frozenset({"becomes", "changes"}),
    "list": frozenset({"contains", "changes"}),
}
"""The comparisons that each type of value supports."""


class WatchForm(BaseModel, frozen=True):
    """What is read, and when it is told. `limit` is as the person wrote it."""

    name: str = Field(min_length=1, max_length=MOST_NAME)
    type: ValueType
    unit: str = Field(default="", max_length=20)
    compare: Literal["below", "at-most", "above", "at-least", "becomes", "contains", "changes"]
    limit: str = Field(default="", max_length=MOST_TEXT)


async def watch_form_by(model: Model, task: str, words: str, understood: dict[str, Any]) -> WatchForm | None:
    """Return what the model understands a person's words to mean, as the form of a watch.

    `understood` is what code understood. Returns None if the model gives no usable answer in time, and always for the
    offline pilot. Never raises an error of the model.
    """
    if model.name == PILOT:
        return None
    facts = {"task": task, "words": words, "understood by code": understood}
    request = ModelRequest(
        Purpose.PLAN,
        prompted(prompt("watch"), json.dumps(facts, ensure_ascii=False)),
        schema=WatchForm,
        conversation="form of a watch",
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            form, _ = await ask(model, request, WatchForm, check=lambda form: _wrong(form, words))
    except (ModelError, TimeoutError) as error:
        logger.info("no form of a watch from the model: %s", repr(error))
        return None
    return form


def _wrong(form: WatchForm, words: str) -> str:
    """Return why the form cannot be used, in words for the model; "" if it can."""
    if form.compare not in COMPARED[form.type]:
        return f"a {form.type} is compared by {', '.join(sorted(COMPARED[form.type]))}."
    if form.compare == "changes":
        return "" if not form.limit else '"changes" has no limit.'
    try:
        value = read_value(form.limit, ResultSchema(name=form.name, type=form.type if form.type != "list" else "text"))
    except Unreadable as why:
        return f"the limit cannot be read: {why}"
    if value.type == "number":
        said = {each.number for each in numbers_in(words)}
        return "" if value.number in said else "the person has named no such number."
    return "" if value.type != "text" or folded(form.limit) in folded(words) else "the person has not said that limit."
