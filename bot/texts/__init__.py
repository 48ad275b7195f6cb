"""The catalogue of all texts that people read: one folder for each language, one file for each area, with {names} as
placeholders.

The English texts of the agent and the devices are in their packages (`agent/sentences.toml`, `devices/sentences.toml`);
their translations are here.

The language is a context variable. Code that knows the person sets it with `speaking`; everything inside that block,
including asyncio tasks and threads that start there, uses the language.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, reduce
from importlib.resources import files
from typing import Final

from agent.wording import SENTENCES as AGENT_SENTENCES
from devices.wording import SENTENCES as PHONE_SENTENCES
from devices.wording import Words, flat, worded

AGENT: Final = "agent."
"""Prefix of the keys of texts that come from the agent and the devices."""
_OWN: Final = "bot."
"""Prefix of the keys of this catalogue's texts when they are used as values (`words`)."""
ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "zh")
"""The languages of the catalogue. The first is always complete; it is used where another has no translation."""


def _read(language: str) -> Iterator[tuple[str, str]]:
    if language == ENGLISH:
        # The English texts of the agent and the devices are in their packages; only translations are here.
        for below in (AGENT_SENTENCES, PHONE_SENTENCES):
            yield from ((f"{AGENT}{kind}", text) for kind, text in below.items())
    for file in files(__name__).joinpath(language).iterdir():
        if file.name.endswith(".toml"):
            yield from flat(tomllib.loads(file.read_text(encoding="utf-8")))


@cache
def catalogue(language: str = ENGLISH) -> Mapping[str, str]:
    """Return the texts of a language by dotted key; placeholders are named. A language is read at its first use."""
    return dict(_read(language))


_spoken: ContextVar[str] = ContextVar("spoken", default=ENGLISH)


def language_of(setting: str, locale: str) -> str:
    """Return the language for a person whose platform reports this locale, such as "zh-CN" or "en_GB" ("" if it reports
    none).

    `setting` is a language, or "auto" to follow the locale if the catalogue has its language.
    """
    if setting in LANGUAGES:
        return setting
    spoken = locale.replace("_", "-").split("-")[0].lower()
    return spoken if spoken in LANGUAGES else ENGLISH


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Use this language for all texts until the block ends. An unknown language means English."""
    before = _spoken.set(language if language in LANGUAGES else ENGLISH)
    try:
        with worded(_worded, _spoken.get()):
            yield
    finally:
        _spoken.reset(before)


def spoken() -> str:
    """Return the current language."""
    return _spoken.get()


def say(key: str, **values: object) -> str:
    """Return the text for `key` in the current language, with its placeholders filled in. Raises KeyError for an
    unknown key or a missing value.

    Only the catalogue's own text is a template; braces inside the values stay as they are.
    """
    return (catalogue(_spoken.get()).get(key) or catalogue()[key]).format(**values)


def words(key: str, **values: object) -> Words:
    """Return the text for `key` as a value that can be translated later: it is in English for the log and for programs,
    and `said` converts it to the current language where a person reads it.

    Used for texts that are stored, logged or raised in one place and read in another. Raises what `say` raises.
    """
    return Words(catalogue()[key], f"{_OWN}{key}", values)


def _worded(kind: str, values: Mapping[str, object]) -> str:
    key = kind.removeprefix(_OWN) if kind.startswith(_OWN) else f"{AGENT}{kind}"
    return (catalogue(_spoken.get()).get(key) or catalogue()[key]).format(**values)


def counted(noun: str, number: int) -> str:
    """Return a number with its noun in the right form, such as "1 step" or "3 steps". `noun` is a text key below
    `count`.
    """
    return say(f"count.{noun}.{'one' if number == 1 else 'other'}", number=number)


def listed(items: Iterable[str]) -> str:
    """Join the items to a list in the current language, such as "a, b". Empty items are left out."""
    kept = [item for item in items if item]
    return reduce(lambda before, item: say("row.item", before=before, part=item), kept) if kept else ""


def paragraph(*sentences: str) -> str:
    """Join the sentences to one paragraph in the current language. Empty ones are left out."""
    kept = [one for one in sentences if one]
    return reduce(lambda before, one: say("row.sentence", before=before, part=one), kept) if kept else ""
