"""Closes a step: adds it to the history and to the loop guard's moves, and reports it once its effect is certain."""

from __future__ import annotations

import json
import time
from typing import Any, Final

from agent.actions import Action
from agent.captions import deed, phrase
from agent.effect_facts import Effect, effects_data, effects_of, in_english
from agent.effects import MOVED_MEAN, SCROLLED_MEAN, difference, hash_text, moved, screen_word, told_effects
from agent.events import Step
from agent.graph.executor.acting import written
from agent.graph.executor.anchors import looks
from agent.graph.executor.context import RunContext
from agent.graph.executor.speculative import EarlyObservation
from agent.graph.executor.state import (
    NO_QUESTION,
    NO_STEP,
    ExecutorState,
    PastData,
    StepState,
    performed_of,
    reply_of,
    reply_text,
    status_of,
)
from agent.graph.executor.targets import resolve_target
from agent.graph.subjects import spent
from agent.guards.loop_detection import WAITING, WINDOW
from agent.models.base import ModelReply
from agent.observing import ScreenView
from agent.ports.journal import ActionKey
from agent.recorded_skills.step_record import PressVerdict, RecordedAction, StepRecord
from agent.wording import kept, words
from devices.phone import Observation

GRID = 40
"""Pixels of the sent picture within which two touches count as the same touch."""


def _moves(state: ExecutorState, context: RunContext) -> list[list[str]]:
    """Return the moves including this step's: screen before, what was tried, screen after."""
    sight, known = context.screen.view, state["progress"]["moves"]
    actions = state["step"]["decision"]["actions"]
    kinds = {action["kind"] for action in actions}
    if sight is None or not actions or kinds == {"finish"}:
        return known
    before = after = screen_word(sight.observation)
    fresh = context.screen.fresh
    if fresh is not None:
        after = screen_word(fresh)
        least = SCROLLED_MEAN if kinds & context.actions.kinds_with("moves the screen") else MOVED_MEAN
        if after == before and moved(sight.observation, fresh, least=least):
            after = f"{before} moved at {state['order']['subtask']}.{state['step']['number']}"
    if kinds <= context.actions.kinds_with("waits"):
        tried = WAITING
    else:
        tried = "·".join(_tried(context.actions.action_from(action), sight) for action in actions)
    return [*known, [before, tried, after]][-WINDOW:]


def _tried(action: Action, view: ScreenView) -> str:
    """Identify an action and its target, whatever number its element has this time."""
    data = action.model_dump(mode="json", exclude={"target", "sensitive"})
    where = resolve_target(action, view)
    if where.element is not None:
        box = where.element.bounds
        data["on"] = [*looks(where.element), box.left, box.top]
    elif where.point is not None:
        data["at"] = [where.point.x // GRID, where.point.y // GRID]
    return hash_text(json.dumps(data, ensure_ascii=False, sort_keys=True))


def close_step(state: ExecutorState, context: RunContext, *more: StepState) -> ExecutorState:
    """Return the update that ends this step and begins the next one.

    The step's event is emitted at once, or stored in the update if its effect is not certain yet. `more` are keys of
    the step that the state does not have yet.
    """
    # After a restart, this may be the first node to run; it must not lose what an earlier process knew.
    context.mask.restore(state["safety"]["secret_places"])
    context.mask.let_read(state["safety"]["readable_apps"])
    step: StepState = {**state["step"]}
    for each in more:
        step |= each
    decision, cover = step["decision"], context.mask.text
    caption = _caption(context)
    usage = spent(state["progress"]) + context.memory.early.take_spent()
    if caption is not None:
        usage += caption.usage
    summary = decision["summary"] or ("" if caption is None else caption.text)
    performed = [context.mask.sentence(each) for each in performed_of(step) or [words("did.nothing")]]
    effects = context.mask.effects(effects_of(step["effects"]))
    past: PastData = {
        "number": step["number"],
        "app": step["app"],
        "frame": step["frame"],
        "performed": [kept(each) for each in performed],
        "effects": effects_data(effects),
        "status": status_of(step).value,
        "failure": step["failure"],
        "reply": cover(reply_text(reply_of(step))),
        "thought": cover(decision["thought"]),
        "memo": context.mask.cover_data(step["reply"].get("memo", {})),
        "model": step["reply"].get("model", ""),
        "picture_size": step["picture_size"],
    }
    if context.memory.recorded is not None:
        past["recorded_actions"] = step["recorded_actions"]
    touch = step["touch_point"]
    event = Step(
        run=context.run,
        subtask=state["order"]["subtask"],
        step=step["number"],
        max_steps=state["order"]["max_steps"],
        summary=phrase(cover(summary)) or cover(deed(performed)),
        thought=past["thought"],
        action=_told_action(step, context),
        effect=effects,
        app=step["app"],
        app_name=step["app_name"],
        frame=step["frame"],
        mark=(touch[0], touch[1]) if touch else None,
        usage=usage,
        seconds=time.monotonic() - context.screen.step_began,
        record=StepRecord(
            actions=tuple(RecordedAction.model_validate(each) for each in step["recorded_actions"]),
            followed=step["reply"].get("memo", {}).get("followed"),
            verdicts=tuple(PressVerdict.model_validate(each) for each in step["readings"] if each.get("key")),
        ),
    )
    return {
        "past": [*state["past"], past],
        "step": {**NO_STEP, "number": step["number"] + 1, "unreported": _report(context, event)},
        "question": NO_QUESTION,
        "safety": {"secret_places": context.mask.places, "readable_apps": context.mask.readable},
        "progress": {"usage": usage.data(), "moves": _moves(state, context)},
    }


def _told_action(step: StepState, context: RunContext) -> dict[str, Any]:
    """Return the step's first action as plain data, with what the independent reader said about its presses."""
    actions, readings = step["decision"]["actions"], step["readings"]
    told = context.mask.cover_data(actions[0]) if actions else {}
    return {**told, "readings": readings} if readings else told


def _caption(context: RunContext) -> ModelReply | None:
    """Return the caption if the background call has finished; it is not waited for any longer."""
    caption, context.memory.caption = context.memory.caption, None
    if caption is None:
        return None
    if caption.done():
        return caption.result()
    caption.cancel()
    return None


def _report(context: RunContext, step: Step) -> dict[str, Any] | None:
    """Report a step, or return it as data for the state if its effect is not certain yet."""
    early = context.screen.pending
    if early is None or early.key is None or (early.key.subtask, early.key.step) != (step.subtask, step.step):
        context.emit(step)
        return None
    return step.model_dump(mode="json")


def report_step(state: ExecutorState, context: RunContext, effects: tuple[Effect, ...] | None = None) -> None:
    """Emit the event of the last step if it was held back. `effects` replace those in it, if given. The caller clears
    it from the state with `REPORTED`.
    """
    held = state["step"]["unreported"]
    if held is not None:
        step = Step.model_validate(held)
        context.emit(step if effects is None else step.model_copy(update={"effect": effects}))


REPORTED: Final[ExecutorState] = {"step": {"unreported": None}}
"""The update that clears the event which `report_step` emits."""


async def confirm_step(state: ExecutorState, context: RunContext, early: EarlyObservation) -> ExecutorState:
    """Emit the held-back event of the last step after its early observation was confirmed, and return the update of the
    state. Its effect is determined again if the elements arrived after the picture.
    """
    if early.key is None or early.seen.complete or early.confirmed is None:
        report_step(state, context)
        return REPORTED
    return await _corrected(state, context, early, early.key, early.confirmed)


async def correct_step(state: ExecutorState, context: RunContext, settled: Observation) -> ExecutorState:
    """Emit the held-back event of the last step after its early observation was wrong, with its effect on the settled
    screen, and return the update of the state.
    """
    early = context.screen.take_pending()
    if early is None or early.key is None:
        report_step(state, context)
        return REPORTED
    return await _corrected(state, context, early, early.key, settled)


async def _corrected(
    state: ExecutorState, context: RunContext, early: EarlyObservation, key: ActionKey, settled: Observation
) -> ExecutorState:
    told = context.mask.to_tell
    covered = context.mask.covers_words(early.before)
    changed = difference(told(early.before), told(settled))
    settled_effects = context.mask.effects([*changed, *early.tail, *told_effects(settled.done, covered=covered)])
    await written(context)
    await context.journal.finish(key, "done", in_english(settled_effects))
    past = list(state["past"])
    if not past or past[-1]["number"] != key.step:
        report_step(state, context)
        return REPORTED
    known = effects_of(past[-1]["effects"])
    effects = (*known[: len(known) - len(early.effect)], *settled_effects)
    past[-1] = {**past[-1], "effects": effects_data(effects)}
    report_step(state, context, effects)
    moves = [list(move) for move in state["progress"]["moves"]]
    if moves:
        moves[-1][2] = screen_word(settled)
    return {**REPORTED, "past": past, "progress": {"moves": moves}}
