"""What a person is asked to allow, in words that name the object first; how it is pressed stands in the details."""

from __future__ import annotations

from typing import Final

from agent.guards.amounts import amounts_in
from agent.guards.binding import Around
from agent.guards.facts import Facts
from agent.guards.gate import Gate
from agent.guards.rules import RULE_NAMES, RuleName
from agent.guards.sanitise import in_one_line
from agent.wording import sentence, shortened
from devices.phone import Element

MAX_LETTERS: Final = 120
"""Of an object in the question itself; the details have all of it."""
HEAD_LETTERS, TAIL_LETTERS, CUT_LETTERS, MOST_LETTERS = 70, 45, 24, 400
"""Of a longer object: what is kept of its beginning and of its end, how near to a cut an amount is looked for, and the
most with the amounts between them.
"""
MAX_AMOUNTS: Final = 3
"""In the question itself: totals stand below."""


def question_of(
    gate: Gate,
    near: Around,
    facts: Facts,
    control: Element | None,
    app: str,
    what: str,
    *,
    typed: str | None,
    blind: bool,
) -> str:
    """The question about a press. `what` is the press in words, for what has neither consequence nor object, unless it
    is a touch of a place that has no name (`blind`). `typed` is what the press itself types before it sends.

    Whom and what it names are the window's own words: what is sent, the last amounts, the dialog, the row, the page.
    """
    if control is not None and control.label and near.kind == "dialog" and near.words:
        return _said("dialog", object=" ".join(near.words), control=control.label, app=app)
    if gate.consequence in RULE_NAMES:
        written = facts.fields[0][1] if len(facts.fields) == 1 and near.kind == "page" else ""
        written = written if typed is None else typed
        if gate.consequence == RuleName.SEND and written and near.title_word:
            return _said("send_to", text=written, whom=near.title_word, app=app)
        if gate.consequence == RuleName.SEND and written:
            return _said("send", text=written, app=app)
        if gate.consequence == RuleName.PAY and facts.amounts:
            return _said("pay", amount=" · ".join(_each_once(facts.amounts)[-MAX_AMOUNTS:]), app=app)
        if about := " · ".join(near.words) if near.kind == "row" else near.title_word or gate.object:
            return _said("object", verb=sentence(f"ask.verb.{gate.consequence}"), object=about, app=app)
    if blind:
        return _said("nameless_place", app=app)
    return sentence("ask.may", what=what)


def _each_once(amounts: tuple[str, ...]) -> list[str]:
    """The amounts in the order in which they are shown last, without those that only repeat another one in more words,
    such as a caption with its sum.
    """
    last = list(dict.fromkeys(reversed(amounts)))[::-1]
    return [each for each in last if not any(set(other.split()) < set(each.split()) for other in last)]


def _said(kind: str, **values: str) -> str:
    return sentence(f"ask.object_{kind}", **{name: _short(value) for name, value in values.items()})


def _short(words: str) -> str:
    """The words as one line. What is too long is cut in the middle: an end often names the sum and who gets it. The
    amounts of what is left out stay.
    """
    line = in_one_line(" ".join(words.split()))
    if len(line) <= MAX_LETTERS:
        return line
    head, tail = line[:HEAD_LETTERS], line[-TAIL_LETTERS:]
    # From a little before the cut: an amount may begin on one side and end on the other.
    around = line[HEAD_LETTERS - CUT_LETTERS : len(line) - TAIL_LETTERS + CUT_LETTERS]
    amounts = _each_once(tuple(each for each in amounts_in(around) if each not in head and each not in tail))
    return shortened(" … ".join((head, *amounts, tail)), MOST_LETTERS)
