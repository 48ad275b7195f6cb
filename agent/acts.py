"""Decides from the words of a request whether it asks for an action on the phone, in the languages of `acts.toml`.

Only plain cases are recognised: a request that is not recognised may still ask for an action.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from threading import Lock
from typing import Final, Literal

Act = Literal["does", "looks", "sets", ""]
"""The kind of request: "does" asks for something that cannot be true before it was done, "looks" for something that may
be done by looking it up, "sets" for something that may already be so on the phone, and "" is not recognised as any.
"""

_STRICTEST: Final[tuple[Act, ...]] = ("does", "looks", "sets")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|`[^`]*`")
_ENDS: Final = re.compile(r"(?<=[.!?;。！？；؟؛।\n])\s*|\s*\n\s*")
_WHERE: Final = re.compile(r"^(?:in|on|using|with|from) [^,]{1,40}, ")
"""An app that is named first: "In Settings, …"."""
_SIGNS: Final = " \t,.!?;:…،。！？；、¿¡؟؛।"
_NO_BLANKS: Final = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts in which a word may begin or end inside a row of letters."""
MAX_GAP: Final = 80
_READING: Final = Lock()
"""Held while the words are loaded, so that two threads that need them first share the work."""


@dataclass(frozen=True)
class _Language:
    before: re.Pattern[str] | None
    answers: re.Pattern[str] | None
    asks: re.Pattern[str] | None
    does: re.Pattern[str] | None
    looks: re.Pattern[str] | None
    sets: re.Pattern[str] | None
    unsent: re.Pattern[str] | None


def load() -> None:
    """Load the words of all languages, so that the first request need not wait for it. Takes half a second of processor
    time.
    """
    _languages()


def asks_for_act(text: str) -> Act:
    """Return the kind of action that the first recognised clause of a request asks for; "" if none is recognised or it
    is a question.
    """
    clauses = [_folded(each) for each in _ENDS.split(_QUOTED.sub('"', text))]
    for clause in filter(None, clauses):
        found = [_read(clause, language) for language in _languages()]
        if "" in found:  # a question in one of the languages: the words are ambiguous
            return ""
        if any(found):
            return next(act for act in _STRICTEST if act in found)
    return ""


def leaves_unsent(text: str) -> bool:
    """Whether the request says that a message should be written but not sent."""
    folded = _folded(text)
    return any(each.unsent is not None and each.unsent.search(folded) for each in _languages())


def _read(clause: str, language: _Language) -> Act | None:
    """Read one clause; None if it has no known word of the language."""
    asked = clause.endswith(("?", "？", "؟"))
    rest = clause.strip(_SIGNS)
    polite = False
    while language.before is not None and (found := language.before.match(rest)) is not None and found.end():
        polite, rest = True, rest[found.end() :].lstrip(_SIGNS)
    rest = _WHERE.sub("", rest)
    if language.answers is not None and language.answers.match(rest):
        return ""
    if language.asks is not None and language.asks.search(rest) and _begins(language, rest):
        return ""
    if asked and not polite:
        return "" if _begins(language, rest) else None
    return _begins(language, rest)


def _begins(language: _Language, rest: str) -> Act | None:
    forms: dict[Act, re.Pattern[str] | None] = {"does": language.does, "looks": language.looks, "sets": language.sets}
    return next((act for act in _STRICTEST if (form := forms[act]) is not None and form.search(rest)), None)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return " ".join(plain.split())


def _languages() -> tuple[_Language, ...]:
    with _READING:
        return _read_languages()


@cache
def _read_languages() -> tuple[_Language, ...]:
    table = tomllib.loads(resources.files("agent").joinpath("acts.toml").read_text(encoding="utf-8"))
    return tuple(
        _Language(
            before=_any(_start(each, alone=True) for each in _entries(words, "before")),
            answers=_any(_start(each, alone=True) for each in _entries(words, "answers")),
            asks=_any(map(_words, _entries(words, "asks"))),
            does=_any([*map(_start, _entries(words, "does")), *map(_end, _entries(words, "does_last"))]),
            looks=_any([*map(_start, _entries(words, "looks")), *map(_end, _entries(words, "looks_last"))]),
            sets=_any([*map(_start, _entries(words, "sets")), *map(_end, _entries(words, "sets_last"))]),
            unsent=_any(_words(each) for each in _entries(words, "unsent")),
        )
        for words in table.values()
    )


def _entries(words: dict[str, str], name: str) -> list[str]:
    return [_folded(each) for each in re.split(r"\s*[,،]\s*", words.get(name, "")) if each]


def _any(patterns: Iterable[str]) -> re.Pattern[str] | None:
    rows = "|".join(patterns)
    return re.compile(rows) if rows else None


def _words(entry: str) -> str:
    """Return the regular expression of an entry: whole words, in scripts that separate words."""
    entry = entry.removesuffix(".")
    gap = rf".{{1,{MAX_GAP}}}?"
    body = "".join({"_": gap, "*": r"\w*", "#": r"\d+", " ": r"\s+"}.get(sign, re.escape(sign)) for sign in entry)
    return f"(?:{_edge(entry[0], before=True)}{body}{_edge(entry[-1], before=False)})"


def _edge(sign: str, *, before: bool) -> str:
    if sign in "*_#" or re.match(f"[{_NO_BLANKS}]", sign):
        return ""
    return r"(?<![^\W_])" if before else r"(?![^\W_])"


def _start(entry: str, *, alone: bool = False) -> str:
    """Return the expression for the start of a clause. Without a ".", something must follow unless `alone` is set."""
    if alone:
        return f"^{_words(entry)}"
    tail = rf"[{re.escape(_SIGNS)}]*$" if entry.endswith(".") else r"\s*[^\s]"
    return f"(?:^{_words(entry)}{tail})"


def _end(entry: str) -> str:
    """Return the expression for the end of a clause, with something before it."""
    return rf"(?:\S\s*{_words(entry)}[{re.escape(_SIGNS)}]*$)"
