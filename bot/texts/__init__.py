"""Every sentence that people read, in one catalogue: a folder a language, a file an area; {names} are filled in.

What the agent and its phones say has its English with them (`agent/sentences.toml`, `devices/sentences.toml`) and its
translations here.

What language is spoken is a matter of the surroundings: whoever knows the person says `speaking`, and all that is
said below it, in tasks and threads that begin there too, is in that language.
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
"""Begins the keys of what the agent and its phones say by themselves."""
_OWN: Final = "bot."
"""Begins the kinds of sentences of this catalogue where they are values (`words`)."""
ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "zh")
"""The languages of the catalogue; the first is complete by rule and stands in where another has no sentence."""


def _read(language: str) -> Iterator[tuple[str, str]]:
    if language == ENGLISH:
        # What the agent and its phones say stands with them; here are its translations.
        for below in (AGENT_SENTENCES, PHONE_SENTENCES):
            yield from ((f"{AGENT}{kind}", text) for kind, text in below.items())
    for file in files(__name__).joinpath(language).iterdir():
        if file.name.endswith(".toml"):
            yield from flat(tomllib.loads(file.read_text(encoding="utf-8")))


@cache
def catalogue(language: str = ENGLISH) -> Mapping[str, str]:
    """The sentences of a language: dotted key → sentence with named placeholders. Read when it is first spoken."""
    return dict(_read(language))


_spoken: ContextVar[str] = ContextVar("spoken", default=ENGLISH)


def language_of(setting: str, locale: str) -> str:
    """The language for somebody whose platform names this locale, such as "zh-CN" or "en_GB" ("" when it names none).

    `setting` is a language, or "auto" to follow the locale as far as the catalogue knows it.
    """
    if setting in LANGUAGES:
        return setting
    spoken = locale.replace("_", "-").split("-")[0].lower()
    return spoken if spoken in LANGUAGES else ENGLISH


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Say everything in this language until the block ends; an unknown one is English."""
    before = _spoken.set(language if language in LANGUAGES else ENGLISH)
    try:
        with worded(_worded, _spoken.get()):
            yield
    finally:
        _spoken.reset(before)


def spoken() -> str:
    """The language that is spoken here."""
    return _spoken.get()


def say(key: str, **values: object) -> str:
    """The sentence for `key` with its placeholders filled. Raises KeyError for an unknown key or a missing value.

    Only the catalogue's own text is a format; braces inside the values stay as they are.
    """
    return (catalogue(_spoken.get()).get(key) or catalogue()[key]).format(**values)


def words(key: str, **values: object) -> Words:
    """The sentence as a value: English in the log and for programs, worded by `said` where a person reads it.

    For what is kept, logged or raised in one place and read in another. Raises as `say`.
    """
    return Words(catalogue()[key], f"{_OWN}{key}", values)


def _worded(kind: str, values: Mapping[str, object]) -> str:
    key = kind.removeprefix(_OWN) if kind.startswith(_OWN) else f"{AGENT}{kind}"
    return (catalogue(_spoken.get()).get(key) or catalogue()[key]).format(**values)


def counted(noun: str, number: int) -> str:
    """A number with its noun in the right form, such as "1 step" or "3 steps"."""
    return say(f"count.{noun}.{'one' if number == 1 else 'other'}", number=number)


def listed(items: Iterable[str]) -> str:
    """Names one after the other."""
    kept = [item for item in items if item]
    return reduce(lambda before, item: say("row.item", before=before, part=item), kept) if kept else ""


def paragraph(*sentences: str) -> str:
    """Sentences one after the other; empty ones are left out."""
    kept = [one for one in sentences if one]
    return reduce(lambda before, one: say("row.sentence", before=before, part=one), kept) if kept else ""
