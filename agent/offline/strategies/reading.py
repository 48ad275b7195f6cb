"""The strategies for reading the screen, a row, or the value next to a label, and for asking the person."""

from __future__ import annotations

import re

from agent.actions import AskUser, PressKey
from agent.effect_facts import Answered
from agent.offline.clauses import Ask, Read
from agent.offline.matching import folded, place_of
from agent.offline.strategies.tapping import launch_known, look_further, touch
from agent.offline.view import Done, Move, Several, View
from agent.scene import ScreenElement
from devices.inputs import Key

_MONEY = re.compile(r"(?:[$€£¥₹]|USD|EUR|RMB|CNY)\s?\d[\d.,]*|\d[\d.,]*\s?(?:[$€£¥₹元]|USD|EUR)")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?")
_DATE = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b.*|\d+月\d+日.*", re.IGNORECASE)
_KINDS = (
    (frozenset({"price", "cost", "amount", "价格", "金额", "多少钱"}), _MONEY),
    (frozenset({"time", "current time", "时间", "几点"}), _TIME),
    (frozenset({"date", "day", "日期", "几号", "星期几"}), _DATE),
)


def read_next(clause: Read, view: View) -> Move:
    """Return the next move of a read clause. What is read is taken word for word from the screen; nothing is
    guessed.
    """
    page = view.page
    if clause.nth:
        position = clause.nth - 1 if clause.nth > 0 else clause.nth
        if not -len(page.rows) <= position < len(page.rows):
            return view.stuck("no_list", number=str(clause.nth))
        return Done("\n".join(each.text for each in page.rows[position].labels), wanted=True)
    if not clause.what:
        text = page.text(content=clause.content)
        return Done(text, wanted=True) if text else view.stuck("nothing_to_read")
    if (move := _go_there(clause.what, view)) is not None:
        return move
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


def _go_there(what: str, view: View) -> Move | None:
    """Return the way to where it can be read; None if that is here or unknown."""
    place = place_of(what)
    if place is None or _read_here(what, view):
        return None
    if place.app == "home":
        home = PressKey(key=Key.HOME)
        return None if view.staged("home") else view.act(home, "home", "pressing", name=home.key.value)
    if not view.worked("open"):
        return launch_known(view, place.app)
    if not place.page:
        return None
    move = touch(view, place.page)
    return None if isinstance(move, Done) else move


def _read_here(what: str, view: View) -> bool:
    label = view.page.find(what, such=lambda each: each.role != "field")
    known = isinstance(label, ScreenElement) and bool(view.page.value_beside(label))
    return known or _of_kind(what, view) is not None


def _of_kind(what: str, view: View) -> str | None:
    """Return the only amount or time of day on the screen; None if there is none, or several."""
    wanted = _packed(what)
    pattern = next((pattern for words, pattern in _KINDS if wanted in map(_packed, words)), None)
    if pattern is None:
        return None
    found = {each.text for each in view.page.named if pattern.fullmatch(each.text)}
    return found.pop() if len(found) == 1 else None


def _packed(words: str) -> str:
    return folded(words).replace(" ", "")


_SWAPPED = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you are"}
_WORD = re.compile(r"[\w']+")


def ask_next(clause: Ask, view: View) -> Move:
    """Return the next move of a clause that asks the person one question."""
    steps = view.staged("ask")
    if any(isinstance(fact, Answered) for step in steps for fact in step.effects):
        return Done()
    if steps:
        return view.stuck("no_answer")
    return view.act(AskUser(question=_question(clause.question, view)), "ask", "asking")


def _question(words: str, view: View) -> str:
    """Return the question as given, or what is to be found out, addressed to the person."""
    if words.endswith(("?", "？")):
        return words
    if view.chinese:
        return view.words("question", name=words.replace("我", "您"))
    about = re.sub(r"^(?:for|about) ", "", words)
    turned = _WORD.sub(lambda word: _SWAPPED.get(word[0].lower(), word[0]), about)
    return view.words("question", name=turned)
