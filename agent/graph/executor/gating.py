"""The gate before an action: what a person is asked instead of it, and what they are shown."""

from __future__ import annotations

import re
from typing import Any

from agent.actions import Action, ElementTarget, EnterSecret, PressKey, Type
from agent.describing import describe, described
from agent.graph.executor import asking
from agent.graph.executor.acting import Trouble
from agent.graph.executor.anchors import anchor_of, looks, nearest
from agent.graph.executor.context import RunContext
from agent.graph.executor.hands import Aim, aim
from agent.graph.executor.state import ANSWERED, ExecutorState
from agent.guards.touching import Spot
from agent.observing import Sight
from devices.inputs import Key

REFUSED = "Refused and not done: {reason}. Find a way without it, or finish with failure."
NO_FIELD = "Refused and not asked: what you named is no field, and it {reason}. Name the field."


async def gated(
    state: ExecutorState, context: RunContext, sight: Sight, action: Action, where: Aim
) -> dict[str, Any] | None:
    """What the state gets when a person must be asked first, None when the action may be done.

    Raises Trouble when it is refused.
    """
    gate = context.policy.gate(action, _spot(sight, where))
    if gate.verdict == "secret" and isinstance(action, Type) and _said_by_the_person(state, action.text):
        gate = context.policy.press_gate(action, _spot(sight, where))
    match gate.verdict:
        case "refuse":
            raise Trouble(REFUSED.format(reason=gate.reason))
        case "approve":
            frame = await _picture(context, sight)
            what = described(action, sight, where.element)
            question = asking.approval(state, context, action, what, gate.reason, sight, frame)
            return {"question": question, "anchor": anchor_of(where, sight)}
        case "secret":
            where = field_aim(action, sight)
            name = where.element.hint or where.element.description if where.element is not None else ""
            question = asking.secret_instead(state, context, name, sight)
            return {"question": question, "anchor": anchor_of(where, sight, facts=False)}
        case "allow":
            return None


def require_field(context: RunContext, sight: Sight, action: Action) -> None:
    """Raise Trouble when a secret would press a button, or go into an app that is never touched."""
    if not isinstance(action, EnterSecret):
        return
    where = field_aim(action, sight)
    gate = context.policy.gate(action.model_copy(update={"submit": False}), _spot(sight, where))
    if gate.verdict == "refuse":
        raise Trouble(REFUSED.format(reason=gate.reason))
    if gate.verdict != "allow":
        raise Trouble(NO_FIELD.format(reason=gate.reason))


def enter_waits(context: RunContext, sight: Sight, where: Aim) -> str:
    """Why Enter is not pressed by itself after what a person gave: it was given for the field. "" when it is."""
    return context.policy.gate(PressKey(key=Key.ENTER), _spot(sight, where)).reason


def _spot(sight: Sight, where: Aim) -> Spot:
    seen = sight.observation
    return Spot(seen.package, where.element, seen.elements or (), where.point, where.end)


def _said_by_the_person(state: ExecutorState, text: str) -> bool:
    """Whether the person has given this text for the task: in its words, or as an answer in this run.

    It is no secret any more then, and asking for it once more would help nobody.
    """
    given = [state["task"]]
    given += [past["effect"] for past in state["past"] if past["effect"].startswith(ANSWERED)]
    wanted = text.strip()
    return bool(wanted) and any(wanted in re.split(r"[\s,;:\"“”]+", words) for words in given)


def field_aim(action: Action, sight: Sight) -> Aim:
    """The field that is typed into: the target, else the one with the focus."""
    where = aim(action, sight)
    if where.element is not None or where.point is not None:
        return where
    focused = next((e for e in sight.observation.elements or () if e.focused and e.editable), None)
    return Aim(focused, focused.bounds.clipped(sight.observation.size).centre) if focused is not None else where


def aim_again(action: Action, chosen_on: Sight, now: Sight) -> Aim:
    """The place of a later action of one answer, on the screen as the earlier ones have left it.

    The numbers were those of an older list: what has moved is found by its looks. Raises Trouble when it is gone.
    """
    target = getattr(action, "target", None)
    if not isinstance(target, ElementTarget):
        return aim(action, now)
    element = chosen_on.targets[target.element]
    found = nearest(looks(element), element.bounds, now.observation)
    if found is None:
        raise Trouble(f"Not done: {describe(action, chosen_on)}. It is not there any more. Look again.")
    return Aim(found, found.bounds.clipped(now.observation.size).centre)


def secret_action(action: Action) -> EnterSecret:
    """What is done with a secret that a person has given: also where a model would have typed one by itself."""
    if isinstance(action, EnterSecret):
        return action
    submit = bool(getattr(action, "submit", False)) or getattr(action, "text", "").endswith("\n")
    return EnterSecret(question="", target=getattr(action, "target", None), submit=submit)


async def _picture(context: RunContext, sight: Sight) -> str | None:
    """The picture of the screen that the action would meet; it is newer than the step's after a first action."""
    if sight.frame is not None or sight.observation.jpeg is None:
        return sight.frame
    return await context.frames.save(sight.observation.jpeg.data, suffix="jpg")
