"""The moves of a run, as the guard against loops sees them."""

from __future__ import annotations

import json

from agent.actions import Action, action_from
from agent.effects import hash_text
from agent.graph.executor.anchors import looks
from agent.graph.executor.context import RunContext
from agent.graph.executor.hands import aim
from agent.graph.executor.state import ExecutorState
from agent.guards.screens import MOVED_MEAN, SCROLLED_MEAN, moved, screen_word
from agent.guards.stuck import WAITING, WINDOW
from agent.observing import Sight

GRID = 40
"""Pixels of the sent picture: touches this close to each other are the same touch, tried again."""
_WAITS = {"wait", "wait_for"}
_SCROLLS = {"scroll", "swipe", "drag"}


def history_of(state: ExecutorState, context: RunContext) -> list[list[str]]:
    """The history with this step: screen before, what was tried, screen after."""
    sight = context.live.sight
    actions = state["decision"]["actions"]
    kinds = {action["kind"] for action in actions}
    if sight is None or not actions or kinds == {"finish"}:
        return state["history"]
    before = after = screen_word(sight.observation)
    if context.live.fresh is not None:
        fresh = context.mask.observation(context.live.fresh)
        after = screen_word(fresh)
        least = SCROLLED_MEAN if kinds & _SCROLLS else MOVED_MEAN
        if after == before and moved(sight.observation, fresh, least=least):
            after = f"{before} moved at {state['subtask']}.{state['step']}"
    tried = WAITING if kinds <= _WAITS else "·".join(_tried(action_from(action), sight) for action in actions)
    return [*state["history"], [before, tried, after]][-WINDOW:]


def _tried(action: Action, sight: Sight) -> str:
    """What the action is and goes to, whatever number its element has this time."""
    data = action.model_dump(mode="json", exclude={"target", "sensitive"})
    where = aim(action, sight)
    if where.element is not None:
        box = where.element.bounds
        data["on"] = [*looks(where.element), box.left, box.top]
    elif where.point is not None:
        data["at"] = [where.point.x // GRID, where.point.y // GRID]
    return hash_text(json.dumps(data, ensure_ascii=False, sort_keys=True))
