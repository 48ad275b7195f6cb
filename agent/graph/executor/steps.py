"""Closes a step: the line for the history, the event for the card, and the number of the next."""

from __future__ import annotations

import time
from typing import Any

from agent.events import Step
from agent.graph.executor.context import RunContext
from agent.graph.executor.early import hold
from agent.graph.executor.moving import history_of
from agent.graph.executor.replies import reply_of, reply_text
from agent.graph.executor.state import ExecutorState, PastData, usage_data, usage_of
from agent.models.base import ModelReply, Usage
from agent.wording import done_words

CAPTION_WORDS = 10
CAPTION_LETTERS = 80


def close_step(
    state: ExecutorState, context: RunContext, *, did: list[str], effect: list[str], told: list[str]
) -> dict[str, Any]:
    """The update that ends this step and begins the next; the step is told to the outside, at once or soon (`hold`)."""
    decision = state["decision"]
    caption = _caption(context)
    usage = usage_of(state) + (Usage() if caption is None else caption.usage)
    said = decision["summary"] or ("" if caption is None else caption.text)
    done = context.mask.text(" · ".join(did) or "nothing")
    came = context.mask.text("; ".join(effect))
    past: PastData = {
        "number": state["step"],
        "reply": context.mask.text(reply_text(reply_of(state))),
        "thought": context.mask.text(decision["thought"]),
        "did": done,
        "effect": came,
        "app": state["app"],
        "frame": state["frame"],
    }
    mark = state.get("mark")
    step = Step(
        run=state["run"],
        subtask=state["subtask"],
        step=state["step"],
        max_steps=state["max_steps"],
        summary=_summary(context, said or decision["thought"], did),
        thought=context.mask.text(decision["thought"]),
        action=context.mask.told(decision["actions"][0]) if decision["actions"] else {},
        effect=came,
        app=state["app"],
        app_name=state.get("app_name", ""),
        frame=state["frame"],
        mark=(mark[0], mark[1]) if mark else None,
        usage=usage,
        seconds=time.monotonic() - context.live.step_began,
    )
    return {
        "past": [*state["past"], past],
        "step": state["step"] + 1,
        "usage": usage_data(usage),
        "told": told,
        "did": [],
        "effect": [],
        "mark": None,
        "question": None,
        "approved": None,
        "anchor": None,
        "secret": None,
        "untold": hold(context, step),
        "history": history_of(state, context),
        "covered": context.mask.places,
    }


def _caption(context: RunContext) -> ModelReply | None:
    """What a background call has found by now; it is waited for no longer."""
    caption, context.live.caption = context.live.caption, None
    if caption is None:
        return None
    if caption.done():
        return caption.result()
    caption.cancel()
    return None


def _summary(context: RunContext, said: str, did: list[str]) -> str:
    """What was said of the step, else what was done; short enough for a card."""
    text = said or " · ".join(map(done_words, did or ["nothing"]))
    words = " ".join(text.split()).split(" ")
    short = " ".join(words[:CAPTION_WORDS])
    return context.mask.text(short[:CAPTION_LETTERS])
