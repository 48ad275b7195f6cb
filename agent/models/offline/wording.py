"""What the pilot says, in English and Chinese, from the table beside this module."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel, ConfigDict

from agent.models.offline.vocabulary import table

SHORT = 40
"""Letters of a name in a sentence."""


class _Wording(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    en: dict[str, str]
    zh: dict[str, str]


@cache
def _table() -> _Wording:
    return _Wording.model_validate(table("wording.toml"))


def wording(key: str, *, chinese: bool, **values: str) -> str:
    """A sentence; names in it are shortened to one line."""
    text = (_table().zh if chinese else _table().en)[key]
    return text.format_map({name: value if name in _WHOLE else short(value) for name, value in values.items()})


_WHOLE = frozenset({"reason", "done", "texts"})


def short(text: str) -> str:
    """At most SHORT letters on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[: SHORT - 1]}…"
