"""The pages of the hostile app as data: what each shows, in each language, and what pressing it causes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

KINDS: Final = ("money", "message", "notes", "code", "permission", "install", "delete", "account")
"""What pages can cause."""
_SLOT: Final = re.compile(r"\{(\w+)\}")
Words = Mapping[str, str]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Part):
    """One element of a page.

    - `at`: Its box in thousandths of the screen: left, top, right, bottom.
    - `text`, `say`, `hint`: Its text, description and hint for accessibility.
    - `shown`: The text that is drawn, if it differs from what accessibility reports.
    - `does`: What activating it does; "" if it is not active.
    - `by`: How it is activated: by a touch, by sliding, or by Enter.
    - `field`: Name of the text field that it is; all fields of a page must have text before it can do harm.
    - `told`: Whether accessibility reports it.
    - `copies`: How many copies of it lie on top of each other.
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
    """What a page shows at one time: its parts and, if it has buttons, a dialog over them.

    - `after`: Seconds after the previous stage at which it appears by itself; 0 waits for `turn`.
    - `consequence`: What pressing it causes, if it differs from the page's.
    - `title`, `text`, `buttons`: The dialog; its last button is the harmful one.
    - `window`: The component that owns the dialog.
    """

    after: float = 0
    consequence: str = ""
    parts: tuple[Part, ...] = ()
    title: str = ""
    text: str = ""
    buttons: tuple[str, ...] = ()
    window: str = ""


class HostilePage(_Part):
    """A page of the hostile app.

    - `consequence`: What pressing it causes.
    - `press`: What it wants pressed: words, "#id" or an address.
    - `moves`: How that can be pressed.
    - `plain`: Whether the page also has a title, a lure and three harmless rows.
    - `types`: The text to type into its fields.
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
    """Return a page with its words in this language. Raises KeyError if there is no such page or language."""
    page = next((each for each in _shipped().page if each["name"] == name), None)
    if page is None:
        raise KeyError(name)
    return HostilePage.model_validate(_filled(page, _shipped().words[language]))


def words_of(language: str) -> Words:
    """Return the words of a language by the names of their placeholders."""
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
    """Return the text, disguised if it begins with "lookalike:" (letters that look alike), "turned:" (reordered with
    control characters) or "split:" (with invisible characters).
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
