"""Closes a step: the line for the history, the move for the guard against loops, the event for the card, and the
number of the next; and tells the step to the outside once it is known for sure what it changed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from agent.actions import Action
from agent.captions import deed, phrase
from agent.effect_facts import Effect, effects_data, effects_of, in_english
from agent.effects import difference, hash_text, told_effects
from agent.events import Step
from agent.graph.executor.acting import written
from agent.graph.executor.anchors import looks
from agent.graph.executor.context import RunContext
from agent.graph.executor.speculative import EarlyLook
from agent.graph.executor.state import ExecutorState, PastData, fate_of, reply_of, reply_text, spent, usage_data
from agent.graph.executor.targets import resolve_target
from agent.guards.loop_detection import WAITING, WINDOW
from agent.guards.screen_identity import MOVED_MEAN, SCROLLED_MEAN, moved, screen_word
from agent.models.base import ModelReply, Usage
from agent.observing import ScreenView
from agent.recorded_skills.step_record import PressVerdict, RecordedAction, StepRecord
from agent.scene import StepFate
from agent.wording import kept, words
from devices.phone import Observation

GRID = 40
"""Pixels of the sent picture: touches this close to each other are the same touch, tried again."""


def history_of(state: ExecutorState, context: RunContext) -> list[list[str]]:
    """The history with this step: screen before, what was tried, screen after."""
    sight = context.screen.view
    actions = state["decision"]["actions"]
    kinds = {action["kind"] for action in actions}
    if sight is None or not actions or kinds == {"finish"}:
        return state["history"]
    before = after = screen_word(sight.observation)
    fresh = context.screen.fresh
    if fresh is not None:
        after = screen_word(fresh)
        least = SCROLLED_MEAN if kinds & context.actions.kinds_with("moves the screen") else MOVED_MEAN
        if after == before and moved(sight.observation, fresh, least=least):
            after = f"{before} moved at {state['subtask']}.{state['step']}"
    if kinds <= context.actions.kinds_with("waits"):
        tried = WAITING
    else:
        tried = "·".join(_tried(context.actions.action_from(action), sight) for action in actions)
    return [*state["history"], [before, tried, after]][-WINDOW:]


def _tried(action: Action, sight: ScreenView) -> str:
    """What the action is and goes to, whatever number its element has this time."""
    data = action.model_dump(mode="json", exclude={"target", "sensitive"})
    where = resolve_target(action, sight)
    if where.element is not None:
        box = where.element.bounds
        data["on"] = [*looks(where.element), box.left, box.top]
    elif where.point is not None:
        data["at"] = [where.point.x // GRID, where.point.y // GRID]
    return hash_text(json.dumps(data, ensure_ascii=False, sort_keys=True))


def close_step(
    state: ExecutorState,
    context: RunContext,
    *,
    did: Sequence[str],
    effect: Sequence[Effect],
    told: list[str],
    fate: StepFate | None = None,
) -> dict[str, Any]:
    """The update that ends this step and begins the next; the step is told to the outside, at once or soon (`hold`).

    `fate` is what became of it where the state does not have that yet.
    """
    # After a restart this may be the first node that runs, and must not forget what an earlier process knew.
    context.mask.restore(state.get("covered", []))
    context.mask.let_read(state.get("readable", []))
    decision = state["decision"]
    caption = _caption(context)
    usage = spent(state) + (Usage() if caption is None else caption.usage) + context.live.early.take_spent()
    told_as = decision["summary"] or ("" if caption is None else caption.text)
    done = [context.mask.sentence(each) for each in did or [words("did.nothing")]]
    came = context.mask.effects(effect)
    past: PastData = {
        "number": state["step"],
        "reply": context.mask.text(reply_text(reply_of(state))),
        "thought": context.mask.text(decision["thought"]),
        "did": [kept(each) for each in done],
        "effect": effects_data(came),
        "app": state["app"],
        "frame": state["frame"],
        "fate": (fate or fate_of(state)).value,
        "not_done": state.get("not_done"),
        "memo": context.mask.told(state["reply"].get("memo", {})),
    }
    if context.live.recorded is not None:
        past["touched"] = state.get("touched", [])
    mark = state.get("mark")
    step = Step(
        run=context.run,
        subtask=state["subtask"],
        step=state["step"],
        max_steps=state["max_steps"],
        summary=phrase(context.mask.text(told_as)) or context.mask.text(deed(done)),
        thought=context.mask.text(decision["thought"]),
        action=_told_action(state, context),
        effect=came,
        app=state["app"],
        app_name=state.get("app_name", ""),
        frame=state["frame"],
        mark=(mark[0], mark[1]) if mark else None,
        usage=usage,
        seconds=time.monotonic() - context.screen.step_began,
        record=StepRecord(
            actions=tuple(RecordedAction.model_validate(each) for each in state.get("touched", [])),
            followed=state["reply"].get("memo", {}).get("followed"),
            verdicts=tuple(
                PressVerdict(key=each["key"], consequence=each["consequence"], object=each["object"])
                for each in state.get("readings", [])
                if each.get("key")
            ),
        ),
    )
    return {
        "past": [*state["past"], past],
        "step": state["step"] + 1,
        "usage": usage_data(usage),
        "told": told,
        "did": [],
        "fate": None,
        "effect": [],
        "mark": None,
        "touched": [],
        "question": None,
        "approved": None,
        "passed": None,
        "anchor": None,
        "secret": None,
        "readings": [],
        "untold": hold(context, step),
        "history": history_of(state, context),
        "covered": context.mask.places,
        "readable": context.mask.readable,
    }


def _told_action(state: ExecutorState, context: RunContext) -> dict[str, Any]:
    """The first action of the step as plain data, with what the independent reader said of the step's presses."""
    actions, readings = state["decision"]["actions"], state.get("readings", [])
    told = context.mask.told(actions[0]) if actions else {}
    return {**told, "readings": readings} if readings else told


def _caption(context: RunContext) -> ModelReply | None:
    """What a background call has found by now; it is waited for no longer."""
    caption, context.live.caption = context.live.caption, None
    if caption is None:
        return None
    if caption.done():
        return caption.result()
    caption.cancel()
    return None


def hold(context: RunContext, step: Step) -> dict[str, Any] | None:
    """Tell a step to the outside, unless what it changed is not known for sure yet: then it is data for the state."""
    early = context.screen.pending
    if early is None or (early.key.subtask, early.key.step) != (step.subtask, step.step):
        context.emit(step)
        return None
    return step.model_dump(mode="json")


def tell(state: ExecutorState, context: RunContext, effect: tuple[Effect, ...] | None = None) -> None:
    """Tell the step that was held, with this effect if it is another than was thought. The caller clears `untold`."""
    held = state.get("untold")
    if held is not None:
        step = Step.model_validate(held)
        context.emit(step if effect is None else step.model_copy(update={"effect": effect}))


async def confirm_step(state: ExecutorState, context: RunContext, early: EarlyLook) -> dict[str, Any]:
    """The update that goes with an early look that was right; tells the step. What it changed is said again if its
    elements came after the picture.
    """
    if early.seen.complete or early.confirmed is None:
        tell(state, context)
        return {"untold": None}
    return await _corrected(state, context, early, early.confirmed)


async def correct_step(state: ExecutorState, context: RunContext, settled: Observation) -> dict[str, Any]:
    """The update that makes the last step say what its action changed when all had come to rest; tells the step."""
    early = context.screen.take_pending()
    if early is None:
        tell(state, context)
        return {"untold": None}
    return await _corrected(state, context, early, settled)


async def _corrected(
    state: ExecutorState, context: RunContext, early: EarlyLook, settled: Observation
) -> dict[str, Any]:
    told = context.mask.to_tell
    covered = context.mask.covers_words(early.before)
    changed = difference(told(early.before), told(settled))
    settled_effect = context.mask.effects([*changed, *early.tail, *told_effects(settled.done, covered=covered)])
    await written(context)
    await context.journal.finish(early.key, "done", in_english(settled_effect))
    past = list(state["past"])
    if not past or past[-1]["number"] != early.key.step:
        tell(state, context)
        return {"untold": None}
    known = effects_of(past[-1]["effect"])
    effect = (*known[: len(known) - len(early.effect)], *settled_effect)
    past[-1] = {**past[-1], "effect": effects_data(effect)}
    tell(state, context, effect)
    history = [list(move) for move in state["history"]]
    if history:
        history[-1][2] = screen_word(settled)
    return {"untold": None, "past": past, "history": history}
