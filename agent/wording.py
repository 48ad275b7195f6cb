"""What the agent itself says to people (not to a model): a kind of sentence and its values.

The English of each kind stands in `sentences.toml`. Whoever runs the agent may word them otherwise, in the language of
the person whose task it is; the agent knows no languages and no people. Exceptions and the log stay in English.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.resources import files
from typing import Final

Worder = Callable[[str, Mapping[str, object]], str]
"""From a kind and its values to the sentence."""


def flat(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    """Nested tables as dotted keys."""
    for name, value in table.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{key}.")
        else:
            yield key, str(value).strip()


SENTENCES: Final[Mapping[str, str]] = dict(
    flat(tomllib.loads(files("agent").joinpath("sentences.toml").read_text(encoding="utf-8")))
)
"""Kind → English, with named placeholders."""


def english(kind: str, values: Mapping[str, object]) -> str:
    """The sentence as it stands in this package. Raises KeyError for an unknown kind or a missing value."""
    return SENTENCES[kind].format(**values)


_worder: ContextVar[Worder] = ContextVar("worder", default=english)


def sentence(kind: str, **values: object) -> str:
    """The sentence of this kind, as whoever runs the agent words it. Braces inside the values stay as they are."""
    return _worder.get()(kind, values)


@contextmanager
def worded(by: Worder) -> Iterator[None]:
    """Let `by` word every sentence until the block ends, in tasks that begin there too."""
    before = _worder.set(by)
    try:
        yield
    finally:
        _worder.reset(before)


class Spoken(Exception):
    """Something went wrong that has a sentence of its own. As an exception, for the log, it reads in English."""

    def __init__(self, kind: str, **values: object) -> None:
        super().__init__(english(kind, values))
        self._kind = kind
        self._values = values

    @property
    def words(self) -> str:
        """The sentence for people."""
        return sentence(self._kind, **self._values)
