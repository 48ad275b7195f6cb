"""The scene of a step, from the executor's state and what was just seen."""

from __future__ import annotations

from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.models.base import Message
from agent.observing import Sight
from agent.picture import ImagePart
from agent.ports.frames import Frames
from agent.scene import PastStep, Scene
from devices.geometry import Size


async def scene_of(state: ExecutorState, context: RunContext, sight: Sight) -> Scene:
    """Everything one acting call is about; pictures only for the steps inside the image window."""
    past = state["past"]
    first = first_in_window(len(past), context.image_window)
    said = context.live.shown
    steps = [
        PastStep(
            number=step["number"],
            reply=step["reply"],
            thought=step["thought"],
            did=step["did"],
            effect=step["effect"],
            app=step["app"],
            image=await _picture(context.frames, step["frame"], sight.screen.space) if i >= first else None,
            shown=said.get((state["subtask"], step["number"]), "") if i >= first else "",
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
        files=tuple(state.get("files", ())),
    )


def first_in_window(past: int, window: int) -> int:
    """The index of the first of `past` steps whose picture is still shown; at most `window` are, the current one
    included.

    A full window drops its older half at once: were it one picture a step, everything after that picture would be new
    to the endpoint's prompt cache at every step. Measured over 30 steps with 30 elements each, cached input at a tenth
    of its price: a window of 5 costs 163 thousand tokens of input, 356 one picture at a time; a window of 1 costs 96.
    """
    most = window - 1
    if past <= most:
        return 0
    kept = min(most, max(1, most // 2))
    return past - kept - (past - most - 1) % (most - kept + 1)


def remember_shown(state: ExecutorState, context: RunContext, messages: tuple[Message, ...]) -> None:
    """Keep what the model is shown now, to be said again in the same words while its picture is in the window."""
    if context.image_window == 1:
        return
    said = context.live.shown
    said[state["subtask"], state["step"]] = [part for part in messages[-1].parts if isinstance(part, str)][-1]
    while len(said) > context.image_window:
        del said[next(iter(said))]


async def _picture(frames: Frames, reference: str | None, size: Size) -> ImagePart | None:
    if reference is None:
        return None
    try:
        return ImagePart(await frames.load(reference), "image/jpeg", size)
    except KeyError:
        return None
