"""A run in this process: its phone and resources, its control signals, its end, and the preparation of one that may
follow.

Nothing is done on the phone, and nothing is stored: an unused observation leaves no picture behind. The phone is only
borrowed, so other runs do not wait for it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from langchain_core.runnables import RunnableConfig

from agent.control import Control
from agent.events import RunEnded, Source
from agent.graph.executor.context import RunContext, RunMemory
from agent.graph.executor.matters import denied
from agent.graph.executor.nodes.vision_model import request_for, scene_of
from agent.graph.executor.reader import has_reader
from agent.graph.executor.speculative import DeltaBuffer, FirstAnswer
from agent.graph.executor.state import NEW_RUN, NEW_SUBTASK, ExecutorState, ResultData, joined, result_of
from agent.graph.subjects import spent
from agent.guards.masking import Mask
from agent.models.conversations import keeps_conversation
from agent.models.pictures import takes_pictures
from agent.ports.leases import Lease, Lender
from agent.ports.runner import RunOrder
from agent.questions import AnswerBox
from agent.run import Outcome, RunId
from agent.run_config import RunConfig
from devices.phone import Phone


@dataclass
class WarmUp:
    """The preparation of a run that may follow, while it is in progress: the borrowed phone, and the work on it."""

    lease: Lease
    lender: Lender
    phone: Phone
    work: asyncio.Task[None]
    """The task that ends once the model has been asked."""


async def cancel_warm_up(work: asyncio.Task[None]) -> None:
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
    request = request_for(context, scene, acting)
    pieces = DeltaBuffer()
    call = vision.complete(request, on_delta=pieces if has_reader(context) else None)
    answering = asyncio.ensure_future(context.control.guard(call))
    context.memory.first_answer = FirstAnswer(scene, request, answering, pieces)


@dataclass
class ActiveRun:
    """The resources of a run in this process, from the first mention of its id to its release. `lock` makes sure that
    only one caller works on it at a time.
    """

    id: RunId
    control: Control = field(default_factory=Control)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    memory: RunMemory = field(default_factory=RunMemory)
    mask: Mask = field(default_factory=Mask)
    wish: str = ""
    """The id of the requested phone, "" for any. After the first lease, the id of the phone that the run got."""
    person: str = ""
    lease: Lease | None = None
    phone: Phone | None = None
    config: RunConfig | None = None
    """The configuration that the run works with; None before it has its first phone."""
    files: list[str] = field(default_factory=list)
    """Paths on the phone of the files that this process has put there."""
    answers: AnswerBox = field(default_factory=AnswerBox)
    warm_up: WarmUp | None = None
    """What was prepared before it is known whether a sub-task follows; None if nothing was."""
    cooling: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the warm-up ends or is taken over, so that a run which gives its phone to another starts nothing on
    it.
    """


NODES_PER_STEP = 8


def config_of(order: RunOrder) -> RunnableConfig:
    """Return the graph configuration of the run: its thread, and a limit of graph steps that is enough for all its
    steps.
    """
    return {
        "configurable": {"thread_id": f"run:{order.run}"},
        "recursion_limit": order.max_steps * NODES_PER_STEP + 20,
    }


def fresh(order: RunOrder, *, first: bool) -> ExecutorState:
    """Return the initial state of a sub-task. Only with `first` does it contain the approvals given in advance."""
    new: ExecutorState = {
        "order": {
            "run": str(order.run),
            "subtask": order.subtask,
            "task": order.task,
            "goal": order.goal,
            "plan": "\n\n".join(filter(None, [order.plan, order.wanted])),
            "max_steps": order.max_steps,
        },
        "conversation": {"notes": list(order.notes)},
    }
    if not first:
        return new
    return joined(NEW_RUN, new, {"safety": {"standing": [each.model_dump(mode="json") for each in order.standing]}})


def cut_off(order: RunOrder, outcome: Outcome, summary: str) -> RunEnded:
    """Return the end of a sub-task about whose steps nothing is known."""
    return ended(order, joined(NEW_RUN, NEW_SUBTASK, fresh(order, first=False)), result_of(outcome, summary))


def ended(order: RunOrder, state: ExecutorState, result: ResultData | None = None) -> RunEnded:
    """Return the end of a sub-task, from the state of its graph. `result` replaces the result in the state."""
    result, conversation = result or state["progress"]["result"], state["conversation"]
    assert result is not None
    return RunEnded(
        run=order.run,
        subtask=order.subtask,
        outcome=Outcome(result["outcome"]),
        summary=result["summary"],
        data=result["data"],
        on_screen=result.get("on_screen", False),
        needs_model=result.get("needs_model"),  # type: ignore[arg-type]  # plain data, which is validated here
        notes=tuple(conversation["notes"]),
        steps=len(state["past"]),
        usage=spent(state["progress"]),
        frame=state["step"]["frame"],
        sources=tuple(Source.model_validate(page) for page in conversation["sources"]),
        declined=denied(state["safety"]["matters"]),
    )
