"""Sentences for people as values: stored in English with a kind and values, and shown in the reader's language.

Each package keeps the English of its sentences in its own `sentences.toml`. The application that runs the program can
translate them for the reader; `devices` and `agent` know neither languages nor people.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Self

Worder = Callable[[str, Mapping[str, object]], str]
"""A function that turns the kind of a sentence and its values into the finished sentence."""
_PARTS: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


def filled(form: str, values: Mapping[str, object]) -> str:
    """Return a sentence form with its placeholders (plain names in braces) replaced by values. Raises KeyError if a
    value is missing.

    `str.format` is too powerful here: it also reads attributes and pads to any width, and a form may come from another
    computer or from a tool.
    """
    return _PARTS.sub(lambda part: str(values[part[1]]) if part[1] else part[0][0], form)


def placeholders(form: str) -> frozenset[str]:
    """Return the names of the placeholders in a form."""
    return frozenset(part[1] for part in _PARTS.finditer(form) if part[1])


class Words(str):
    """A sentence of a known kind with its values. As a `str`, for logs and programs, it is in English.

    Values that are `Words` are translated together with it. `translations` maps languages to forms, for sentences that
    are in no catalogue; it is None for sentences that are looked up by kind.
    """

    __slots__ = ("form", "kind", "translations", "values")

    form: str
    kind: str
    values: Mapping[str, object]
    translations: Mapping[str, str] | None

    def __new__(
        cls, english: str, kind: str, values: Mapping[str, object], translations: Mapping[str, str] | None = None
    ) -> Self:
        """Build the sentence from `english`, a form (see `filled`). Raises KeyError if a value is missing."""
        made = super().__new__(cls, filled(english, values))
        made.form = english
        made.kind = kind
        made.values = MappingProxyType(dict(values))
        made.translations = None if translations is None else MappingProxyType(dict(translations))
        return made

    def with_texts(self, change: Callable[[str], str]) -> Words:
        """Return a copy of the sentence with `change` applied to each of its values that is a text."""
        values = {name: change(value) if isinstance(value, str) else value for name, value in self.values.items()}
        return Words(self.form, self.kind, values, self.translations)


def sentence_of(error: BaseException) -> str:
    """Return the message of an error: its first `Words` argument if it has one, otherwise `str(error)`."""
    return next((part for part in error.args if isinstance(part, Words)), str(error))


_worder: ContextVar[tuple[Worder, str] | None] = ContextVar("worder", default=None)
"""The function that words sentences in this context, and the name of its language."""


def said(text: str) -> str:
    """Return the sentence translated for the current reader (see `worded`). Plain text that is not `Words` is returned
    unchanged.
    """
    here = _worder.get()
    if here is None or not isinstance(text, Words):
        return str(text)
    worder, language = here
    values = {name: said(value) if isinstance(value, str) else value for name, value in text.values.items()}
    if text.translations is not None:
        return filled(text.translations.get(language, text.form), values)
    return worder(text.kind, values)


def language_here() -> str:
    """Return the language into which sentences are translated in this context; "" if none was set."""
    here = _worder.get()
    return "" if here is None else here[1]


@contextmanager
def worded(by: Worder, language: str = "") -> Iterator[None]:
    """Context manager: translate every sentence with `by` until the block ends, also in asyncio tasks started inside
    it.

    A sentence with its own translations uses `language`, or English if it has no translation for it.
    """
    before = _worder.set((by, language))
    try:
        yield
    finally:
        _worder.reset(before)


def flat(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts in nested tables as (dotted key, stripped text). `above` is the prefix of the keys."""
    for name, value in table.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{key}.")
        else:
            yield key, str(value).strip()


def table_of(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file that lies in a package."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


def sentences_of(package: str) -> Mapping[str, str]:
    """Read a package's `sentences.toml`: a mapping from kind to an English form with named placeholders."""
    return dict(flat(table_of(package, "sentences.toml")))


SENTENCES: Final = sentences_of("devices")
"""The English sentences about what a phone did or cannot do, by kind."""


def words(kind: str, **values: object) -> Words:
    """Return a sentence about a phone of this kind (a key in `sentences.toml`). Raises KeyError if the kind is unknown
    or a value is missing.
    """
    return Words(SENTENCES[kind], kind, values)
