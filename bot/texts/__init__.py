"""Every sentence that people read, in one catalogue: the folder `en`, a file an area; {names} are filled in."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final


def _flat(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        key = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{key}.")
        else:
            yield key, str(value).strip()


def _read(language: str) -> Iterator[tuple[str, str]]:
    for file in files(__name__).joinpath(language).iterdir():
        if file.name.endswith(".toml"):
            yield from _flat(tomllib.loads(file.read_text(encoding="utf-8")))


CATALOGUE: Final[Mapping[str, str]] = dict(_read("en"))
"""Dotted key → sentence with named placeholders."""


def say(key: str, **values: object) -> str:
    """The sentence for `key` with its placeholders filled. Raises KeyError for an unknown key or a missing value.

    Only the catalogue's own text is a format; braces inside the values stay as they are.
    """
    return CATALOGUE[key].format(**values)


def counted(noun: str, number: int) -> str:
    """A number with its noun in the right form, such as "1 step" or "3 steps"."""
    return say(f"count.{noun}.{'one' if number == 1 else 'other'}", number=number)
