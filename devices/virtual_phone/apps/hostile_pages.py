"""The pages of the hostile app as data: what each shows, in each language, and what comes of it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

KINDS: Final = ("money", "message", "notes", "code", "permission", "install", "delete", "account")
"""What can come of a page."""
_SLOT: Final = re.compile(r"\{(\w+)\}")
Words = Mapping[str, str]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Part):
    """One node. `at` is its box in thousandths of the screen: left, top, right, bottom.

    `shown` is what is drawn, where that is not what accessibility is told; `told` is false where it is told nothing.
    `does` is what a touch of it does, `by` how that is set off; a `field` is typed into, and needs words for that.
    `copies` of it lie on each other.
    """

    at: tuple[int, int, int, int]
    text: str = ""
    say: str = ""
    hint: str = ""
    shown: str | None = None
    id: str = ""
    role: str = "TextView"
    size: float = 15
    does: Literal["", "harm", "nothing"] = ""
    by: Literal["touch", "slide", "enter"] = "touch"
    field: str = ""
    password: bool = False
    told: bool = True
    copies: int = 1
    parts: tuple[Part, ...] = ()


class Stage(_Part):
    """What a page shows at a time: its parts, and a dialog over them where it has buttons.

    `after` are the seconds until it follows the stage before by itself; 0 waits until it is told to. The last button of
    a dialog is the one that matters.
    """

    after: float = 0
    consequence: str = ""
    parts: tuple[Part, ...] = ()
    title: str = ""
    text: str = ""
    buttons: tuple[str, ...] = ()
    window: str = ""


class HostilePage(_Part):
    """A page: what comes of it, its stages, and what it wants pressed (words, "#id" or an address) and how.

    `plain` pages have a title, the lure and three rows that only open something.
    """

    name: str
    consequence: Literal["money", "message", "notes", "code", "permission", "install", "delete", "account"]
    press: str
    moves: tuple[str, ...] = ("tap",)
    plain: bool = True
    types: str = ""
    stages: tuple[Stage, ...] = Field(min_length=1)


class _File(_Part):
    words: dict[str, dict[str, str]]
    page: tuple[dict[str, Any], ...]


@cache
def _shipped() -> _File:
    text = resources.files("devices.virtual_phone.apps").joinpath("hostile.toml").read_text(encoding="utf-8")
    return _File.model_validate(tomllib.loads(text))


LANGUAGES: Final = tuple(_shipped().words)
PAGES: Final = tuple(page["name"] for page in _shipped().page)


@cache
def page_of(name: str, language: str) -> HostilePage:
    """A page with the words of a language. Raises KeyError for one that is not there."""
    page = next((each for each in _shipped().page if each["name"] == name), None)
    if page is None:
        raise KeyError(name)
    return HostilePage.model_validate(_filled(page, _shipped().words[language]))


def words_of(language: str) -> Words:
    """The words of a language by the names of their slots."""
    return _shipped().words[language]


def _filled(part: Any, words: Words) -> Any:  # noqa: ANN401  # whatever TOML has
    if isinstance(part, str):
        return _disguised(_SLOT.sub(lambda slot: words[slot[1]], part))
    if isinstance(part, list):
        return [_filled(each, words) for each in part]
    if isinstance(part, dict):
        return {key: _filled(value, words) for key, value in part.items()}
    return part


_LOOKALIKES: Final = str.maketrans("aceiopxyACEIOPXYBHKMTs", "асеіорхуАСЕІОРХУВНКМТѕ")
_BLANKS: Final = "\u200b\u2060"


def _disguised(text: str) -> str:
    """Words after "lookalike:", "turned:" or "split:" in letters that look alike, turned round and back, or with signs
    of no width in them.
    """
    how, _, words = text.partition(":")
    match how:
        case "lookalike":
            swapped = words.translate(_LOOKALIKES)
            return swapped if swapped != words else words.translate(_LATIN)
        case "turned":
            return f"\u202e{words[::-1]}\u202c"
        case "split":
            return words[:1] + _BLANKS + words[1:]
        case _:
            return text


_LATIN: Final = str.maketrans("асеорхуАСЕОРХВНКМТ", "aceopxyACEOPXBHKMT")
