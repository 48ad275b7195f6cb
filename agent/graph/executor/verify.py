"""Checks a claim of success against the last screen."""

from __future__ import annotations

import logging

from pydantic import BaseModel

from agent.actions import Finish
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.models.base import Message, ModelRequest, Purpose, Usage
from agent.models.errors import ModelAnswerUnusable, ModelError
from agent.models.structured import ask
from agent.observing import Sight
from agent.picture import ImagePart
from agent.prompts import prompt
from agent.wording import sentence
from devices.wording import sentence_of

logger = logging.getLogger(__name__)


class Verdict(BaseModel):
    """Whether the claim is proven, and what is missing if not."""

    proven: bool
    reason: str = ""


async def verify(state: ExecutorState, context: RunContext, sight: Sight, claim: Finish) -> tuple[Verdict | str, Usage]:
    """The verdict on a claim of success, or why none could be had.

    Raises nothing of the model's: what cannot be verified is unverified.
    """
    if sight.screen.image is None and not sight.screen.elements:
        return sentence("verify.nothing"), Usage()
    steps = "\n".join(f"{past['number']}. {past['did']} → {past['effect']}" for past in state["past"])
    elements = "\n".join(element.line for element in sight.screen.elements or ())
    facts = (
        f"Task: {state['task']}\nThis part: {state['goal']}\n\nSteps:\n{steps or '(none)'}\n\n"
        f"Claim: {claim.summary}\nData: {claim.data or '(none)'}\n\n"
        f"Last screen ({sight.screen.app}):\n{elements or '(no element list)'}"
    )
    parts: tuple[str | ImagePart, ...] = (facts,)
    if sight.screen.image is not None:
        parts = (facts, sight.screen.image)
    request = ModelRequest(
        Purpose.VERIFY,
        (Message("system", (prompt("verify"),)), Message("user", parts)),
        schema=Verdict,
        conversation=f"{state['run']}-verify",
    )
    try:
        verdict, usage = await ask(context.models.for_purpose(Purpose.VERIFY), request, Verdict)
    except ModelAnswerUnusable as error:
        logger.info("run %s: the verification gave no usable verdict: %s", state["run"], error)
        return sentence("verify.unusable", why=sentence_of(error)), error.usage
    except ModelError as error:
        logger.warning("run %s: the verification call failed: %s", state["run"], error)
        return sentence("verify.failed", why=sentence_of(error)), Usage()
    return verdict, usage
