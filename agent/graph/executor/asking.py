"""Turns actions that need a person into questions, and asks what no action has asked for."""

from __future__ import annotations

from typing import Any

from agent.actions import Action, AskUser, EnterSecret, OpenUrl, SendFile, TakeOver, Type
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.guards.facts import facts_of
from agent.guards.reasons import reason_words
from agent.guards.showing import in_one_line
from agent.observing import Sight
from agent.questions import ALLOW, DENY, DONE, Question, QuestionKind
from agent.wording import done_words, sentence


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
    state: ExecutorState,
    context: RunContext,
    action: Action,
    what: str,
    reason: str,
    sight: Sight,
    frame: str | None,
) -> dict[str, Any]:
    """May this be done? With the exact text or amount, as far as the screen tells."""
    reason = reason_words(reason)
    if isinstance(action, SendFile):
        lines = [sentence("ask.reason", reason=reason), sentence("ask.file", path=action.path)]
        return _approval(state, context, what, lines, frame)
    facts = facts_of(sight.observation)
    app = _app(context, sight)
    lines = [sentence("ask.in_app", app=app, reason=reason) if app else sentence("ask.reason", reason=reason)]
    if isinstance(action, Type):
        lines.append(sentence("ask.text", text=action.text))
    elif isinstance(action, OpenUrl):
        lines.append(sentence("ask.address", url=action.url))
    lines.extend(facts.lines)
    return _approval(state, context, what, lines, frame)


def _approval(
    state: ExecutorState, context: RunContext, what: str, lines: list[str], frame: str | None
) -> dict[str, Any]:
    text, detail = in_one_line(sentence("ask.may", what=what)), "\n".join(map(in_one_line, lines))
    return _data(state, context, QuestionKind.APPROVE, text, (ALLOW, DENY), detail, frame=frame)


def secret_instead(state: ExecutorState, context: RunContext, field: str, sight: Sight) -> dict[str, Any]:
    """A person types what the model would have typed into a field for a secret."""
    app = _app(context, sight) or sentence("ask.front")
    text = sentence("ask.secret_field", app=app, field=field) if field else sentence("ask.secret", app=app)
    return _data(state, context, QuestionKind.SECRET, text)


def _app(context: RunContext, sight: Sight) -> str:
    """What the app is called, with its package: any app can have the label of another."""
    seen = sight.observation
    named = context.policy.app_name(seen.package)
    return f"{seen.app_name} ({seen.package})" if seen.app_name and named == seen.package else named


def unlock(state: ExecutorState, context: RunContext, number: int, frame: str | None) -> dict[str, Any]:
    """A person unlocks the phone."""
    return _data(
        state, context, QuestionKind.TAKE_OVER, sentence("ask.locked"), (DONE,), tail=f".lock{number}", frame=frame
    )


def stuck(state: ExecutorState, context: RunContext, did: str, number: int) -> dict[str, Any]:
    """A person says how to go on."""
    done = " · ".join(map(done_words, did.split(" · ")))
    text = sentence("ask.stuck", did=done, goal=state["goal"])
    return _data(state, context, QuestionKind.ASK, text, tail=f".stuck{number}")


def _data(
    state: ExecutorState,
    context: RunContext,
    kind: QuestionKind,
    text: str,
    choices: tuple[str, ...] = (),
    detail: str = "",
    *,
    tail: str = "",
    frame: str | None = None,
) -> dict[str, Any]:
    """Plain data for the state. The id names the place in the run, so that it is the same after a restart."""
    asked = Question(
        id=f"{state['run']}.{state['subtask']}.{state['step']}{tail}",
        run=state["run"],
        kind=kind,
        text=context.mask.text(text),
        choices=choices,
        detail=context.mask.text(detail),
        frame=frame or state["frame"],
    )
    return asked.model_dump(mode="json")
