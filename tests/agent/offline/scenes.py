"""Scenes made by hand, for what a virtual phone does not do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agent.actions import Action, ElementTarget
from agent.dialects.select import dialect_for
from agent.effect_facts import Effect, ScreenChanged
from agent.models.base import Message, ModelReply, ModelRequest, Purpose
from agent.offline.pilot import OfflinePilot
from agent.offline.progress import memo_of
from agent.scene import PastStep, Scene, Screen, ScreenElement, StepFailure, StepStatus
from devices.geometry import Bounds, Size

SPACE = Size(900, 2000)
SOMETHING = ScreenChanged()


def element(role: str, text: str, top: int = 300, *states: str, left: int = 0, right: int = 900) -> ScreenElement:
    """A line of the list, 100 pixels high; its number is given by `screen`."""
    return ScreenElement(0, role, text, Bounds(left, top, right, top + 100), states)


def screen(*elements: ScreenElement, app: str = "org.example.app", **more: Any) -> Screen:
    """A screen with these elements, numbered."""
    numbered = tuple(
        ScreenElement(number, each.role, each.text, each.bounds, each.states) for number, each in enumerate(elements)
    )
    return Screen(SPACE, None, numbered, app=app, **more)


def step(
    place: str,
    did: str = "",
    effect: Effect | None = SOMETHING,
    failure: StepFailure | None = None,
    status: StepStatus = StepStatus.DONE,
) -> PastStep:
    """A step that was taken, `place` as "1/2 tap: x" (clause, stage); `effect` is None when nothing is known of what
    came of it.
    """
    number, _, stage = place.partition(":")[0].partition(" ")
    memo = memo_of(int(number.split("/")[0]) - 1, stage)
    return PastStep(1, "", "", (did,), () if effect is None else (effect,), status=status, failure=failure, memo=memo)


def scene(text: str, shown: Screen, past: Sequence[PastStep] = (), **more: Any) -> Scene:
    """What the pilot is shown."""
    return Scene(text, text, shown, len(past) + 1, 60, tuple(past), **more)


async def next_action(given: Scene) -> Action:
    """What the pilot does, as its dialect understands it: one action."""
    reply = await answer(Purpose.ACT, "", scene=given)
    actions = dialect_for("auto", OfflinePilot().name).parse(reply, SPACE).actions
    assert len(actions) == 1
    return actions[0]


async def answer(purpose: Purpose, text: str, **more: Any) -> ModelReply:
    """The pilot's reply to a request."""
    request = ModelRequest(purpose, (Message("system", ("instructions",)), Message("user", ("context", text))), **more)
    return await OfflinePilot().complete(request)


async def data(purpose: Purpose, text: str) -> Any:
    """The pilot's structured reply."""
    return json.loads((await answer(purpose, text)).text)


def touched(action: Action, shown: Screen) -> str:
    """The label of what an action touches."""
    target = getattr(action, "target", None)
    assert isinstance(target, ElementTarget)
    assert shown.elements is not None
    return shown.elements[target.element].text
