"""Parses an instruction into clauses (its single steps), or reports the part that is not a literal instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from agent.offline.building import Groups, build, is_field
from agent.offline.clauses import (
    THE_ANSWER,
    Ask,
    Clause,
    Instruction,
    Open,
    Read,
    Scroll,
    Search,
    SendMessage,
    Tap,
    Toggle,
    TypeText,
    Unreadable,
    Wait,
    WriteNote,
    with_texts,
)
from agent.offline.matching import is_chinese
from agent.offline.patterns import Quotes, is_quote, patterns

MAX_TEXT = 1500
"""The maximum number of characters of an instruction. Longer texts are not literal instructions, and matching takes
time.
"""
MAX_CLAUSES = 40

_KEPT = 64
_ANSWER_SHOWN = "it"
_VERBATIM = ("message", "note", "type")


@lru_cache(maxsize=_KEPT)
def read(text: str) -> Instruction:
    """Parse a text into its clauses; there is at least one. Raises Unreadable."""
    if len(text) > MAX_TEXT or not text.strip():
        raise Unreadable(text[:80])
    quotes = Quotes(text)
    try:
        clauses = _clauses(re.sub(r"[ \t\r\f\v\u3000]+", " ", quotes.text).strip())
    except Unreadable as error:
        raise Unreadable(quotes.restored(error.part)) from None
    if len(clauses) > MAX_CLAUSES:
        raise Unreadable(text[:80])
    whole = tuple(with_texts(clause, quotes.restored) for clause in _referred([clause for clause, _ in clauses]))
    return Instruction(whole, tuple(quotes.restored(rest) for _, rest in clauses), chinese=is_chinese(text))


def topic_of(text: str) -> str:
    """Return the topic of a text that is not a task ("hello", "who", "help", "thanks"); "" for anything else."""
    plain = re.sub(r"[\s!?.。！？,，~]+", " ", text).strip()
    return next((chat.topic for chat in patterns().chat if chat.pattern.fullmatch(plain)), "")


def ignorable(text: str) -> bool:
    """Whether a person's remark asks for nothing, such as "go on" or "thanks"."""
    return bool(patterns().words["ignorable"].fullmatch(_trimmed(text)))


def _clauses(text: str) -> list[tuple[Clause, str]]:
    """Return the clauses, each with the text after it."""
    found: list[tuple[Clause, str]] = []
    start = 0
    for end, after, strong in _separators(text):
        if end < start:
            continue
        right = _unfilled(text[after:])
        if not right:
            continue
        left = _clause(text[start:end], first=not found)
        if left is None:
            continue
        if (strong and not _takes_all(left[-1])) or patterns().head.match(right):
            if not strong and _is_payload(left[-1]):
                continue
            found += [(clause, right) for clause in left]
            start = after
    last = _clause(text[start:], first=not found)
    if last is None:
        raise Unreadable(_trimmed(text[start:]))
    return [*found, *((clause, "") for clause in last)]


def _separators(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where a clause may end and the next begin, from the left, and whether it must."""
    strong = [(each.start(), each.end(), True) for each in patterns().strong.finditer(text)]
    weak = [(each.start(), each.end(), False) for each in patterns().weak.finditer(text)]
    taken = {(start, end) for start, end, _ in strong}
    return iter(sorted(strong + [each for each in weak if each[:2] not in taken], key=lambda each: (each[0], -each[1])))


def _is_payload(clause: Clause) -> bool:
    """Whether its text continues over "and" and commas: words for other people, without quotes."""
    return isinstance(clause, WriteNote | SendMessage) and not is_quote(clause.text)


def _takes_all(clause: Clause) -> bool:
    """Whether even "then" may belong to its text."""
    if isinstance(clause, TypeText | WriteNote | SendMessage):
        return not is_quote(clause.text)
    return isinstance(clause, Search) and not is_quote(clause.query)


def _trimmed(text: str) -> str:
    """Return a clause without polite words and punctuation around it."""
    text = patterns().after.sub("", text.strip())
    return _unfilled(text).strip()


def _unfilled(text: str) -> str:
    text = text.strip(" ,，、")
    while (found := patterns().before.match(text)) is not None and found.end() < len(text):
        text = text[found.end() :].strip(" ,，、")
    return text


def _clause(text: str, *, first: bool) -> list[Clause] | None:
    text = _unfilled(text)
    if not _trimmed(text):
        return None
    direct = _direct(text, first=first)
    placed = _placed(text)
    # "type hello in the Notes app": a fully named place takes precedence over a text that would include it.
    return placed if placed is not None else direct


def _placed(text: str) -> list[Clause] | None:
    """Parse a clause that names its app: that app, and then the clause in it."""
    plain = _trimmed(text)
    for where in patterns().where:
        found = where.pattern.fullmatch(plain)
        if found is None or (where.unless is not None and where.unless.fullmatch(plain)):
            continue
        inner = _direct(f"{found.groupdict().get('verb', '')}{found['rest']}", first=False)
        if inner is None:
            continue
        app = found["app"].strip()
        if isinstance(inner[0], TypeText) and is_field(app):
            continue
        if isinstance(inner[0], Open) and inner[0].name.casefold() == app.casefold():
            return inner
        return [Open(app), *inner]
    return None


def _direct(text: str, *, first: bool) -> list[Clause] | None:
    plain = _trimmed(text)
    for rule in patterns().rules:
        # Words for other people are kept with all punctuation, and so is "please" in them.
        found = rule.pattern.fullmatch(text.strip() if rule.kind in _VERBATIM else plain)
        if found is None:
            continue
        built = build(rule, _groups(found), first=first)
        if built is not None:
            return list(built)
    return None


def _groups(found: re.Match[str]) -> Groups:
    """Return the matched groups; those of a second form (`text2`) under the plain name. `whole` is all."""
    groups = found.groupdict()
    return {"whole": found[0]} | {
        name.rstrip("234"): value.strip() for name, value in groups.items() if value and value.strip()
    }


def _referred(clauses: list[Clause]) -> list[Clause]:
    """Replace words such as "it" and "the answer" with what they refer to. Raises Unreadable if there is nothing."""
    asked = False
    last = ""
    whole: list[Clause] = []
    for clause in clauses:
        known = clause
        match clause:
            case Tap(label=label) | Toggle(label=label) | Open(name=label) if _refers(label):
                if not last:
                    raise Unreadable(label)
                known = Open(last) if isinstance(clause, Open) else replace(clause, label=last)
            case Search(query=text) | TypeText(text=text) | WriteNote(text=text) | SendMessage(text=text):
                if text == THE_ANSWER and not asked:
                    raise Unreadable(_ANSWER_SHOWN)
            case _:
                pass
        if isinstance(known, Ask):
            asked, last = True, THE_ANSWER
        else:
            last = _name_in(known) or last
        whole.append(known)
    return whole


def _refers(label: str) -> bool:
    return bool(patterns().words["referring"].fullmatch(label))


def _name_in(clause: Clause) -> str:
    """Return what a clause names, so that "it" can refer to it."""
    match clause:
        case Tap(label=name) | Toggle(label=name) | Open(name=name):
            return name
        case Scroll(until=name) | Wait(text=name) | Read(what=name):
            return name
        case _:
            return ""
