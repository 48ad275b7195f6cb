"""Ask: the person's answer can be used by the clauses after it."""

from __future__ import annotations

import re

from agent.actions import AskUser
from agent.models.offline.clauses import Ask
from agent.models.offline.moves import Done, Move
from agent.models.offline.view import View

_SWAPPED = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you are"}
_WORD = re.compile(r"[\w']+")


def ask_next(clause: Ask, view: View) -> Move:
    """One question."""
    steps = view.staged("ask")
    if any("answer: " in step.effect for step in steps):
        return Done()
    if steps:
        return view.stuck("no_answer")
    return view.act(AskUser(question=_question(clause.question, view)), "ask", "asking")


def _question(words: str, view: View) -> str:
    """The question as it was given, or what is to be found out, said to the person."""
    if words.endswith(("?", "？")):
        return words
    if view.chinese:
        return view.words("question", name=words.replace("我", "您"))
    about = re.sub(r"^(?:for|about) ", "", words)
    turned = _WORD.sub(lambda word: _SWAPPED.get(word[0].lower(), word[0]), about)
    return view.words("question", name=turned)
