"""Prepares a run that may follow: looks at a free phone and asks a model, while the kind of task is still being
decided.

Nothing is done on the phone, and nothing is stored: an unused observation leaves no picture behind. The phone is only
borrowed, so other runs do not wait for it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent.graph.executor.context import RunContext
from agent.graph.executor.first_answer import FirstAnswer, Pieces
from agent.graph.executor.nodes.vision_model import scene_of
from agent.graph.executor.reader import has_reader
from agent.graph.executor.state import ExecutorState
from agent.models.base import ModelRequest, Purpose
from agent.models.conversations import keeps_conversation
from agent.models.pictures import takes_pictures
from agent.ports.leases import Lease, Lender
from devices.phone import Phone


@dataclass
class WarmUp:
    """The preparation of a run that may follow, while it is in progress: the borrowed phone, and the work on it."""

    lease: Lease
    lender: Lender
    phone: Phone
    work: asyncio.Task[None]
    """The task that ends once the model has been asked."""


async def cut(work: asyncio.Task[None]) -> None:
    """Cancel the preparation and wait until it does nothing more."""
    work.cancel()
    await asyncio.wait({work})


async def look_and_ask(state: ExecutorState, context: RunContext, *, own: bool) -> None:
    """Look at the phone, and ask the model for the first action of a run with this state. `own` says whether the phone
    belongs to the run already. Nothing is asked if the model takes no pictures, if its endpoint stores conversations or
    may do so, or if the phone must first be woken or covered.

    Raises Stopped, PhoneError and whatever rendering raises.
    """
    vision = context.config.models.vision
    if not takes_pictures(vision):
        return
    view = await context.screen.look_ahead(own=own)
    # An endpoint that stores the conversation would continue from an answer that may be dropped.
    if view is None or keeps_conversation(vision):
        return
    acting = context.screen.model
    scene = await scene_of(state, context, view)
    messages, tools = context.profile.dialect.render(scene)
    request = ModelRequest(
        Purpose.ACT,
        messages,
        tools,
        scene=scene,
        conversation=str(context.run),
        task=context.run.task,
        rendered_for=acting,
    )
    pieces = Pieces()
    call = vision.complete(request, on_delta=pieces if has_reader(context) else None)
    answering = asyncio.ensure_future(context.control.guard(call))
    context.memory.first_answer = FirstAnswer(scene, request, acting, answering, pieces)
