"""The offline pilot's vocabulary: the words and grammar patterns that it recognises, with quoted text taken out before
parsing and put back unchanged, and the sentences that it says.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict

from agent.wording import one_line, shortened
from devices.wording import table_of


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Place(_Table):
    """A place where certain information (`things`) can be read: a page ("" is the first one) of an app. `app` is a key
    in [apps] of labels.toml, or "home" for the home screen.
    """

    app: str
    page: str = ""
    things: tuple[str, ...] = ()


class Labels(_Table):
    """The content of labels.toml."""

    same: tuple[tuple[str, ...], ...]
    switches: tuple[str, ...]
    around_before: tuple[str, ...]
    around_after: tuple[str, ...]
    fields: dict[str, tuple[str, ...]]
    buttons: dict[str, tuple[str, ...]]
    apps: dict[str, tuple[str, ...]]
    places: tuple[Place, ...]
    signs: dict[str, tuple[str, ...]]


@cache
def labels() -> Labels:
    """Return the content of labels.toml: synonyms, kinds of fields and buttons, and words that appear on screens. It is
    loaded once.
    """
    return Labels.model_validate(table_of("agent.offline", "labels.toml"))


SHORT = 40
"""The maximum number of letters of a name in a sentence."""


class _Wording(_Table):
    en: dict[str, str]
    zh: dict[str, str]


@cache
def _table() -> _Wording:
    return _Wording.model_validate(table_of("agent.offline", "wording.toml"))


def wording(key: str, *, chinese: bool, **values: str) -> str:
    """Return the sentence with this key, with its values filled in. Names among the values are shortened to
    one line.
    """
    text = (_table().zh if chinese else _table().en)[key]
    return text.format_map({name: value if name in _WHOLE else short(value) for name, value in values.items()})


def in_both(key: str) -> tuple[str, str]:
    """Return the sentence with this key, which has no values, in English and in Chinese."""
    return _table().en[key], _table().zh[key]


_WHOLE = frozenset({"reason", "done", "texts", "near", "rest"})


def short(text: str) -> str:
    """Return a text shortened to one line of at most SHORT letters."""
    return shortened(one_line(text), SHORT)


_PART = re.compile(r"<([A-Z_]+)>")


class Rule(_Table):
    """One form of a clause in grammar.toml: the `kind` of clause, and the `pattern` that its words must match. The
    other fields are explained in grammar.toml.
    """

    kind: str
    pattern: re.Pattern[str]
    key: str = ""
    gesture: str = "tap"
    finger: bool = False
    switches: bool = False
    web: bool = False
    known_field: bool = False
    later: bool = False


class Where(_Table):
    """A pattern for clauses that name the app in which to do something. `unless` matches texts that only look like
    that.
    """

    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None


class Chat(_Table):
    """A pattern for words that are not a task, such as a greeting. `topic` is the key of the answer in wording.toml."""

    topic: str
    pattern: re.Pattern[str]


class Near(_Table):
    """A pattern for something that cannot be done, and similar instructions in English and Chinese, into which the
    pattern's groups are filled.
    """

    pattern: re.Pattern[str]
    en: tuple[str, ...]
    zh: tuple[str, ...]


class Patterns(_Table):
    """The compiled content of grammar.toml."""

    strong: re.Pattern[str]
    weak: re.Pattern[str]
    before: re.Pattern[str]
    after: re.Pattern[str]
    head: re.Pattern[str]
    where: tuple[Where, ...]
    rules: tuple[Rule, ...]
    chat: tuple[Chat, ...]
    near: tuple[Near, ...]
    words: dict[str, re.Pattern[str]]
    numbers: dict[str, int]


@cache
def patterns() -> Patterns:
    """Return the compiled content of grammar.toml. It is loaded once."""
    raw = table_of("agent.offline", "grammar.toml")
    parts: dict[str, str] = raw["parts"]
    splitting: dict[str, str] = raw["splitting"]
    parts["HEADS"] = splitting["heads"]

    def compiled(pattern: str) -> re.Pattern[str]:
        while _PART.search(pattern) is not None:
            pattern = _PART.sub(lambda part: parts[part[1]], pattern)
        return re.compile(pattern.replace("HEADS", parts["HEADS"]), re.IGNORECASE)

    def rows(name: str) -> list[dict[str, Any]]:
        return [row | {"pattern": compiled(row["pattern"])} for row in raw[name]]

    heads, unknown = splitting["heads"], splitting["unknown"]
    return Patterns(
        strong=compiled(splitting["strong"]),
        weak=compiled(splitting["weak"]),
        before=compiled(splitting["before"]),
        after=compiled(rf"(?:{splitting['after']})$"),
        head=compiled(f"{heads}|{unknown}"),
        where=tuple(
            Where(pattern=row["pattern"], unless=compiled(row["not"]) if "not" in row else None)
            for row in rows("where")
        ),
        rules=tuple(Rule(**row) for row in rows("clause")),
        chat=tuple(Chat(**row) for row in rows("chat")),
        near=tuple(Near(**row) for row in rows("near")),
        words={name: compiled(pattern) for name, pattern in raw["words"].items()},
        numbers=raw["numbers"],
    )


_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("‘", "’"), ("「", "」"), ("『", "』"), ("«", "»"), ("`", "`"))
_QUOTED = re.compile(
    "|".join(rf"{start}([^{end}]+){end}" for start, end in _PAIRS)
    # An apostrophe is a quote only at the edge of a word, and closes only before a space or a sign.
    + r"|(?<![\w'])'((?:[^']|'(?=\w))+)'(?!\w)"
)
_FIRST = 0xE000
_HOLDER = re.compile("[\ue000-\ue0ff]")
MOST = 0x100
"""The maximum number of quotes in one instruction, as many as there are private-use characters that stand for them."""


class Quotes:
    """Takes the quotes out of a text. `text` is the text with a private-use character in place of each quote."""

    def __init__(self, text: str) -> None:
        self._kept: list[str] = []
        self.text = _QUOTED.sub(self._take, _HOLDER.sub("", text))

    def _take(self, found: re.Match[str]) -> str:
        if len(self._kept) == MOST:
            return found[0]
        self._kept.append(next(group for group in found.groups() if group is not None))
        return chr(_FIRST + len(self._kept) - 1)

    def restored(self, text: str) -> str:
        """Return this text with the quotes put back, without their quotation marks."""
        return _HOLDER.sub(lambda found: self._kept[ord(found[0]) - _FIRST], text)


def is_quote(text: str) -> bool:
    """Whether a text, from which quotes were taken out, consists of exactly one quote."""
    return bool(_HOLDER.fullmatch(text.strip()))
