"""Turns actions that need a person into questions, and asks what no action has asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from agent.actions import AskUser, TakeOver
from agent.effect_facts import Appeared, effects_of
from agent.graph.executor.approval_words import question_of
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.guards.binding import Around
from agent.guards.facts import Facts, facts_of
from agent.guards.gate import Gate
from agent.guards.sanitise import in_one_line
from agent.guards.typed import place_of
from agent.guards.words import id_words
from agent.observing import ScreenView
from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, DONE, Question, QuestionKind
from agent.standing_yes import Recipient
from agent.wording import sentence, shortened
from devices.phone import Element
from devices.wording import said

FIELD_LETTERS = 60
"""Of the name of a field in a question."""
CHOICES, CHOICE_LETTERS = 8, 60
"""Of a list on the screen that a person chooses from."""
SAID_MOST, SAID_LETTERS = 2, 80
"""Of what a phone says of a code that it wants once more."""


def question(state: ExecutorState, context: RunContext, action: AskUser | TakeOver) -> dict[str, Any]:
    """The question of an action that is one. Where an answer could be a secret, only the choices are answers."""
    match action:
        case AskUser():
            choices = action.choices or (_listed(context) if action.among_shown else ())
            text = action.question.strip() or sentence("ask.which" if choices else "ask.help")
            strict = bool(choices) and context.policy.asks_for_secret(text)
            return _data(state, context, QuestionKind.ASK, text, choices, strict=strict)
        case TakeOver():
            text = action.reason.strip() or sentence("ask.hands")
            return _data(state, context, QuestionKind.TAKE_OVER, text, choices=(DONE,))


def _listed(context: RunContext) -> tuple[str, ...]:
    """What the longest list on the screen holds, from top to bottom: a person is asked which of it is meant."""
    sight = context.screen.view
    around = () if sight is None or sight.screen.secure else sight.observation.elements or ()
    lists = defaultdict(list)
    for each in around:
        if each.clickable and not each.editable:
            lists[each.class_name, each.bounds.left, each.bounds.right].append(each.bounds)
    rows = max(lists.values(), key=len, default=[])[:CHOICES]
    said = (next((e.label for e in around if e.label and row.holds(e.bounds.centre)), "") for row in rows)
    names = [in_one_line(shortened(" ".join(context.mask.text(each).split()), CHOICE_LETTERS)) for each in said]
    known = tuple(dict.fromkeys(filter(None, names)))
    return known if len(known) > 1 else ()


def approval(
    state: ExecutorState,
    context: RunContext,
    what: str,
    gate: Gate,
    shown: Sequence[str],
    sight: ScreenView,
    frame: str | None,
    *,
    near: Around,
    control: Element | None,
    typed: str | None = None,
    blind: bool = False,
    anew: bool = False,
    before: str | None = None,
    to: Recipient | None = None,
) -> dict[str, Any]:
    """May this be done (`what`), to what it is about? With what would go out (`shown`), the amounts, and what the
    dialog or row says (`near`), as far as the screen tells. `blind`: it touches a place that has no name. `anew`: it
    was allowed before, and the screen was another one then; `before` is the picture that was allowed. `to`: it is a
    message to them, which can be allowed for the task, unless the name is a secret here.
    """
    reason = said(gate.reason)
    facts = facts_of(sight.observation)
    app = _app(context, sight)
    short = sight.observation.app_name or app or sentence("ask.front")
    text = question_of(gate, near, facts, control, short, what, typed=typed, blind=blind)
    lines = [sentence("ask.in_app", app=app, reason=reason) if app else sentence("ask.reason", reason=reason)]
    lines.append(sentence("ask.done_by", what=what))
    lines.extend(shown)
    lines.extend(_said(near, facts))
    lines.extend(facts.lines)
    if anew:
        lines.append(sentence("ask.anew"))
    if to is not None and context.mask.text(to.name) != to.name:
        to = None
    return _approval(state, context, text, lines, frame, gate.consequence, before=before, to=to)


def tool_approval(
    state: ExecutorState, context: RunContext, what: str, gate: Gate, shown: Sequence[str]
) -> dict[str, Any]:
    """A person is asked to allow a tool its work, with exactly what is shown."""
    lines = [sentence("ask.reason", reason=said(gate.reason)), *shown]
    return _approval(state, context, sentence("ask.may", what=what), lines, None, gate.consequence)


def instead(
    state: ExecutorState, context: RunContext, what: str, sight: ScreenView, near: Around, frame: str | None
) -> dict[str, Any]:
    """A person does it on the phone: what they allow is never what is there when it is done."""
    facts = facts_of(sight.observation)
    detail = "\n".join(map(in_one_line, [*_said(near, facts), *facts.lines]))
    text = in_one_line(sentence("ask.instead", what=what))
    return _data(state, context, QuestionKind.TAKE_OVER, text, (DONE,), detail, frame=frame)


def _said(near: Around, facts: Facts) -> list[str]:
    """The words of the dialog or row, or those next to the control; what the facts tell of a page is not said twice."""
    words = near.words if near.kind != "page" else [line for line in near.words if line not in facts.about]
    return [sentence(f"ask.{near.kind}", words=" · ".join(words))] if words else []


def _approval(
    state: ExecutorState,
    context: RunContext,
    text: str,
    lines: list[str],
    frame: str | None,
    consequence: str = "",
    *,
    before: str | None = None,
    to: Recipient | None = None,
) -> dict[str, Any]:
    text, detail = in_one_line(text), "\n".join(map(in_one_line, lines))
    choices = (ALLOW, DENY) if to is None else (ALLOW, DENY, ALLOW_FOR_TASK)
    return _data(
        state,
        context,
        QuestionKind.APPROVE,
        text,
        choices,
        detail,
        frame=frame,
        consequence=consequence,
        before=before,
        to=to,
    )


def secret(
    state: ExecutorState, context: RunContext, field: Element | None, sight: ScreenView, words: str = ""
) -> dict[str, Any]:
    """A person gives what goes into this field. `words` are what the model said of it: they are only quoted."""
    app, name = _app(context, sight) or sentence("ask.front"), field_name(field)
    again = field is not None and place_of(sight.observation.package, field) in state.get("entered", [])
    if again:
        text = sentence("ask.secret_again", app=app, field=name or sentence("ask.nameless"))
    else:
        text = sentence("ask.secret_field", app=app, field=name) if name else sentence("ask.secret", app=app)
    said_since = _said_since(state, sight) if again else ""
    detail = "\n".join(line for line in (said_since, _quoted(words)) if line)
    return _data(state, context, QuestionKind.SECRET, in_one_line(text), detail=detail, again=again)


def _said_since(state: ExecutorState, sight: ScreenView) -> str:
    """What the phone says now and did not say before the last secret was typed; "" when nothing new is to be read."""
    shown = {e.label for e in sight.observation.elements or () if not (e.editable or e.clickable or e.password)}
    new: list[str] = []
    for step in reversed(state["past"]):
        facts = effects_of(step["effect"])
        new[:0] = [word for fact in facts if isinstance(fact, Appeared) for word in fact.words if word in shown]
        if step["number"] == state.get("entered_at"):
            break
    told = [shortened(word, SAID_LETTERS) for word in dict.fromkeys(new)]
    return in_one_line(sentence("ask.phone_says", words=" · ".join(told[:SAID_MOST]))) if told else ""


def secret_ahead(state: ExecutorState, context: RunContext, words: str) -> dict[str, Any]:
    """A person gives a secret before there is a field that it could go into."""
    return _data(state, context, QuestionKind.SECRET, sentence("ask.secret_ahead"), detail=_quoted(words))


def may_get_secret(
    state: ExecutorState, context: RunContext, field: Element | None, sight: ScreenView, words: str, *, known: bool
) -> dict[str, Any]:
    """May a secret go into this field? `known` says that it is one for secrets."""
    name = repr(field_name(field)) if field_name(field) else sentence("ask.nameless")
    what = sentence("do.enter_secret", field=name, app=_app(context, sight) or sentence("ask.front"))
    lines = [line for line in ("" if known else sentence("ask.no_secret_field"), _quoted(words)) if line]
    return _approval(state, context, sentence("ask.may", what=what), lines, sight.frame)


def field_name(field: Element | None) -> str:
    """What the app calls a field, never what stands in it; "" when it has no name."""
    if field is None:
        return ""
    name = field.hint or field.description or ("" if field.editable else field.text)
    return " ".join((name or " ".join(id_words(field.resource_id))).split())[:FIELD_LETTERS]


def _quoted(words: str) -> str:
    return in_one_line(sentence("ask.model_says", words=words)) if words else ""


def _app(context: RunContext, sight: ScreenView) -> str:
    """What the app is called, with its package: any app can have the label of another."""
    seen = sight.observation
    named = context.policy.app_name(seen.package)
    return f"{seen.app_name} ({seen.package})" if seen.app_name and named == seen.package else named


def unlock(state: ExecutorState, context: RunContext, number: int, frame: str | None) -> dict[str, Any]:
    """A person unlocks the phone."""
    return _data(
        state, context, QuestionKind.TAKE_OVER, sentence("ask.locked"), (DONE,), tail=f".lock{number}", frame=frame
    )


def stuck(state: ExecutorState, context: RunContext, did: Sequence[str], number: int) -> dict[str, Any]:
    """A person says how to go on."""
    text = sentence("ask.stuck", did=" · ".join(map(said, did)), goal=state["goal"])
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
    strict: bool = False,
    consequence: str = "",
    again: bool = False,
    before: str | None = None,
    to: Recipient | None = None,
) -> dict[str, Any]:
    """Plain data for the state. The id names the place in the run, so that it is the same after a restart, and counts
    the questions that were answered before: each asking is a question of its own.
    """
    asked = Question(
        id=f"{state['run']}.{state['subtask']}.{state['step']}.{state.get('askings', 0) + 1}{tail}",
        run=context.run,
        kind=kind,
        text=context.mask.text(text),
        choices=choices,
        strict=strict,
        consequence=consequence,
        again=again,
        to=to,
        detail=context.mask.text(detail),
        frame=frame or state["frame"],
        before=before,
    )
    return asked.model_dump(mode="json")
