"""Judges what would leave the phone: what opening an address would start, and whether the task's own words ask for a
file to be sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import parse_qsl

from agent.guards.rules import FileKind, Files, Urls
from agent.guards.web_address import PAGES, WebAddress, decoded, is_public_host, read_address
from agent.guards.words import CHINESE, folded, mentions
from agent.wording import words
from devices.wording import Words

EFFECTS: Final = ("pay", "sign_in", "send", "call", "download")
"""The policy's lists of addresses, by effect; each has its own reason to ask."""


def address_reason(url: str, rules: Urls) -> Words | None:
    """Return why a person must be asked before this address is opened; None if its form gives no reason."""
    try:
        address = read_address(url)
    except ValueError:
        return words("reason.address_odd")
    for effect in EFFECTS:
        if any(_is_one(address, entry) for entry in getattr(rules, effect)):
            return words(f"reason.address_{effect}", place=address.host or f"{address.scheme}:")
    if address.scheme and address.scheme not in PAGES:
        return None if address.scheme in rules.shows else words("reason.address", scheme=address.scheme)
    if address.scheme and not is_public_host(address.number or address.host):
        return words("reason.address_private", host=address.host)
    return words("reason.address_user", host=address.host) if address.user else None


def _is_one(address: WebAddress, entry: str) -> bool:
    """Whether an address matches a policy entry: `scheme:`, a filename's `.ending`, or `host/path?key=value`. The path
    may continue, the host may have subdomains, and * matches anything.
    """
    entry = entry.casefold()
    if entry.endswith(":"):
        return address.scheme == entry[:-1]
    if address.scheme not in PAGES:
        return False
    if entry.startswith("."):
        return _has_file(address, entry)
    place, _, query = entry.partition("?")
    host, _, path = place.partition("/")
    labels, wanted, have = address.host.split("."), path.split("/") if path else [], _segments(address.path)
    return (
        any(fnmatchcase(".".join(labels[at:]), host) for at in range(len(labels)))
        and len(have) >= len(wanted)
        and all(map(fnmatchcase, have, wanted))
        and all(any(fnmatchcase(given, each) for given in _pairs(address.query)) for each in _pairs(query))
    )


def _segments(path: str) -> list[str]:
    """Return the segments of a path as a browser requests them, with . and .. resolved."""
    found: list[str] = []
    for part in decoded(path).casefold().replace("\\", "/").split("/"):
        if part == "..":
            del found[-1:]
        elif part not in {"", "."}:
            found.append(part)
    return found


def _pairs(query: str) -> list[str]:
    return [f"{key}={value}".casefold() for key, value in parse_qsl(query, keep_blank_values=True)]


def _has_file(address: WebAddress, ending: str) -> bool:
    """Whether a filename with this ending is in the path or is a query value; values with spaces are search terms."""
    values = [value for _, value in parse_qsl(address.query, keep_blank_values=True) if " " not in value.strip()]
    name = re.compile(rf"{re.escape(ending)}\.*(?![\w.-])")
    return any(name.search(decoded(each).casefold()) for each in (address.path, *values))


_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)|[\n。；！？]")
_NAMED = re.compile(r"\w\.[A-Za-z0-9]{1,5}(?![A-Za-z0-9.])")
"""The end of a file name. A sentence that contains one is about that file only."""
_MADE_NAME = re.compile(
    r"(?:screenshot|screen.?record|img|pxl|mvimg|vid|dsc|dscn|dcim|photo|image|picture|video|rec|recording)?[\W_\d]"
    r"|(?:screenshot|screen.?record)",
    re.IGNORECASE,
)
"""The beginnings of names given by a camera or the phone, which say nothing about a file's content."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CHINESE_RUN = re.compile(r"[\u3400-\u9fffA-Za-z0-9_-]*\Z")


def asked_for(path: str, task: str, rules: Files) -> bool:
    """Whether one sentence of the task asks for this file to be sent, by its name or by its kind.

    Words next to the kind ("the invoice file", "the photo in Download") must occur in the file's name or folders.
    `task` must only contain what the person wrote, no words of a model or screen. `rules` are the policy's words.
    """
    return any(_asks(sentence, PurePosixPath(path), rules) for sentence in _SENTENCE_END.split(task))


def _asks(sentence: str, path: PurePosixPath, rules: Files) -> bool:
    if any(mentions(sentence, word) for word in rules.negations):
        return False
    if not all(any(mentions(sentence, word) for word in words) for words in (rules.verbs, rules.here)):
        return False
    if _NAMED.search(sentence):
        name = re.escape(path.name.casefold())
        return re.search(rf"(?<![a-z0-9_.-]){name}(?!\.?[a-z0-9_])", sentence.casefold()) is not None
    return any(_is_of(kind, sentence, path, rules) for kind in rules.kinds)


def _is_of(kind: FileKind, sentence: str, path: PurePosixPath, rules: Files) -> bool:
    if kind.suffixes and path.suffix.lstrip(".").casefold() not in kind.suffixes:
        return False
    named = [_mentions(sentence, word, rules) for word in kind.words if mentions(sentence, word)]
    return any(_fits(each, kind, path) for groups in named for each in groups)


def _fits(named: tuple[list[str], list[str]], kind: FileKind, path: PurePosixPath) -> bool:
    """Whether a file matches the words next to its kind and the words for its place."""
    what, where = named
    if not kind.suffixes and not (what or where):
        return False  # "the file" can be any of them
    within = folded(str(path.parent))
    called = folded(path.stem)
    told = bool(kind.suffixes) and _MADE_NAME.match(path.stem) is not None
    return (told or not what or any(_stem(word) in f"{within}/{called}" for word in what)) and (
        not where or any(_stem(word) in within for word in where)
    )


def _mentions(sentence: str, kind: str, rules: Files) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each mention of this kind of file: the words that say which one, and those that say where."""
    text = folded(sentence)
    if CHINESE.search(kind):
        for found in re.finditer(re.escape(folded(kind)), text):
            yield _chinese(text[: found.start()], rules), []
        return
    for found in re.finditer(rf"\b{re.escape(folded(kind))}\b", text):
        before = _until(rules.bounds, reversed(_WORD.findall(text[: found.start()])))
        after = _WORD.findall(text[found.end() :])
        beside = _until((*rules.bounds, *rules.places, *rules.relations), after)
        rest = after[len(beside) :]
        more = _until(rules.verbs, rest[1:]) if rest and rest[0] in (*rules.places, *rules.relations) else []
        where = more if rest and rest[0] in rules.places else []
        yield _telling((*before, *beside, *([] if where else more)), rules), _telling(where, rules)


def _until(ends: tuple[str, ...], words: Iterable[str]) -> list[str]:
    return list(takewhile(lambda word: word not in ends, words))


def _telling(words: Iterable[str], rules: Files) -> list[str]:
    return [word for word in words if word not in rules.plain and word not in rules.bounds]


def _chinese(before: str, rules: Files) -> list[str]:
    run = _CHINESE_RUN.search(before)
    words = sorted((word for word in (*rules.plain, *rules.bounds, *rules.verbs) if CHINESE.search(word)), key=len)
    rest = re.sub("|".join(map(re.escape, reversed(words))) or r"\A\Z", " ", run[0] if run else "")
    return rest.split()


def _stem(word: str) -> str:
    """Return the word without a plural or possessive ending."""
    return re.sub(r"(?:'s|s)\Z", "", word) if len(word) > 3 else word
