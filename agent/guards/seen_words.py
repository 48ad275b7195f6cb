"""Remembers what each app showed in a run, so that its words are recognised when they leave the phone. Short hashes are
stored instead of the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Final, Literal, TypedDict

from agent.guards.lexicon import Lexicon, tables
from agent.guards.rules import fits, shipped
from agent.guards.words import plain
from devices.phone import Element, Observation

MAX_UNITS: Final = 6000
"""How many units per app are kept, the newest: as many as the longest text for a model has, in a script
without spaces.
"""
MAX_APPS: Final = 12
"""How many apps of one run are kept, those seen last."""
MAX_PIECE: Final = 4000
"""How many letters are searched at once, because the time of some patterns grows quadratically."""
OVERLAP: Final = 200
"""How many letters the pieces of a text overlap, so that a word at an edge is whole in one of them."""
MAX_TEXT: Final = 12_000
"""The maximum letters of one text; at most 10,000 are typed at once, and fewer are read or copied."""
LABELS_KEPT: Final = 1024
"""How many labels' units are cached, about those of the last dozen screens."""
DIGITS: Final = 8
"""Hexadecimal digits of a unit's hash; one in 60,000 comparisons with everything that is kept is a false match."""
PAIR_LETTERS, WORD_LETTERS, MARK_SIGNS, NUMBER_DIGITS = 3, 4, 6, 4
"""The minimum lengths of a word in a pair, a single word, a mix of letters and digits, and a number; shorter ones
identify nothing.
"""
HOMES: Final = ("*launcher*", "com.miui.home", "*.home")
"""Package patterns of home screens, where single words are only names of apps."""
_TOKEN: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"\d[\d .,()/-]*\d")
_DATE: Final = re.compile(r"(?:19|20)\d\d[-./ ]?\d\d?[-./ ]?\d\d?|\d\d?[-./ ]\d\d?[-./ ](?:19|20)?\d\d|(?:19|20)\d\d")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts without spaces between words."""
_ADDRESS: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|www\.)\S+|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/\S*", re.IGNORECASE
)
_SCHEME: Final = re.compile(r"\A(?:https?://)?(?:www\.)?", re.IGNORECASE)

Kind = Literal["word", "pair", "mark", "address"]


class SeenApp(TypedDict):
    """What one app showed: its name, and the hashes of its units joined in one string, oldest first."""

    name: str
    units: str


Seen = dict[str, SeenApp]
"""What each app showed, by package; the app that was seen last is the last entry."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A recognisable piece of text: an uncommon word, two adjacent ones, a number or code ("mark"), or a whole address.
    `number` is the hash that stands for it.
    """

    kind: Kind
    words: tuple[str, ...]
    number: str


def with_seen(seen: Seen, screen: Observation, lexicon: Lexicon) -> Seen:
    """Return what was seen with the words of this screen added.

    Its secrets must already be covered. Password and search fields are left out; the latter contain what somebody
    searches for.
    """
    labels = (
        label
        for element in screen.elements or ()
        if not element.password and not (element.editable and is_search(element, lexicon))
        for label in {element.text, element.description}
    )
    return with_words(seen, screen.package, screen.app_name, labels)


def with_words(seen: Seen, package: str, name: str, labels: Iterable[str]) -> Seen:
    """Return what was seen with these labels added, which the app `package`, called `name`, showed."""
    home = fits(package, HOMES)
    shown = [unit.number for label in labels if label for unit in units_of(label) if not (home and unit.kind == "word")]
    if not shown:
        return seen
    known = seen.get(package, {"name": "", "units": ""})
    before = split(known["units"])
    fresh = set(shown)
    rest = [each for each in before if each not in fresh]
    numbers = [*rest, *dict.fromkeys(shown)][-MAX_UNITS:]
    app: SeenApp = {"name": name or known["name"] or package, "units": "".join(numbers)}
    others = [(each, data) for each, data in seen.items() if each != package]
    return dict([*others, (package, app)][-MAX_APPS:])


def split(units: str) -> list[str]:
    """Split an app's joined unit hashes into a list."""
    return [units[at : at + DIGITS] for at in range(0, len(units), DIGITS)]


def is_search(field: Element, lexicon: Lexicon) -> bool:
    """Whether a field is for searches or addresses, judging by its hint, description or id."""
    words = (field.hint, field.description, field.short_id.replace("_", " "))
    return any(lexicon.read(each).search for each in words if each)


def numbers_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the hashes of all units in these texts."""
    return frozenset(unit.number for text in texts for unit in units_of(text))


def units_of(text: str) -> tuple[Unit, ...]:
    """Return all recognisable units of a text."""
    if len(text) <= MAX_PIECE:
        return _units_of(text)
    starts = range(0, min(len(text), MAX_TEXT) - OVERLAP, MAX_PIECE - OVERLAP)
    return tuple(dict.fromkeys(unit for at in starts for unit in _units_of(text[at : at + MAX_PIECE])))


@lru_cache(LABELS_KEPT)
def _units_of(text: str) -> tuple[Unit, ...]:
    addresses = [
        Unit("address", (each,), number("address", each)) for each in map(bare_address, _ADDRESS.findall(text))
    ]
    return (*addresses, *_units(text))


def _units(text: str) -> Iterator[Unit]:
    for found in _NUMBER.findall(text):
        digits = re.sub(r"\D", "", found)
        if len(digits) > NUMBER_DIGITS and not _DATE.fullmatch(found):
            yield Unit("mark", (digits,), number("mark", digits))
    rare: list[str] = []
    for token in _TOKEN.findall(plain(text.lower())):
        if _UNSPACED.search(token):
            grams = (token[at : at + 3] for at in range(len(token) - 2))
            yield from (Unit("word", (gram,), number("word", gram)) for gram in grams if gram not in usual_words())
        elif is_mark(token):
            yield Unit("mark", (token,), number("mark", token))
        elif len(token) >= PAIR_LETTERS and token.isalpha() and token not in usual_words():
            rare.append(token)
            if len(token) >= WORD_LETTERS:
                yield Unit("word", (token,), number("word", token))
    for pair in pairwise(rare):
        if pair[0] != pair[1]:
            yield Unit("pair", pair, number("pair", " ".join(pair)))


def is_mark(token: str) -> bool:
    """Whether a word is a number or code that identifies one thing. Years and dates do not count."""
    digits = sum(map(str.isdigit, token))
    if digits == len(token):
        return digits >= NUMBER_DIGITS and not _DATE.fullmatch(token)
    return digits > 1 and len(token) >= MARK_SIGNS


def bare_address(address: str) -> str:
    """Return an address in the form in which addresses are compared, without the parts that browsers hide."""
    return _SCHEME.sub("", address.strip().rstrip(".,;:!?)]}>\"'")).rstrip("/")


@lru_cache(8192)
def number(kind: str, words: str) -> str:
    """Return the hash that stands for a unit of this kind with these words."""
    return blake2b(f"{kind} {words}".encode(), digest_size=DIGITS // 2).hexdigest()


@cache
def usual_words() -> frozenset[str]:
    """Return the common words, which do not identify anything: those of buttons and titles, from the language tables
    and the shipped rules.
    """
    labels = (word for table in tables().values() for words in table.values() for word in words)
    rules = (word for rule in shipped().approve.values() for word in (*rule.labels, *rule.statements))
    return frozenset(token for word in (*labels, *rules) for token in _TOKEN.findall(plain(word)))


def names_of(seen: Mapping[str, SeenApp], package: str) -> str:
    """Return the name of an app that was seen; its package if it was not."""
    app = seen.get(package)
    return app["name"] if app is not None else package
