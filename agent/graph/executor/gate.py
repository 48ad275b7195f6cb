"""The gate before an action: what a person is asked instead of it, and what they are shown."""

from __future__ import annotations

import re
from typing import Any

from agent.actions import Action, ElementTarget, Scroll, Type
from agent.describing import describe
from agent.graph.executor import questions
from agent.graph.executor.acting import ActionError
from agent.graph.executor.anchors import anchor_of, looks, nearest
from agent.graph.executor.approvals import approval_of
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.graph.executor.targets import ResolvedTarget, resolve_target, to_input
from agent.guards.hit_test import TouchTarget
from agent.observing import ScreenView
from devices.inputs import Swipe

REFUSED = "Refused and not done: {reason}. Find a way without it, or finish with failure."
_CHINESE = r"\u3400-\u9fff"


async def gated(
    state: ExecutorState, context: RunContext, sight: ScreenView, action: Action, where: ResolvedTarget
) -> dict[str, Any] | None:
    """What the state gets when a person must be asked first, None when the action may be done.

    Raises Trouble when it is refused, Denied when a person has not allowed it before, and what a look raises.
    """
    gate = context.policy.gate(action, spot_of(sight, where, action))
    if gate.verdict == "secret" and isinstance(action, Type) and _said_by_the_person(state, action.text):
        gate = context.policy.press_gate(action, spot_of(sight, where))
    match gate.verdict:
        case "refuse":
            raise ActionError(REFUSED.format(reason=gate.reason))
        case "approve":
            return await approval_of(state, context, sight, action, where, gate.reason)
        case "secret":
            where = field_aim(action, sight)
            question = questions.secret(state, context, where.element, sight)
            return {"question": question, "anchor": anchor_of(where, sight, facts=False)}
        case "allow":
            return None


def spot_of(sight: ScreenView, where: ResolvedTarget, action: Action | None = None) -> TouchTarget:
    """What an action meets there. A scroll begins and ends where its finger does, whatever it named."""
    seen = sight.observation
    if isinstance(action, Scroll) and isinstance(finger := to_input(action, where, sight), Swipe):
        where = ResolvedTarget(None, finger.start, finger.end)
    return TouchTarget(
        seen.package, where.element, seen.elements or (), where.point, where.end, activity=seen.activity, size=seen.size
    )


def _said_by_the_person(state: ExecutorState, text: str) -> bool:
    """Whether the person has given this text for the task: in its words, or since then in this run.

    It is no secret any more then, and asking for it once more would help nobody. It has to stand there by itself: what
    is part of a longer word or number was not told. Chinese is written without blanks.
    """
    wanted = text.strip()
    alone = re.compile(rf"(?<![^\W{_CHINESE}]){re.escape(wanted)}(?![^\W{_CHINESE}])")
    return bool(wanted) and any(alone.search(words) for words in (state["task"], *state.get("said", [])))


def field_aim(action: Action, sight: ScreenView) -> ResolvedTarget:
    """The field that is typed into: the target, else the one with the focus."""
    where = resolve_target(action, sight)
    if where.element is not None or where.point is not None:
        return where
    focused = next((e for e in sight.observation.elements or () if e.focused and e.editable), None)
    return (
        ResolvedTarget(focused, focused.bounds.clipped(sight.observation.size).centre) if focused is not None else where
    )


def aim_again(action: Action, chosen_on: ScreenView, now: ScreenView) -> ResolvedTarget:
    """The place of a later action of one answer, on the screen as the earlier ones have left it.

    The numbers were those of an older list: what has moved is found by its looks. Raises Trouble when it is gone.
    """
    target = getattr(action, "target", None)
    if not isinstance(target, ElementTarget):
        return resolve_target(action, now)
    element = chosen_on.targets[target.element]
    found = nearest(looks(element), element.bounds, now.observation)
    if found is None:
        raise ActionError(f"Not done: {describe(action, chosen_on)}. It is not there any more. Look again.")
    return ResolvedTarget(found, found.bounds.clipped(now.observation.size).centre)
