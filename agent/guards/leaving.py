"""Checks whether a text that leaves the phone contains private words: of apps, notes, remembered facts, documents or
the person.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_plus

from agent.guards.lexicon import Lexicon
from agent.guards.rules import fits
from agent.guards.seen_words import Seen, Unit, bare_address, is_search, names_of, number, numbers_of, split, units_of
from agent.guards.touch_target import TouchTarget
from agent.guards.web_address import read_address
from agent.wording import words
from devices.phone import Element
from devices.wording import Words

MANY_WORDS: Final = 3
"""How many words of one app in a text are too many to be chance, even if no two are adjacent in both."""
SENTENCE: Final = 6
"""How many consecutive words of the person count as a copied sentence. This also applies to browsers, whose own words
are public.
"""
CODED: Final = 24
"""The minimum number of characters of an unreadable value that counts as suspicious, if it appeared nowhere before."""
MAX_NAMED: Final = 6
"""How many of the private words a person is shown."""
MAX_TEXT, OVERLAP, DEPTH, PIECES = 4000, 200, 3, 512
"""How many letters of a text are read at a time, how many overlap with the next piece, how often it is decoded, and
into how many pieces at most.
"""
BROWSERS: Final = (
    "*browser*", "*chrome*", "org.mozilla.*", "com.microsoft.emmx", "com.opera.*", "*duckduckgo*", "com.brave.*",
    "com.vivaldi.*", "com.ucmobile*", "*quicksearchbox", "com.ecosia.*", "com.microsoft.bing",
)  # fmt: skip
LOCAL: Final = (
    "com.android.[!v]*", "com.android.vpn*", "com.samsung.android.*", "com.google.android.contacts",
    "com.google.android.dialer", "com.google.android.deskclock", "com.google.android.calendar",
    "com.google.android.documentsui", "com.google.android.apps.nbu.files",
)  # fmt: skip
"""Apps of the phone itself, whose searches stay on it; com.android.vending is a shop."""
ENGINES: Final = {"google", "bing", "duckduckgo", "baidu", "yandex", "ecosia", "yahoo", "startpage", "sogou", "youtube"}
"""Search engines, where the person's own words may be looked up."""
_LOOKS_CODED: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2}){4,}")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]+")
_WITH_SCHEME: Final = re.compile(
    r"[a-z][a-z0-9+.-]*:(?=[/\\])"
    r"|(?:https?|about|content|data|file|geo|intent|javascript|mailto|market|mmsto?|smsto?|tel|upi|view-source):(?=\S+\Z)",
    re.IGNORECASE,
)
"""The start of an address typed with its scheme; `site:` and `define:` are search operators."""
_NAME_TYPED: Final = re.compile(r"(?:\S*@)?(?:[^\s/\\?#:]+[.。．])+(?:xn--\S+|[^\W\d]{2,})\.?(?:[/\\:?#]\S*)?")
_PLACE_TYPED: Final = re.compile(r"[^\s/\\?#:]+(?::\d+(?:[/\\?#]\S*)?|[/\\])")
"""A single word before a port or a final slash, which is a host: `router/`. `and/or` is a search term."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The texts from which the words of a run may come.

    `seen` is what each app showed and `said` what the person wrote. `notes`, `memory` (remembered facts) and
    `documents` (passages of the operator's documents) are texts. `released_texts` are pairs of an app's package and a
    text that a person allowed to go there in this run.
    """

    seen: Seen = field(default_factory=dict)
    said: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    released_texts: tuple[tuple[str, str], ...] = ()

    def allowed_in(self, package: str) -> tuple[str, ...]:
        """Return the texts whose words may go into this app: what the person wrote, and what they allowed to
        go there.
        """
        return (*self.said, *(text for app, text in self.released_texts if app == package))


def address_carries(url: str, sources: Sources) -> Words | None:
    """Return why a person must be asked before this address is opened; None if it contains nothing private.

    An address that the person gave may always be opened. One that an app showed as a whole contains nothing private of
    that app.
    """
    url = url.strip()
    if _addresses(url) & numbers_of((*sources.said, *(text for _, text in sources.released_texts))):
        return None
    texts = _decoded(_telling_part(url))
    if reason := _carried(texts, sources, whole=_addresses(url), onto=""):
        return reason
    if not _is_asked_for(url, sources) and _copied(texts, sources.said):
        return words("reason.carries_said", words=_listed(_said_words(texts, sources.said)))
    stood = any(_addresses(url) & set(split(app["units"])) for app in sources.seen.values())
    if not stood and any(_is_coded(value, sources) for value in _values(url)):
        return words("reason.carries_coded")
    return None


def query_carries(query: str, sources: Sources) -> Words | None:
    """Return why a person must be asked before the service searches the web for this query; None if it contains nothing
    private.
    """
    return _carried(_decoded(query), sources, whole=frozenset(), onto="")


def typed_carries(text: str, spot: TouchTarget, sources: Sources, lexicon: Lexicon, *, sends: bool) -> Words | None:
    """Return why a person must be asked before this text is typed into the field at `spot`; None if it stays on the
    phone or contains nothing private.

    Web pages, browsers and searches transmit text while it is typed; other apps only if the action `sends` it.
    """
    target = spot.target if spot.target is not None and spot.target.editable else spot.focused_field
    if not _goes_out(spot, target, lexicon, sends=sends):
        return None
    written = target.text if target is not None and not target.password and target.text != target.hint else ""
    browser = _is_web(spot, target)
    texts = _decoded(f"{written} {text}" if written else text)
    whole = _addresses(text) if is_address(text) else frozenset()
    return _carried(texts, sources, whole=whole, onto=spot.package, named=not browser)


def is_address(text: str) -> bool:
    """Whether a browser treats this text as an address, not as a search."""
    text = text.strip()
    if _WITH_SCHEME.match(text):
        return True
    if not text or re.search(r"\s", text):
        return False
    try:
        address = read_address(text)
    except ValueError:
        return False
    if address.number is not None and not text.isdecimal():
        return True
    return address.host == "localhost" or bool(_NAME_TYPED.fullmatch(text) or _PLACE_TYPED.fullmatch(text))


def is_browser(package: str) -> bool:
    """Whether the app with this package shows web pages."""
    return fits(package.casefold(), BROWSERS)


def _goes_out(spot: TouchTarget, target: Element | None, lexicon: Lexicon, *, sends: bool) -> bool:
    if _is_web(spot, target):
        return True
    if fits(spot.package, LOCAL):
        return False
    return sends or (target is not None and is_search(target, lexicon))


def _is_web(spot: TouchTarget, target: Element | None) -> bool:
    if is_browser(spot.package):
        return True
    return target is not None and any(
        e.class_name.endswith("WebView") and e.bounds.holds(target.bounds.centre) for e in spot.around
    )


def _carried(
    texts: tuple[str, ...], sources: Sources, *, whole: frozenset[str], onto: str, named: bool = False
) -> Words | None:
    """Return the first app, or the notes, whose words these texts carry, as a reason. `whole` is the address itself and
    `onto` the app it is typed into. With `named`, a person who named both apps has asked for it.
    """
    allowed = sources.allowed_in(onto) if onto else sources.said
    own, said = numbers_of(allowed), _tokens(allowed)
    units = [u for text in texts for u in units_of(text) if u.number not in own and not said.issuperset(u.words)]
    if not units:
        return None
    for package, app in sources.seen.items():
        have = set(split(app["units"]))
        if package == onto or (whole & have) or (is_browser(package) and is_browser(onto)):
            continue
        if named and _names(sources, app["name"]) and _names(sources, names_of(sources.seen, onto)):
            continue
        public = is_browser(package)
        if found := _enough(units, have, texts, said, public=public):
            return words("reason.carries", app=app["name"], words=_listed(found))
    for texts_of, reason in (
        (sources.notes, "reason.carries_notes"),
        (sources.memory, "reason.carries_memory"),
        (sources.documents, "reason.carries_documents"),
    ):
        kept = numbers_of(texts_of)
        if not (whole & kept) and (found := _enough(units, kept, texts, said)):
            return words(reason, words=_listed(found))
    return None


def _enough(
    units: list[Unit], have: set[str] | frozenset[str], texts: tuple[str, ...], said: set[str], *, public: bool = False
) -> list[str]:
    """Return the known words among these units if there are enough to prove copying."""
    found = [unit for unit in units if unit.number in have and unit.kind != "address"]
    single = dict.fromkeys(unit.words[0] for unit in found if unit.kind == "word")
    telling = [u for u in found if u.kind == "mark" or (u.kind == "pair" and said.isdisjoint(u.words))]
    if public:
        telling = [u for u in telling if u.kind == "mark" and u.words[0].isdigit()]
    many = SENTENCE if public else MANY_WORDS
    if telling or len(single) >= many:
        return list(dict.fromkeys([*(word for unit in telling for word in unit.words), *single]))
    glued = [] if public else _glued(texts, have, said)
    return glued if len(glued) >= MANY_WORDS else []


def _glued(texts: tuple[str, ...], have: set[str] | frozenset[str], said: set[str]) -> list[str]:
    """Find words that were written together: "milkEggsBread", "milkeggsbread"."""
    found: dict[str, None] = {}
    for text in texts:
        for run in _LETTER_OR_DIGIT.findall(text)[:PIECES]:
            if len(run) < 12 or len(run) > 120:
                continue
            for part in _PARTS.findall(run):
                if part != run and _known(part.lower(), have):
                    found.setdefault(part.lower())
            at, low = 0, run.lower()
            while at < len(low):
                size = next((n for n in range(14, 3, -1) if _known(low[at : at + n], have)), 0)
                if size:
                    found.setdefault(low[at : at + size])
                at += size or 1
    return [word for word in found if word not in said]


def _known(word: str, have: set[str] | frozenset[str]) -> bool:
    return any(unit.kind == "word" and unit.words == (word,) and unit.number in have for unit in units_of(word))


def _names(sources: Sources, app: str) -> bool:
    """Whether the person has named this app."""
    return bool(app) and any(app.casefold() in text.casefold() for text in sources.said)


def _addresses(url: str) -> frozenset[str]:
    return frozenset({number("address", bare_address(url))})


def _telling_part(url: str) -> str:
    """Return the part of an address that can be chosen freely: all but the last two labels of the host."""
    try:
        parts = read_address(url)
    except ValueError:
        return url
    below = [_in_letters(part) for part in parts.host.split(".")[:-2] if part != "www"]
    return " ".join([*below, parts.user, parts.path, parts.query, parts.fragment])


def _in_letters(label: str) -> str:
    """Return a host label as people read it, or unchanged if it is not valid punycode."""
    try:
        return label[4:].encode().decode("punycode") if label.startswith("xn--") else label
    except UnicodeError:
        return label


def _values(url: str) -> Iterator[str]:
    """Yield each value and each path segment, decoded once."""
    for part in re.split(r"[/?&#;=]", url.partition("://")[2] or url)[1:]:
        yield unquote_plus(part)


def _is_coded(value: str, sources: Sources) -> bool:
    """Whether it is a long unreadable string that neither the person said nor an app showed."""
    run = max(re.findall(r"[A-Za-z0-9+/_=.~-]+", value), key=len, default="")
    if len(run) < CODED:
        return False
    parts = _LETTER_OR_DIGIT.findall(run)
    if max(map(len, parts), default=0) < CODED // 2:
        return False  # a title: words joined by hyphens or underscores
    longest = max(parts, key=len)
    mixed = sum(any(test(sign) for sign in longest) for test in (str.isdigit, str.islower, str.isupper)) > 1
    if not mixed:
        return False
    told = " ".join(sources.said)
    shown = numbers_of([longest])
    return longest not in told and not any(shown & set(split(app["units"])) for app in sources.seen.values())


def _decoded(text: str) -> tuple[str, ...]:
    """Return the text and all its decodings: percent, base 64, base 16, and these in each other."""
    starts = range(0, max(len(text) - OVERLAP, 1), MAX_TEXT - OVERLAP)
    found: dict[str, None] = dict.fromkeys(text[at : at + MAX_TEXT] for at in starts)
    fresh = list(found)
    for _ in range(DEPTH):
        fresh = [each for old in fresh for each in _once_decoded(old) if each not in found][:PIECES]
        found.update(dict.fromkeys(fresh))
    return tuple(found)


def _once_decoded(text: str) -> Iterator[str]:
    plain = unquote_plus(text)
    if plain != text:
        yield plain
    for run in _LOOKS_CODED.findall(plain)[:PIECES]:
        stripped = run.rstrip("=").replace("-", "+").replace("_", "/")
        for candidate in {stripped, *stripped.split("/")}:
            if len(candidate) >= 8:
                yield from _readable(_from_base64(candidate))
    for run in _HEX.findall(plain)[:PIECES]:
        yield from _readable(bytes.fromhex(run))


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _readable(data: bytes) -> Iterator[str]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    if text and all(sign.isprintable() or sign.isspace() for sign in text):
        yield text


def _is_asked_for(url: str, sources: Sources) -> bool:
    """Whether the person named this host, or it is a search engine."""
    try:
        host = read_address(url).host
    except ValueError:
        return False
    labels = {label for label in host.split(".")[:-1] if len(label) > 2 and label != "www"}
    return bool(labels & ENGINES) or not labels.isdisjoint(_tokens(sources.said))


def _copied(texts: tuple[str, ...], own: Iterable[str]) -> bool:
    """Whether one of these texts contains a sentence of the person, word by word."""
    sentences = [f" {' '.join(_ordered(each))} " for each in own]
    for text in texts:
        tokens = _ordered(text)
        for at in range(len(tokens) - SENTENCE + 1):
            run = f" {' '.join(tokens[at : at + SENTENCE])} "
            if any(run in sentence for sentence in sentences):
                return True
    return False


def _said_words(texts: tuple[str, ...], own: Iterable[str]) -> list[str]:
    said = _tokens(own)
    return [token for token in _ordered(texts[-1]) if token in said]


def _ordered(text: str) -> list[str]:
    return _LETTER_OR_DIGIT.findall(text.casefold())


def _tokens(texts: Iterable[str]) -> set[str]:
    texts = tuple(texts)
    folded = {word for text in texts for unit in units_of(text) for word in unit.words}
    return folded | {token for text in texts for token in _ordered(text)}


def _listed(found: list[str]) -> str:
    shown = ", ".join(found[:MAX_NAMED])
    return f"{shown} …" if len(found) > MAX_NAMED else shown
