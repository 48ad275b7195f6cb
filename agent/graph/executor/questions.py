"""Builds the questions that people are asked: for actions that need a person, and some without an action, such as
unlocking the phone.

The question about a press names its object first, such as the recipient; the details say how it is pressed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.actions import AskUser, TakeOver
from agent.effect_facts import Appeared, effects_of
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.guards.amounts import amounts_in
from agent.guards.binding import ApprovalContext
from agent.guards.facts import Facts, facts_of
from agent.guards.gate import Gate
from agent.guards.recipients import Message
from agent.guards.rules import RULE_NAMES, RuleName
from agent.guards.secrets import place_of
from agent.guards.words import id_words, in_one_line
from agent.observing import ScreenView
from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, DONE, Question, QuestionKind
from agent.wording import sentence, shortened
from devices.phone import Element
from devices.wording import said

FIELD_LETTERS = 60
"""The maximum letters of a field's name in a question."""
CHOICES, CHOICE_LETTERS = 8, 60
"""The maximum entries, and letters of each, of a list on the screen from which a person chooses."""
SAID_MOST, SAID_LETTERS = 2, 80
"""The maximum lines, and letters of each, from a phone that asks for a code again."""
OBJECT_LETTERS: Final = 120
"""The maximum letters of an object in the question; the details have all of it."""
HEAD_LETTERS, TAIL_LETTERS, CUT_LETTERS, MOST_LETTERS = 70, 45, 24, 400
"""For a longer object: the letters kept of its head and tail, how close to a cut an amount is searched, and the maximum
length including the amounts in between.
"""
MAX_AMOUNTS: Final = 3
"""The maximum amounts in the question itself, taken from the end, where totals are."""


@dataclass(frozen=True, kw_only=True)
class PressToApprove:
    """A press that a person is asked to approve, with everything that they are shown about it."""

    what: str
    """The press in words."""
    gate: Gate
    """The decision of the gate, with the reason for asking."""
    sight: ScreenView
    """The screen that the person is shown."""
    near: ApprovalContext
    """The pressed control and the words around it."""
    control: Element | None
    """The pressed element; None if the press is on a bare point."""
    shown: Sequence[str]
    """Lines that say what would be sent."""
    typed: str | None
    """The text that the press itself types before it sends."""
    blind: bool
    """Whether it touches a spot without any words."""
    frame: str | None
    """The reference of the picture that the person is shown."""
    anew: bool
    """Whether the person approved it before but the screen then changed."""
    before: str | None
    """The reference of the picture that was shown with the earlier approval."""
    message: Message | None
    """The message that the press sends; None if it sends none. Further messages to its recipient can be approved for
    the whole task.
    """


def asking(question: Question, binding: dict[str, Any] | None = None) -> ExecutorState:
    """Return the update that asks a person this question. `binding` is the target that their answer will apply to, as
    data.
    """
    return {"question": {"pending": question.model_dump(mode="json"), "binding": binding}}


def question_to_person(state: ExecutorState, context: RunContext, action: AskUser | TakeOver) -> Question:
    """Return the question for an action that asks a person or hands the phone over to them. If an answer could be a
    secret and there are choices, only these are accepted.
    """
    match action:
        case AskUser():
            choices = action.choices or (_listed(context) if action.among_shown else ())
            text = action.question.strip() or sentence("ask.which" if choices else "ask.help")
            strict = bool(choices) and context.policy.asks_for_secret(text)
            return _question(state, context, QuestionKind.ASK, text, choices=choices, strict=strict)
        case TakeOver():
            text = action.reason.strip() or sentence("ask.hands")
            return _question(state, context, QuestionKind.TAKE_OVER, text, choices=(DONE,))


def _listed(context: RunContext) -> tuple[str, ...]:
    """Return the entries of the longest list on the screen, from top to bottom, for a person to choose from."""
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


def approval(state: ExecutorState, context: RunContext, press: PressToApprove) -> Question:
    """Return the question that asks to approve a press and names its object.

    The details contain what would be sent, the amounts, and the words of the dialog or row, as far as the screen shows
    them. A recipient whose name contains a secret cannot be approved for the whole task.
    """
    reason, facts = said(press.gate.reason), facts_of(press.sight.observation)
    app = _app(context, press.sight)
    lines = [sentence("ask.in_app", app=app, reason=reason) if app else sentence("ask.reason", reason=reason)]
    lines.append(sentence("ask.done_by", what=press.what))
    lines.extend(press.shown)
    lines.extend(_around(press.near, facts))
    lines.extend(facts.lines)
    if press.anew:
        lines.append(sentence("ask.anew"))
    message = press.message
    to = None if message is None else message.to
    if to is not None and context.mask.text(to.name) != to.name:
        to = None
    text = _press_question(press, facts, press.sight.observation.app_name or app or sentence("ask.front"))
    asked = _approval(state, context, text, lines, frame=press.frame, consequence=press.gate.consequence)
    choices = asked.choices if to is None else (*asked.choices, ALLOW_FOR_TASK)
    sends = "" if message is None else context.mask.text(message.text or "")
    return asked.model_copy(update={"choices": choices, "before": press.before, "to": to, "sends": sends})


def tool_approval(state: ExecutorState, context: RunContext, what: str, gate: Gate, shown: Sequence[str]) -> Question:
    """Return the question that asks to approve a tool call. `what` describes the call, `gate` has the reason, and
    `shown` are the lines with its arguments.
    """
    lines = [sentence("ask.reason", reason=said(gate.reason)), *shown]
    return _approval(state, context, sentence("ask.may", what=what), lines, consequence=gate.consequence)


def instead(
    state: ExecutorState, context: RunContext, what: str, view: ScreenView, near: ApprovalContext, frame: str | None
) -> Question:
    """Return the question that asks a person to do the action themselves, because the screen changes after each
    approval.
    """
    facts = facts_of(view.observation)
    detail = "\n".join(map(in_one_line, [*_around(near, facts), *facts.lines]))
    text = in_one_line(sentence("ask.instead", what=what))
    return _question(state, context, QuestionKind.TAKE_OVER, text, choices=(DONE,), detail=detail, frame=frame)


def secret(
    state: ExecutorState, context: RunContext, field: Element | None, view: ScreenView, words: str = ""
) -> Question:
    """Return the question that asks for a secret for this field. `words` are the model's own, which are only quoted."""
    app, name = _app(context, view) or sentence("ask.front"), field_name(field)
    again = field is not None and place_of(view.observation.package, field) in state["safety"]["secret_fields"]
    if again:
        text = sentence("ask.secret_again", app=app, field=name or sentence("ask.nameless"))
    else:
        text = sentence("ask.secret_field", app=app, field=name) if name else sentence("ask.secret", app=app)
    told_since = _told_since(state, view) if again else ""
    detail = "\n".join(line for line in (told_since, _quoted(words)) if line)
    asked = _question(state, context, QuestionKind.SECRET, in_one_line(text), detail=detail)
    return asked.model_copy(update={"again": again})


def secret_ahead(state: ExecutorState, context: RunContext, words: str) -> Question:
    """Return the question that asks for a secret before its field is on the screen. `words` are the model's own, which
    are only quoted.
    """
    return _question(state, context, QuestionKind.SECRET, sentence("ask.secret_ahead"), detail=_quoted(words))


def may_get_secret(
    state: ExecutorState, context: RunContext, field: Element | None, view: ScreenView, words: str, *, known: bool
) -> Question:
    """Return the question whether a secret may be typed into this field. `known` means that the field is known to be
    for secrets; `words` are the model's own, which are only quoted.
    """
    name = repr(field_name(field)) if field_name(field) else sentence("ask.nameless")
    what = sentence("do.enter_secret", field=name, app=_app(context, view) or sentence("ask.front"))
    lines = [line for line in ("" if known else sentence("ask.no_secret_field"), _quoted(words)) if line]
    return _approval(state, context, sentence("ask.may", what=what), lines, frame=view.frame)


def unlock(state: ExecutorState, context: RunContext, number: int, frame: str | None) -> Question:
    """Return the question that asks a person to unlock the phone. `number` makes the id unique, and `frame` refers to
    the picture.
    """
    text, tail = sentence("ask.locked"), f".lock{number}"
    return _question(state, context, QuestionKind.TAKE_OVER, text, choices=(DONE,), frame=frame, tail=tail)


def stuck(state: ExecutorState, context: RunContext, performed: Sequence[str], number: int, why: str) -> Question:
    """Return the question that asks a person how to continue after no progress. `performed` are the last actions,
    `number` makes the id unique, and `why` is the phone's own reason, "" if it gave none.
    """
    text = sentence("ask.stuck", did=" · ".join(map(said, performed)), goal=state["order"]["goal"])
    return _question(state, context, QuestionKind.ASK, text, detail=why, tail=f".stuck{number}")


def field_name(field: Element | None) -> str:
    """Return the app's name for a field, never its content; "" if it has none."""
    if field is None:
        return ""
    name = field.hint or field.description or ("" if field.editable else field.text)
    return " ".join((name or " ".join(id_words(field.resource_id))).split())[:FIELD_LETTERS]


def _approval(
    state: ExecutorState,
    context: RunContext,
    text: str,
    lines: list[str],
    *,
    frame: str | None = None,
    consequence: str = "",
) -> Question:
    text, detail = in_one_line(text), "\n".join(map(in_one_line, lines))
    asked = _question(state, context, QuestionKind.APPROVE, text, choices=(ALLOW, DENY), detail=detail, frame=frame)
    return asked.model_copy(update={"consequence": consequence})


def _question(
    state: ExecutorState,
    context: RunContext,
    kind: QuestionKind,
    text: str,
    *,
    choices: tuple[str, ...] = (),
    strict: bool = False,
    detail: str = "",
    frame: str | None = None,
    tail: str = "",
) -> Question:
    """Return a question of the run. Its id names the place in the run, so that it is the same after a restart, and
    counts earlier answered questions, because each asking is a question of its own.
    """
    order, step = state["order"], state["step"]
    number = state["question"]["answered_count"] + 1
    return Question(
        id=f"{order['run']}.{order['subtask']}.{step['number']}.{number}{tail}",
        run=context.run,
        kind=kind,
        text=context.mask.text(text),
        choices=choices,
        strict=strict,
        detail=context.mask.text(detail),
        frame=frame or step["frame"],
    )


def _press_question(press: PressToApprove, facts: Facts, app: str) -> str:
    """Return the question about a press. Recipient and object are in the window's own words: the text sent, the last
    amounts, the dialog, the row, the page. The press itself is named if there is no consequence and no object.
    """
    gate, near, control = press.gate, press.near, press.control
    if control is not None and control.label and near.kind == "dialog" and near.words:
        return _object_words("dialog", object=" ".join(near.words), control=control.label, app=app)
    if gate.consequence in RULE_NAMES:
        written = facts.fields[0][1] if len(facts.fields) == 1 and near.kind == "page" else ""
        written = written if press.typed is None else press.typed
        if gate.consequence == RuleName.SEND and written and near.title_word:
            return _object_words("send_to", text=written, whom=near.title_word, app=app)
        if gate.consequence == RuleName.SEND and written:
            return _object_words("send", text=written, app=app)
        if gate.consequence == RuleName.PAY and facts.amounts:
            return _object_words("pay", amount=" · ".join(_each_once(facts.amounts)[-MAX_AMOUNTS:]), app=app)
        if about := " · ".join(near.words) if near.kind == "row" else near.title_word or gate.object:
            return _object_words("object", verb=sentence(f"ask.verb.{gate.consequence}"), object=about, app=app)
    if press.blind:
        return _object_words("nameless_place", app=app)
    return sentence("ask.may", what=press.what)


def _around(context: ApprovalContext, facts: Facts) -> list[str]:
    """Return the words of the dialog or row, or next to the control, without repeating the facts of a page."""
    words = context.words if context.kind != "page" else [line for line in context.words if line not in facts.about]
    return [sentence(f"ask.{context.kind}", words=" · ".join(words))] if words else []


def _told_since(state: ExecutorState, view: ScreenView) -> str:
    """Return what the phone says now and did not say before the last secret was typed; "" if nothing new."""
    shown = {e.label for e in view.observation.elements or () if not (e.editable or e.clickable or e.password)}
    new: list[str] = []
    for step in reversed(state["past"]):
        facts = effects_of(step["effects"])
        new[:0] = [word for fact in facts if isinstance(fact, Appeared) for word in fact.words if word in shown]
        if step["number"] == state["safety"]["secret_step"]:
            break
    told = [shortened(word, SAID_LETTERS) for word in dict.fromkeys(new)]
    return in_one_line(sentence("ask.phone_says", words=" · ".join(told[:SAID_MOST]))) if told else ""


def _quoted(words: str) -> str:
    return in_one_line(sentence("ask.model_says", words=words)) if words else ""


def _app(context: RunContext, view: ScreenView) -> str:
    """Return the app's name with its package, because any app can use another's label."""
    seen = view.observation
    named = context.policy.app_name(seen.package)
    return f"{seen.app_name} ({seen.package})" if seen.app_name and named == seen.package else named


def _each_once(amounts: tuple[str, ...]) -> list[str]:
    """Return the amounts in the order of their last appearance, without those that only repeat another with more words,
    such as a caption with its sum.
    """
    last = list(dict.fromkeys(reversed(amounts)))[::-1]
    return [each for each in last if not any(set(other.split()) < set(each.split()) for other in last)]


def _object_words(kind: str, **values: str) -> str:
    return sentence(f"ask.object_{kind}", **{name: _short(value) for name, value in values.items()})


def _short(words: str) -> str:
    """Return the words as one line. A long text is cut in the middle, because its end often names the sum and the
    recipient; amounts in the omitted part are kept.
    """
    line = in_one_line(" ".join(words.split()))
    if len(line) <= OBJECT_LETTERS:
        return line
    head, tail = line[:HEAD_LETTERS], line[-TAIL_LETTERS:]
    # Start a little before the cut: an amount may begin on one side and end on the other.
    around = line[HEAD_LETTERS - CUT_LETTERS : len(line) - TAIL_LETTERS + CUT_LETTERS]
    amounts = _each_once(tuple(each for each in amounts_in(around) if each not in head and each not in tail))
    return shortened(" … ".join((head, *amounts, tail)), MOST_LETTERS)
