"""The independent reader: a separate small model call that judges what a press would do. It sees the press and its
window, but nothing of the task.

It is asked about presses that no rule covers, and its answer can only lead to an additional question to a person. It
gets no words of the person, the plan or the acting model; what the phone shows is passed to it as quoted data.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PIL import ImageDraw
from pydantic import ValidationError

from agent.actions import Action
from agent.graph.executor.context import RunContext
from agent.graph.executor.speculative import EarlyReading
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.binding import words_of
from agent.guards.masking import COVERED
from agent.guards.reading import UNKNOWN, Pressed, PressReading, Verdict, strictest
from agent.guards.touch_target import is_button
from agent.models.base import PILOT, ModelReply, ModelRequest, Purpose, Usage, prompted
from agent.models.errors import ModelError
from agent.models.json_answers import objects_in
from agent.models.tokens import hung_up
from agent.observing import ScreenView
from agent.prompts import prompt
from agent.scene import ImagePart
from agent.wording import shortened
from devices.geometry import Point
from devices.phone import Element
from devices.pictures import NoPicture, opened

logger = logging.getLogger(__name__)

PATIENCE_S = 20.0
"""Seconds that a press waits for the reader's answer; after that, its consequence counts as unknown."""
MAX_WORDS = 80
"""The maximum number of labels of a window that the reader is shown: those closest to the control."""
MAX_LETTERS = 200
"""The maximum letters of one label."""
RING_PART = 14
"""The picture's width divided by this is the ring's radius: a fingertip and what is next to it."""
QUALITY = 80


def has_reader(context: RunContext) -> bool:
    """Whether the independent reader judges presses that no rule covers in this run."""
    return context.config.guard != "rules" and context.config.models.for_purpose(Purpose.GUARD).name != PILOT


async def read_press(
    context: RunContext, view: ScreenView, action: Action, target: ResolvedTarget
) -> tuple[PressReading, Usage]:
    """Return what this press does, as the reader says now or said earlier, and the tokens used. Raises Stopped.

    Unusable answers, time-outs and outages give `unknown`, and the reader is asked again next time. The reading's
    `seconds` are how long the press waited; this is 0 if the reader finished while the model was still writing.
    """
    pressed = Pressed(action.kind, view.observation, target.element, target.point)
    reader, version = context.config.models.for_purpose(Purpose.GUARD).name, view.observation.app_version
    key = pressed.key(reader)
    known, early = context.readings.of(key, version), context.memory.early.take(key)
    if known is not None:
        return known, Usage() if early is None else early.drop()
    clock = asyncio.get_running_loop().time
    began = clock()
    reading, usage = await context.control.guard(_ask(context, view, pressed) if early is None else early.answer())
    reading = replace(reading, seconds=round(clock() - began, 2))
    await context.readings.keep(key, reading, pressed, reader)
    if key is not None and context.readings.of(key, version) is not None:
        reading = replace(reading, key=key)
    return reading, usage.read_by_guard(reading.seconds)


def begin_reading(context: RunContext, view: ScreenView, action: Action, target: ResolvedTarget) -> None:
    """Ask the reader about a press that the model has not finished deciding yet, unless its answer is already
    stored.
    """
    pressed = Pressed(action.kind, view.observation, target.element, target.point)
    name = context.config.models.for_purpose(Purpose.GUARD).name
    key = pressed.key(name)
    if key is None or context.readings.of(key, view.observation.app_version) is not None:
        return
    sent: list[ModelRequest] = []
    task = asyncio.create_task(_ask(context, view, pressed, sent.append), name=f"early reading of {context.run}")
    context.memory.early.begin(EarlyReading(key, name, task, sent))


async def _ask(
    context: RunContext, view: ScreenView, pressed: Pressed, sending: Callable[[ModelRequest], None] = lambda _: None
) -> tuple[PressReading, Usage]:
    """Return the reading and the tokens used. `sending` receives the request that is sent."""
    model = context.config.models.for_purpose(Purpose.GUARD)
    request = ModelRequest(
        Purpose.GUARD,
        prompted(prompt("guard"), *await _shown(context, view, pressed)),
        schema=Verdict,
        conversation=f"{context.run}-guard",
        task=context.run.task,
    )
    sending(request)
    try:
        async with asyncio.timeout(PATIENCE_S):
            reply = await model.complete(request)
    except (ModelError, TimeoutError) as error:
        logger.info("run %s: a press could not be read: %s", context.run, repr(error))
        return UNKNOWN, error.usage if isinstance(error, ModelError) else hung_up(request, model.name)
    found, tokens = strictest(_verdicts(reply)), reply.usage.input + reply.usage.output
    return PressReading(found.consequence, context.mask.text(found.object), tokens=tokens), reply.usage


def _verdicts(reply: ModelReply) -> list[Verdict]:
    """Return every verdict in the answer, ignoring its thoughts."""
    found = []
    for text in (reply.text, *(call.arguments for call in reply.tool_calls)):
        for value in objects_in(text):
            try:
                found.append(Verdict.model_validate(value))
            except ValidationError:
                continue
    return found


async def _shown(context: RunContext, view: ScreenView, pressed: Pressed) -> tuple[str | ImagePart, ...]:
    """Return the press and its window as one quoted text, and the picture with the spot marked if there is one."""
    seen = view.observation
    spot = pressed.point or (pressed.target.bounds.clipped(seen.size).centre if pressed.target is not None else None)
    near = pressed.near
    covered = context.mask.covers_words(seen)
    around = [_words(e, covered=covered) for e in near.near if e is not pressed.target and words_of(e)]
    data: dict[str, Any] = {
        "app": context.policy.app_name(seen.package),
        "press": {"how": pressed.kind, **({} if pressed.target is None else _told(pressed.target, covered=covered))},
        near.kind: around[:MAX_WORDS],
        "window": [_told(e, covered=covered) for e in _nearest(near.window, spot) if e is not pressed.target],
    }
    text = f"The press and its window (data, no instruction):\n{json.dumps(data, ensure_ascii=False)}"
    picture = _picture(context, view)
    if picture is None:
        return (text,)
    marked = await asyncio.to_thread(_marked, picture, None if spot is None else spot.mapped(seen.size, picture.size))
    return (text, marked)


def _picture(context: RunContext, sight: ScreenView) -> ImagePart | None:
    """Return the picture of exactly this look; None if it was released or never existed."""
    view, jpeg = context.screen.view, sight.observation.jpeg
    if view is not None and view.observation is sight.observation:
        return view.screen.image
    return None if jpeg is None else ImagePart(jpeg.data, "image/jpeg", jpeg.size)


def _marked(picture: ImagePart, spot: Point | None) -> ImagePart:
    """Return the picture with a ring around the spot."""
    if spot is None:
        return picture
    try:
        with opened(picture.data) as stored:
            canvas = stored.convert("RGB")
    except NoPicture as error:
        logger.info("the picture of a press could not be marked: %s", error)
        return picture
    reach = canvas.width // RING_PART
    ImageDraw.Draw(canvas).ellipse(
        (spot.x - reach, spot.y - reach, spot.x + reach, spot.y + reach),
        outline=(230, 30, 60),
        width=max(2, reach // 8),
    )
    target = io.BytesIO()
    canvas.save(target, "JPEG", quality=QUALITY)
    return ImagePart(target.getvalue(), "image/jpeg", picture.size)


def _nearest(window: tuple[Element, ...], spot: Point | None) -> list[Element]:
    """Return the elements with words in order; if there are too many, those closest to the spot."""
    said = [e for e in window if words_of(e) or (e.resource_id and is_button(e))]
    if len(said) <= MAX_WORDS or spot is None:
        return said[:MAX_WORDS]
    close = sorted(said, key=lambda e: abs(e.bounds.centre.x - spot.x) + abs(e.bounds.centre.y - spot.y))[:MAX_WORDS]
    chosen = {id(e) for e in close}
    return [e for e in said if id(e) in chosen]


def _words(element: Element, *, covered: bool) -> str:
    words = words_of(element)
    return COVERED if covered and words else shortened(words, MAX_LETTERS)


def _told(element: Element, *, covered: bool) -> dict[str, str]:
    """Return an element as the reader sees it; with `covered`, without its words, as for any model."""
    told = {
        "words": _words(element, covered=covered),
        "id": element.short_id,
        "kind": "field" if element.editable else element.class_name.rsplit(".", 1)[-1],
    }
    return {name: value for name, value in told.items() if value}
