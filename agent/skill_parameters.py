"""Asks the reasoning model which values of a run may differ the next time, and checks its answer against the run."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, Field

from agent.models.base import PILOT, Model, ModelRequest, Purpose, prompted
from agent.models.errors import ModelError
from agent.models.json_answers import ask
from agent.prompts import prompt
from agent.recorded_skills.skill_file import MOST_PARAMETERS, PARAMETER, Parameter
from agent.recorded_skills.step_record import RecordedAction

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 40.0
"""Seconds to wait for the model while a person waits for the preview. After that, the parameters that code found are
used.
"""


class Proposed(BaseModel):
    """One parameter, by the value that it had in the run."""

    name: str
    value: str
    about: str = ""


class Proposal(BaseModel):
    """What may be another the next time."""

    parameters: list[Proposed] = Field(default_factory=list, max_length=MOST_PARAMETERS)


async def parameters_by(
    model: Model, task: str, steps: Sequence[RecordedAction], found: Sequence[Parameter]
) -> tuple[Parameter, ...]:
    """Return the parameters that the model proposes, or those that code has `found` if it proposes no usable ones or
    does not answer in time. Never raises an error of the model.
    """
    values = _values(steps)
    if model.name == PILOT or not values:
        return tuple(found)

    def wrong(proposal: Proposal) -> str:
        bad = [each.value for each in proposal.parameters if not any(each.value in value for value in values)]
        return f"no step has {', '.join(map(repr, bad[:3]))}" if bad else ""

    facts = {"task": task, "values": values, "found by code": {each.name: each.example for each in found}}
    request = ModelRequest(
        Purpose.PLAN,
        prompted(prompt("parameters"), json.dumps(facts, ensure_ascii=False)),
        schema=Proposal,
        conversation="parameters of a skill",
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            proposal, _ = await ask(model, request, Proposal, check=wrong)
    except (ModelError, TimeoutError) as error:
        logger.info("no parameters were proposed: %s", error)
        return tuple(found)
    taken: dict[str, Parameter] = {}
    for each in proposal.parameters:
        name, value = each.name.strip().lower(), each.value.strip()
        known = name in taken or value in {p.example for p in taken.values()}
        if PARAMETER.fullmatch(name) and value and not known:
            taken[name] = Parameter(name=name, example=value, about=" ".join(each.about.split())[:200])
    return tuple(taken.values()) or tuple(found)


def _values(steps: Sequence[RecordedAction]) -> list[str]:
    """Return what was typed, chosen and opened."""
    said = [str(step.action[key]) for step in steps for key in ("text", "url") if key in step.action]
    said += [words for step in steps if step.anchor is not None for words in (step.anchor.words, step.anchor.beside)]
    return list(dict.fromkeys(each for each in said if each))
