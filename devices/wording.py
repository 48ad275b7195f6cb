"""Sentences for people as values: in English wherever they are kept, in a person's own language where they read them.

A package holds the English of each kind of sentence, in a file of its own. Whoever runs the program may word them in
the language of the person who reads; devices and agent know no languages and no people.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Self

Worder = Callable[[str, Mapping[str, object]], str]
"""From a kind and its values to the sentence."""
_PARTS: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


def filled(form: str, values: Mapping[str, object]) -> str:
    """The form with its placeholders, which are plain names in braces, filled in. Raises KeyError for a missing value.

    Python's own formats also read attributes and pad to any width, and forms may come from others: from another
    machine, or from a tool.
    """
    return _PARTS.sub(lambda part: str(values[part[1]]) if part[1] else part[0][0], form)


def placeholders(form: str) -> frozenset[str]:
    """The names of the values that a form has room for."""
    return frozenset(part[1] for part in _PARTS.finditer(form) if part[1])


class Words(str):
    """A sentence of a known kind. As a text, for the log and for machines, it reads in English.

    Values that are such sentences themselves are worded with it. `translations` are the forms in other languages, by
    the name of the language, of a sentence that no catalogue has; None for one that is looked up by its kind.
    """

    __slots__ = ("form", "kind", "translations", "values")

    form: str
    kind: str
    values: Mapping[str, object]
    translations: Mapping[str, str] | None

    def __new__(
        cls, english: str, kind: str, values: Mapping[str, object], translations: Mapping[str, str] | None = None
    ) -> Self:
        """`english` is a form (see `filled`). Raises KeyError for a missing value."""
        made = super().__new__(cls, filled(english, values))
        made.form = english
        made.kind = kind
        made.values = MappingProxyType(dict(values))
        made.translations = None if translations is None else MappingProxyType(dict(translations))
        return made

    def with_texts(self, change: Callable[[str], str]) -> Words:
        """The sentence with other words for its values; `change` is given those that are texts."""
        values = {name: change(value) if isinstance(value, str) else value for name, value in self.values.items()}
        return Words(self.form, self.kind, values, self.translations)


def sentence_of(error: BaseException) -> str:
    """What an error says, still to be worded if it is a sentence of ours."""
    return next((part for part in error.args if isinstance(part, Words)), str(error))


_worder: ContextVar[tuple[Worder, str] | None] = ContextVar("worder", default=None)
"""Who words the sentences here, and the name of the language."""


def said(text: str) -> str:
    """What a person reads: the sentence as it is worded here. A text that is no sentence of ours stays as it is."""
    here = _worder.get()
    if here is None or not isinstance(text, Words):
        return str(text)
    worder, language = here
    values = {name: said(value) if isinstance(value, str) else value for name, value in text.values.items()}
    if text.translations is not None:
        return filled(text.translations.get(language, text.form), values)
    return worder(text.kind, values)


def language_here() -> str:
    """The name of the language in which sentences are worded here; "" where nobody words them otherwise."""
    here = _worder.get()
    return "" if here is None else here[1]


@contextmanager
def worded(by: Worder, language: str = "") -> Iterator[None]:
    """Let `by` word every sentence until the block ends, in tasks that begin there too.

    A sentence with translations of its own is said in this language, or in English where it has none for it.
    """
    before = _worder.set((by, language))
    try:
        yield
    finally:
        _worder.reset(before)


def flat(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    """Nested tables as dotted keys."""
    for name, value in table.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{key}.")
        else:
            yield key, str(value).strip()


def sentences_of(package: str) -> Mapping[str, str]:
    """Kind → English, with named placeholders, as a package's `sentences.toml` has it."""
    return dict(flat(tomllib.loads(files(package).joinpath("sentences.toml").read_text(encoding="utf-8"))))


SENTENCES: Final = sentences_of("devices")
"""What phones are said to do or to lack."""


def words(kind: str, **values: object) -> Words:
    """A sentence about a phone. Raises KeyError for an unknown kind or a missing value."""
    return Words(SENTENCES[kind], kind, values)
