"""Requests of a run that goes on step by step."""

from __future__ import annotations

from agent.models.base import Message, ModelReply, ModelRequest, Purpose
from agent.models.openai_model import OpenAIModel
from agent.scene import ImagePart
from tests.agent.models.endpoints import TAP, picture
from tests.fakes.model_server import Answer

ALWAYS = Answer(text="Tap it.", times=0)
SYSTEM = Message("system", ("You work a phone.",))


def acting(*messages: Message, conversation: str = "run-1") -> ModelRequest:
    """An acting call about these messages."""
    return ModelRequest(Purpose.ACT, (SYSTEM, *messages), (TAP,), conversation=conversation)


def step(number: int, *, with_image: bool = True) -> Message:
    """What the caller says at a step."""
    image: str | ImagePart = picture(shade=number) if with_image else "[image removed]"
    return Message("user", (f"Step {number}", image))


async def walk(model: OpenAIModel, steps: int) -> list[ModelReply]:
    """So many steps of one run; the whole history is passed every time, and the answers are as they came."""
    messages: tuple[Message, ...] = ()
    replies = []
    for number in range(1, steps + 1):
        messages = (*messages, step(number))
        reply = await model.complete(acting(*messages))
        replies.append(reply)
        messages = (*messages, Message("assistant", (reply.text,)))
    return replies
