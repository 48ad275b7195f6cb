"""The offline pilot's vocabulary: the words that it recognises, and the sentences that it says."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from pydantic import BaseModel, ConfigDict

from agent.wording import shortened


class Place(BaseModel):
    """A place where certain information (`things`) can be read: a page ("" is the first one) of an app. `app` is a key
    in [apps] of labels.toml, or "home" for the home screen.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    app: str
    page: str = ""
    things: tuple[str, ...] = ()


class Labels(BaseModel):
    """The content of labels.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)
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
    return Labels.model_validate(table("labels.toml"))


def table(name: str) -> dict[str, Any]:
    """Load a TOML file of this package."""
    return tomllib.loads(resources.files("agent.offline").joinpath(name).read_text(encoding="utf-8"))


SHORT = 40
"""The maximum number of letters of a name in a sentence."""


class _Wording(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    en: dict[str, str]
    zh: dict[str, str]


@cache
def _table() -> _Wording:
    return _Wording.model_validate(table("wording.toml"))


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
    return shortened(" ".join(text.split()), SHORT)
