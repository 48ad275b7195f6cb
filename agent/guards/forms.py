"""Judges the grammatical form of a label: whether it names an action, a thing, a count, or something already done.

"Delete account" does something; "Deleted", "12 updates" and "Post office opening hours" are titles of what they open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from agent.guards.amounts import has_amount
from agent.guards.rules import RuleName
from agent.guards.words import JOINED, listed, plain, readings
from devices.wording import table_of

_NUMBER: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[\w'-]+")
_INDIC: Final = re.compile("^[\u0900-\u09ff]+(?= )")
"""The end of a word in scripts whose vowels are separate marks."""
_DONE: Final = frozenset({RuleName.SEND, RuleName.DELETE, RuleName.INSTALL, RuleName.PAY})
"""Rules whose words also name finished actions; consents are given with such words too ("已阅读并同意")."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An occurrence of a rule's word in a label.

    `rule` is the rule and `word` the word. `text` is the label in its compared form, in which the word is at `start` to
    `end`. `stem` means that the found word continues beyond `word`. `language` is that of the word table, "" for the
    policy's own words.
    """

    rule: str
    word: str
    text: str
    start: int
    end: int
    language: str = ""
    stem: bool = False


@dataclass(frozen=True, slots=True)
class _Mentioned:
    """Words that count anywhere: as whole words, or inside longer ones in scripts that join words."""

    apart: tuple[str, ...]
    inside: tuple[str, ...]

    def stand_in(self, label: str) -> bool:
        """Whether the label contains one of the words."""
        for text in readings(label):
            spaced = f" {' '.join(_WORD.findall(text))} "
            if any(f" {word} " in spaced for word in self.apart) or any(word in text for word in self.inside):
                return True
        return False


@cache
def _table() -> dict[str, Any]:
    return table_of("agent.guards", "forms.toml")


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(plain(word) for word in listed(_table()[name]))


@cache
def _marks(name: str) -> tuple[str, ...]:
    words = ((" " * w.startswith("_"), plain(w.strip("_")), " " * w.endswith("_")) for w in listed(_table()[name]))
    return tuple("".join(parts) for parts in words)


@cache
def _endings(language: str) -> tuple[str, ...]:
    return listed(_table()["endings"].get(language, ""))


@cache
def _joined(name: str) -> tuple[str, ...]:
    return tuple(word for word in _words(name) if JOINED.search(word))


@cache
def _mentioned(name: str, part: str = "") -> _Mentioned:
    words = [plain(word) for word in listed(_table()[name][part] if part else _table()[name])]
    inside = tuple(word for word in words if JOINED.search(word))
    return _Mentioned(tuple(" ".join(_WORD.findall(word)) for word in words if word not in inside), inside)


def tells_of(hit: Hit) -> bool:
    """Whether the label only reports what the word names: that it is done, happened some time ago, or is counted."""
    if hit.rule not in _DONE:
        return False
    text = hit.text
    before, behind = text[: hit.start], text[hit.end :]
    if before.endswith(_marks("before")) or _INDIC.sub("", behind).startswith(_marks("after")):
        return True
    if hit.stem and text[hit.start : hit.end].endswith(_endings(hit.language)):
        return True
    if hit.rule == RuleName.PAY or not before or _NUMBER.search(text) is None:
        return False
    counted = _NUMBER.match(text) is not None or "의 " in before
    counted = counted and hit.word in _words("things") and not any(p in before for p in listed(_table()["particles"]))
    return counted or _mentioned("ago").stand_in(text)


def begins(hit: Hit) -> bool:
    """Whether the word is the verb of its label: it is the whole label, or is where its language puts verbs. Words that
    are often nouns only count with an object.
    """
    if hit.text.startswith(tuple(_words("opening"))):
        return False
    before, rest = hit.text[: hit.start].strip(), hit.text[hit.end :].strip()
    if hit.word in _words("things") and rest and not _has_object(rest):
        return False
    if not before or before in _words("adverbs"):
        return True
    ends = hit.language in listed(_table()["last"]) or not (hit.language or JOINED.search(hit.word))
    return ends and not rest


def does(hit: Hit) -> bool:
    """Whether a row's title with this word names an action: the word is a verb there, not a noun."""
    doubtful = hit.word in _words("things") or hit.word in _words("resets")
    return begins(hit) and (not doubtful or _has_object(hit.text[hit.end :].strip()))


def _has_object(rest: str) -> bool:
    """Whether the words after a verb are its object."""
    return bool(rest) and (rest.split(maxsplit=1)[0] in _words("objects") or rest.startswith(_joined("objects")))


def moves_money(label: str) -> bool:
    """Whether a label says that an amount is being transferred, such as "Sending €20.00 to Bob"."""
    return has_amount(label) and _mentioned("moves").stand_in(label)


def switched(label: str) -> str:
    """Return the rule for what a switch with this label turns on or off; "" if it only changes a preference."""
    return next((rule for rule in _table()["switches"] if _mentioned("switches", rule).stand_in(label)), "")


def answers(label: str) -> bool:
    """Whether this is the caption of a button that answers a call."""
    return plain(label) in _words("answers")


def goes_on(label: str) -> bool:
    """Whether a caption only says to continue, so that the effect depends on the page ("Continue")."""
    return plain(label) in _words("goes_on")


def is_noticed(label: str) -> bool:
    """Whether a caption only confirms that something was read ("Got it")."""
    return plain(label) in _words("noticed")


def waits(label: str) -> bool:
    """Whether this is Android's caption for waiting for an app that does not respond ("Wait")."""
    return plain(label) in _words("waits")
