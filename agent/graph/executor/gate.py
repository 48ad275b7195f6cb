"""The gate: decides before each action whether it may be done, is refused, or needs a person's approval, and what they
are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agent.actions import Action, ElementTarget, Scroll, Type
from agent.graph.executor import questions
from agent.graph.executor.action_spec import InputAction, PhoneTool, ResolvedInput
from agent.graph.executor.anchors import anchor_of, looks, nearest
from agent.graph.executor.approvals import approval_of, tool_approval_of
from agent.graph.executor.context import RunContext
from agent.graph.executor.outgoing import carried_gate, sources_of
from agent.graph.executor.reader import has_reader, read_press
from agent.graph.executor.state import ExecutorState
from agent.graph.executor.targets import ResolvedTarget, resolve_target, scroll_of, spoken_as, spot_at
from agent.guards.controls import tells_nothing
from agent.guards.gate import SLID, UNREAD, Gate
from agent.guards.reading import UNKNOWN, PressReading, is_press
from agent.guards.touch_target import TouchTarget
from agent.models.base import Usage
from agent.observing import ScreenView
from agent.tools.spec import ActionError, Situation, Tool
from devices.inputs import Input

REFUSED = "Refused and not done: {reason}. Find a way without it, or finish with failure."
_CHINESE = r"\u3400-\u9fff"


async def question_before_input(
    state: ExecutorState, context: RunContext, it: ResolvedInput, record: Callable[[PressReading, Usage], None]
) -> ExecutorState | None:
    """Return the update that asks a person before an input, or that has the approval given in advance; None if it may
    be sent.

    `record` receives the judgement of the independent reader, a second model, and the tokens it used. Raises Stopped,
    ActionError if the input is refused, Denied if a person denied it before, and what observing the phone raises.
    """
    action, sight = it.action, it.sight
    spot = spot_of(sight, it.where, action)
    gate = context.policy.gate(action, spot)
    if gate.verdict == "secret" and isinstance(action, Type) and _said_by_the_person(state, action.text):
        gate = context.policy.press_gate(action, spot_of(sight, it.where))
    if gate.verdict == "allow" and not is_its_input(action, it.where, it.physical, sight):
        gate = _gate_of_input(state, context, it)
    if gate.verdict == "allow":
        own = it.spec.gate(action, _situation(state, context, spot))
        gate = own if own.verdict != "allow" else await _read(context, it, gate, record)
    match gate.verdict:
        case "refuse":
            raise ActionError(REFUSED.format(reason=gate.reason), reason=gate.reason)
        case "approve":
            return await approval_of(state, context, it, gate)
        case "secret":
            where = field_aim(action, sight)
            question = questions.secret(state, context, where.element, sight)
            return questions.asking(question, anchor_of(where, sight, facts=False))
        case "allow":
            return None


async def _read(
    context: RunContext, it: ResolvedInput, gate: Gate, record: Callable[[PressReading, Usage], None]
) -> Gate:
    """Return the verdict for an input that no rule held, which the reader may hold. The reader is never asked whether
    something held by a rule may be done.
    """
    if gate.standing != "unknown" or context.config.guard == "rules":
        return gate
    action, where, sight = it.action, it.where, it.sight
    if not is_its_input(action, where, it.physical, sight):
        action, where = spoken_as(it.physical, sight)
    if gate is not SLID and not is_press(action, spot_of(sight, where, action)):
        return gate
    reading = UNKNOWN
    if has_reader(context):
        reading, usage = await read_press(context, sight, action, where)
        record(reading, usage)
    if reading.rule:
        return context.policy.hold(reading.rule, "reader", reading.object)
    if reading.consequence == UNKNOWN.consequence and context.config.guard == "strict":
        return Gate("approve", UNREAD, standing="unknown", how="unknown")
    return gate


def _situation(state: ExecutorState, context: RunContext, spot: TouchTarget | None) -> Situation:
    sources, moved = sources_of(state, context.memory), tuple(state["safety"]["moved"])
    return Situation(context.policy, state["order"]["task"], spot, sources, moved)


def would_be_read(state: ExecutorState, context: RunContext, view: ScreenView, action: Action) -> bool:
    """Whether this action is a press that no rule covers, so that the independent reader would be asked about it."""
    spec, where = context.actions.spec_of(action), resolve_target(action, view)
    if not isinstance(spec, InputAction) or not has_reader(context):
        return False
    try:
        physical = spec.to_input(action, where, view)
    except ActionError:
        return False
    if physical is None or not is_its_input(action, where, physical, view):
        return False
    spot = spot_of(view, where, action)
    gate = context.policy.gate(action, spot)
    if gate.verdict != "allow" or gate.standing != "unknown" or not (gate is SLID or is_press(action, spot)):
        return False
    return spec.gate(action, _situation(state, context, spot)).verdict == "allow"


def is_unjudged(context: RunContext, it: ResolvedInput) -> bool:
    """Whether this is a press about which the window has no words for the rules, and no independent reader
    judges it.
    """
    spot = spot_of(it.sight, it.where, it.action)
    return not has_reader(context) and is_press(it.action, spot) and tells_nothing(spot)


def is_its_input(action: Action, target: ResolvedTarget, physical: Input, view: ScreenView) -> bool:
    """Whether judging the action also judges the input that is sent. For example, a tap must send a tap to its own
    target.
    """
    same, there = spoken_as(physical, view)
    return type(same) is type(action) and (there.point, there.end) == (target.point, target.end)


def _gate_of_input(state: ExecutorState, context: RunContext, it: ResolvedInput) -> Gate:
    """Judge the input of an action with another name. Such an action may not type a secret."""
    same, there = spoken_as(it.physical, it.sight)
    spot = spot_of(it.sight, there, same)
    gate = context.policy.gate(same, spot)
    if gate.verdict == "allow":
        carried = carried_gate(same, _situation(state, context, spot))
        gate = gate if carried.verdict == "allow" else carried
    return gate if gate.verdict != "secret" else Gate("refuse", gate.reason)


def question_before_tool(
    state: ExecutorState, context: RunContext, spec: Tool[Any] | PhoneTool[Any], action: Action
) -> ExecutorState | None:
    """Return the update that asks a person before a tool runs; None if it may run. No screen is involved. Raises
    ActionError if the tool is refused, and Denied if a person denied it before.
    """
    gate = spec.gate(action, _situation(state, context, None))
    match gate.verdict:
        case "refuse" | "secret":
            raise ActionError(REFUSED.format(reason=gate.reason), reason=gate.reason)
        case "approve":
            return tool_approval_of(state, context, spec, action, gate)
        case "allow":
            return None


def spot_of(view: ScreenView, target: ResolvedTarget, action: Action | None = None) -> TouchTarget:
    """Return what an action touches on the screen and what is around it, for the rules to judge. A scroll begins and
    ends where its finger does.
    """
    if isinstance(action, Scroll):
        finger = scroll_of(action.direction, target, view)
        target = ResolvedTarget(None, finger.start, finger.end)
    return spot_at(view.observation, target)


def _said_by_the_person(state: ExecutorState, text: str) -> bool:
    """Whether the person gave this text, in the task or later in this run, so that it is no secret any more.

    It must be a separate word: part of a longer word or number does not count. Chinese has no spaces.
    """
    wanted = text.strip()
    alone = re.compile(rf"(?<![^\W{_CHINESE}]){re.escape(wanted)}(?![^\W{_CHINESE}])")
    told = (state["order"]["task"], *state["conversation"]["user_messages"])
    return bool(wanted) and any(alone.search(words) for words in told)


def field_aim(action: Action, view: ScreenView) -> ResolvedTarget:
    """Return the field that the action types into: its target, otherwise the focused field. It is empty if there is
    neither.
    """
    where = resolve_target(action, view)
    if where.element is not None or where.point is not None:
        return where
    focused = next((e for e in view.observation.elements or () if e.focused and e.editable), None)
    return (
        ResolvedTarget(focused, focused.bounds.clipped(view.observation.size).centre) if focused is not None else where
    )


def aim_again(action: Action, what: str, chosen_on: ScreenView, now: ScreenView) -> ResolvedTarget:
    """Find the target of a later action of one answer, on the screen `now` that the earlier actions left.

    The element's number belongs to the list of `chosen_on`, so an element that moved is found by its id, class and
    label. `what` describes the action. Raises ActionError if the element is gone.
    """
    target = getattr(action, "target", None)
    if not isinstance(target, ElementTarget):
        return resolve_target(action, now)
    element = chosen_on.targets[target.element]
    found = nearest(looks(element), element.bounds, now.observation)
    if found is None:
        raise ActionError(f"Not done: {what}. It is not there any more. Look again.")
    return ResolvedTarget(found, found.bounds.clipped(now.observation.size).centre)
