"""What the form of a label says, whatever its words are: a deed, a thing, a count, or something that is done already.

"Delete account" does something, "Deleted", "12 updates" and "Post office opening hours" are titles of what they open.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from agent.guards.rules import RuleName
from agent.guards.words import plain

_NUMBER: Final = re.compile(r"\d")
_INDIC: Final = re.compile("^[\u0900-\u09ff]+(?= )")
"""The end of a word in scripts whose vowels are marks of their own."""
_DONE: Final = frozenset({RuleName.SEND, RuleName.DELETE, RuleName.INSTALL, RuleName.PAY})
"""Rules whose words also name what is done already; a consent is given with such words too ("已阅读并同意")."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One word of a rule in a label: where its letters begin and end in the label's plain form, and what the tables say
    of it. `stem` says that the letters go on to the end of a longer word. `language` is empty for the policy's words.
    """

    rule: str
    word: str
    start: int
    end: int
    language: str = ""
    stem: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    things: frozenset[str]
    objects: frozenset[str]
    opening: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    ago: re.Pattern[str]
    particles: tuple[str, ...]
    goes_on: frozenset[str]
    noticed: frozenset[str]
    waits: frozenset[str]
    last: frozenset[str]
    endings: dict[str, tuple[str, ...]]


@cache
def _table() -> _Table:
    told = tomllib.loads(resources.files("agent.guards").joinpath("forms.toml").read_text(encoding="utf-8"))

    def listed(words: str) -> tuple[str, ...]:
        return tuple(word for each in words.split(",") if (word := each.strip()))

    def folded(name: str) -> frozenset[str]:
        return frozenset(plain(word) for word in listed(told[name]))

    def marks(name: str) -> tuple[str, ...]:
        words = ((" " * w.startswith("_"), plain(w.strip("_")), " " * w.endswith("_")) for w in listed(told[name]))
        return tuple("".join(parts) for parts in words)

    ago = "|".join(rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in folded("ago"))
    return _Table(
        things=folded("things"),
        objects=folded("objects"),
        opening=tuple(folded("opening")),
        before=marks("before"),
        after=marks("after"),
        ago=re.compile(ago),
        particles=listed(told["particles"]),
        goes_on=folded("goes_on"),
        noticed=folded("noticed"),
        waits=folded("waits"),
        last=frozenset(listed(told["last"])),
        endings={language: listed(words) for language, words in told["endings"].items()},
    )


def tells_of(hit: Hit, text: str) -> bool:
    """Whether a label only tells of what the word names: it is done already, was some time ago, or is counted."""
    if hit.rule not in _DONE:
        return False
    table, before, behind = _table(), text[: hit.start], text[hit.end :]
    if before.endswith(table.before) or _INDIC.sub("", behind).startswith(table.after):
        return True
    if hit.stem and text[hit.start : hit.end].endswith(table.endings.get(hit.language, ())):
        return True
    if hit.rule == RuleName.PAY or not before or _NUMBER.search(text) is None:
        return False
    counted = _NUMBER.match(text) is not None or "의 " in before
    counted = counted and hit.word in table.things and not any(each in before for each in table.particles)
    return counted or table.ago.search(text) is not None


def does(hit: Hit, text: str) -> bool:
    """Whether the title of a row is a deed by this word: a verb, where its language puts it, and not a thing."""
    table = _table()
    if text.startswith(table.opening):
        return False
    rest = text[hit.end :].strip()
    if hit.word in table.things:
        behind = rest.split()
        return bool(behind) and (
            behind[0] in table.objects or any(not word.isascii() and rest.startswith(word) for word in table.objects)
        )
    return hit.start == 0 or (hit.language in table.last and not rest)


def goes_on(label: str) -> bool:
    """Whether a caption takes further what a page offers, so that nothing is known of what it does."""
    return plain(label) in _table().goes_on


def is_noticed(label: str) -> bool:
    """Whether a caption says no more than that something was read ("Got it")."""
    return plain(label) in _table().noticed


def waits(label: str) -> bool:
    """Whether it is what Android writes on the button that goes on waiting for an app ("Wait")."""
    return plain(label) in _table().waits
