"""Read: the screen, a row, or the value beside a label, as text."""

from __future__ import annotations

import re

from agent.models.offline.clauses import Read
from agent.models.offline.matching import folded
from agent.models.offline.moves import Done, Move
from agent.models.offline.page import Several
from agent.models.offline.strategies.looking import look_further
from agent.models.offline.view import View

_MONEY = re.compile(r"(?:[$€£¥₹]|USD|EUR|RMB|CNY)\s?\d[\d.,]*|\d[\d.,]*\s?(?:[$€£¥₹元]|USD|EUR)")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?")
_KINDS = (
    (frozenset({"price", "cost", "amount", "价格", "金额", "多少钱"}), _MONEY),
    (frozenset({"time", "current time", "时间"}), _TIME),
)


def read_next(clause: Read, view: View) -> Move:
    """What was asked for, word by word from the screen; nothing is guessed."""
    page = view.page
    if clause.nth:
        position = clause.nth - 1 if clause.nth > 0 else clause.nth
        if not -len(page.rows) <= position < len(page.rows):
            return view.stuck("no_list", number=str(clause.nth))
        return Done("\n".join(each.text for each in page.rows[position].labels), wanted=True)
    if not clause.what:
        text = page.text()
        return Done(text, wanted=True) if text else view.stuck("nothing_to_read")
    label = page.find(clause.what, such=lambda each: each.role != "field")
    if isinstance(label, Several):
        return view.stuck("several", name=clause.what, texts=", ".join(label.texts))
    if label is not None and (value := page.value_beside(label)):
        return Done(f"{label.text}: {value}", wanted=True)
    if (only := _of_kind(clause.what, view)) is not None:
        return Done(only, wanted=True)
    if label is not None:
        return Done(label.text, wanted=True)
    return look_further(view, clause.what) or view.stuck("not_read", name=clause.what)


def _of_kind(what: str, view: View) -> str | None:
    """The one amount or time of day on the screen, None when there is none or there are several."""
    pattern = next((pattern for words, pattern in _KINDS if folded(what).replace(" ", "") in _packed(words)), None)
    if pattern is None:
        return None
    found = {each.text for each in view.page.named if pattern.fullmatch(each.text)}
    return found.pop() if len(found) == 1 else None


def _packed(words: frozenset[str]) -> frozenset[str]:
    return frozenset(folded(word).replace(" ", "") for word in words)
