"""The scene of a step, from the executor's state and what was just seen."""

from __future__ import annotations

from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.models.base import ImagePart
from agent.observing import Sight
from agent.ports.frames import Frames
from agent.scene import PastStep, Scene
from devices.geometry import Size


async def scene_of(state: ExecutorState, context: RunContext, sight: Sight) -> Scene:
    """Everything one acting call is about; pictures only for the steps inside the image window."""
    past = state["past"]
    shown = max(0, context.image_window - 1)
    first_shown = len(past) - shown
    steps = [
        PastStep(
            number=step["number"],
            reply=step["reply"],
            thought=step["thought"],
            did=step["did"],
            effect=step["effect"],
            app=step["app"],
            image=await _picture(context.frames, step["frame"], sight.screen.space) if i >= first_shown else None,
        )
        for i, step in enumerate(past)
    ]
    return Scene(
        task=state["task"],
        goal=state["goal"],
        screen=sight.screen,
        step=state["step"],
        max_steps=state["max_steps"],
        past=tuple(steps),
        notes=tuple(state["notes"]),
        plan=state.get("plan", ""),
        told=tuple(state["told"]),
    )


async def _picture(frames: Frames, reference: str | None, size: Size) -> ImagePart | None:
    if reference is None:
        return None
    try:
        return ImagePart(await frames.load(reference), "image/jpeg", size)
    except KeyError:
        return None
