"""Turns actions that need a person into questions."""

from __future__ import annotations

from typing import Any

from agent.actions import Action, AskUser, EnterSecret, TakeOver, Type
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.observing import Sight
from agent.questions import ALLOW, DENY, DONE, Question, QuestionKind


def question(state: ExecutorState, context: RunContext, action: AskUser | TakeOver | EnterSecret) -> dict[str, Any]:
    """The question of an action that is one."""
    match action:
        case AskUser():
            return _data(state, context, QuestionKind.ASK, action.question, choices=action.choices)
        case TakeOver():
            return _data(state, context, QuestionKind.TAKE_OVER, action.reason, choices=(DONE,))
        case EnterSecret():
            return _data(state, context, QuestionKind.SECRET, action.question)


def approval(
    state: ExecutorState, context: RunContext, action: Action, what: str, reason: str, sight: Sight
) -> dict[str, Any]:
    """May this be done? With the exact text or amount, as far as the screen tells."""
    app = sight.observation.package
    lines = [f"In {app}: this {reason}." if app else f"This {reason}."]
    if isinstance(action, Type):
        lines.append(f"Text: {action.text}")
    else:
        filled = [e.text for e in sight.observation.elements or () if e.editable and e.text and not e.password]
        lines.extend(f"Text on the screen: {text}" for text in filled)
    return _data(state, context, QuestionKind.APPROVE, f"May I {what}?", (ALLOW, DENY), "\n".join(lines))


def _data(
    state: ExecutorState,
    context: RunContext,
    kind: QuestionKind,
    text: str,
    choices: tuple[str, ...] = (),
    detail: str = "",
) -> dict[str, Any]:
    """Plain data for the state. The id names the place in the run, so that it is the same after a restart."""
    asked = Question(
        id=f"{state['run']}.{state['subtask']}.{state['step']}",
        run=state["run"],
        kind=kind,
        text=context.mask.text(text),
        choices=choices,
        detail=context.mask.text(detail),
        frame=state["frame"],
    )
    return asked.model_dump(mode="json")
