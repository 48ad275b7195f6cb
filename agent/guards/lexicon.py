"""Looks up what a label means to the rules, in all languages that have a word table. Results are cached by label."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from agent.guards.amounts import has_amount
from agent.guards.forms import Hit, begins, does, tells_of
from agent.guards.rules import RuleName, Rules
from agent.guards.words import (
    JOINED,
    NEGATIONS,
    NEGATIONS_CHINESE,
    ends_with,
    listed,
    plain,
    readings,
    says,
    spelled_out,
    turned,
)
from devices.wording import table_of

MAX_CAPTION, MAX_TITLE = (6, 26), (8, 44)
"""The maximum length of a caption and of a title: in words, and in letters for scripts that join words."""
MAX_LABEL = 4000
MAX_QUESTION, MAX_SENTENCE = 160, 300
"""The maximum letters of a question in a dialog, and of a sentence. A longer one is text to be read, not a question or
command.
"""
KEPT = 4096
"""How many labels' meanings are cached, about those of the last dozens of screens."""
LEXICONS_KEPT = 4
"""How many lexicons are cached: that of the shipped policy, the operator's, and those of another computer's policy."""
MARKED_UP_TO = 5
"""Words of up to this many letters are only recognised with their diacritics, which distinguish them from
other words.
"""
FOREIGN_WORDS, KNOWN_SHARE = 4, 0.2
"""A language counts as one without a table from this many words on, if less than this share of them is known."""
_TOKEN: Final = re.compile(r"\w+")
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？।])|\n")
_ASCII_SENTENCES: Final = re.compile(r"\s(?<=[.!?]\s)\s*|\n")
"""The same with the space first, which is faster to search."""
_ARTICLES: Final = re.compile(r"\b(?:the|an?|this|my|your|our|their) ")
"""Words between an English verb and its object; captions are also read without them."""
_QUESTION: Final = re.compile(r"[?؟]|;\Z")
_CAPITALS: Final = re.compile("[\u0386-\u03ab\u0400-\u042f]")
"""Greek and Cyrillic: a capital may resemble another Latin letter than its small form, so both are read."""
_FOREIGN_SCRIPT: Final = re.compile(
    "[\u0530-\u058f\u10a0-\u10ff\u0a00-\u0dff\u0e80-\u0fff\u1000-\u109f\u1200-\u137f\u1780-\u17ff\u1800-\u18af]"
)
"""Scripts of languages without a table."""


@dataclass(frozen=True, slots=True)
class LabelMeaning:
    """What a label means to the rules. Where the type is a string or set, it names rules; "" or an empty set means
    none.

    `exact`: the label is exactly a rule's word. `button`: its rule as a button's caption. `asks`, `states`, `orders`:
    its rule as a question, a statement or a dialog's title. `mentions`: the rules with a word anywhere in it.
    `confirm`: it just says yes. `slide`, `search`, `message`: it belongs to a sliding control, a search field or a
    message field.
    """

    exact: str = ""
    own: str = ""
    """The rule as a button's caption by the policy's words alone. Words of the tables count anywhere in a caption."""
    button: str = ""
    row: frozenset[str] = frozenset()
    """The rules as the title of a list row. A row opens what it names, unless its form is that of an action."""
    verb: frozenset[str] = frozenset()
    """The rules as a caption with a known verb, not just a word that is part of a noun."""
    asks: str = ""
    states: str = ""
    orders: str = ""
    mentions: frozenset[str] = frozenset()
    confirm: bool = False
    harmless: bool = False
    """Whether the label only closes its dialog or page. `opens` says whether it only shows or arranges something."""
    opens: bool = False
    joined: bool = False
    """Whether its script joins words and has a table. For other scripts, `words` counts its words, and `known` those
    that are in tables.
    """
    words: int = 0
    known: int = 0
    slide: bool = False
    search: bool = False
    message: bool = False
    secret: bool = False
    """Whether it names a password, PIN, identity code or a wallet's recovery words."""
    money: bool = False
    """Whether it belongs to screens on which a touch of a spot without words needs approval. `money_button` says so for
    a button's caption.
    """
    money_button: bool = False


@dataclass(frozen=True, slots=True)
class _Entry:
    rule: str
    kind: str
    """label, told, ending, thing, or a mark: slide, search, message, screen, secret, no_secret."""
    word: str
    tokens: tuple[str, ...]
    """Empty if the word is searched inside longer ones."""
    stem: bool
    language: str
    """Empty for the words of the policy file."""
    marked: str
    """A short word with diacritics that alone distinguish it ("öde" pays, "ode" is a poem); otherwise empty."""
    whole: bool
    """Whether it only counts as a whole label; a word of the policy may also be followed by an amount."""


_Found = tuple[_Entry, Hit]
_Look = tuple[str, list[str], list[_Found]]
"""A label in its compared form, its words, and the table words found in it."""
_NOTHING: Final = LabelMeaning()


@cache
def tables() -> dict[str, dict[str, tuple[str, ...]]]:
    """Load the word tables that ship with the program, by language and kind of word."""
    return {
        language: {name: listed(words) for name, words in table.items()}
        for language, table in table_of("agent.guards", "languages.toml").items()
    }


_OTHER_CODES: Final = {"no": "nb", "nn": "nb", "in": "id", "iw": "he", "tl": "fil", "yue": "zh"}
"""Alternative language codes of Java and Android, and languages that share another's table."""


def has_table(locale: str) -> bool:
    """Whether there is a word table for the language of a locale such as "sr-Latn-RS". For English and Chinese, the
    policy has words of its own.
    """
    language = re.split(r"[-_]", locale.strip(), maxsplit=1)[0].casefold()
    return _OTHER_CODES.get(language, language) in tables()


def lexicon_of(rules: Rules) -> Lexicon:
    """Return the lexicon of a policy's rules. Equal rules share one, because it takes a tenth of a second to build."""
    return _lexicon_of(rules.model_dump_json())


@lru_cache(LEXICONS_KEPT)
def _lexicon_of(rules: str) -> Lexicon:
    return Lexicon(Rules.model_validate_json(rules))


class Lexicon:
    """The words of one policy and of all language tables. `read` finds them all in one pass over a label."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._rank = {name: number for number, name in enumerate(rules.approve)}
        self._spaced: dict[str, list[_Entry]] = {}
        self._stems: dict[str, list[_Entry]] = {}
        self._joined: dict[str, list[_Entry]] = {}
        self._known: set[str] = set()
        for name, rule in rules.approve.items():
            for kind, words in (
                ("label", rule.labels),
                ("told", rule.statements),
                ("ending", rule.endings),
                ("thing", rule.things),
            ):
                self._add(name, kind, words, "")
        self._add("", "screen", rules.screens.labels, "")
        self._confirm = {plain(word) for word in rules.confirm.labels}
        self._harmless = {plain(word) for word in rules.confirm.harmless}
        self._opens: set[str] = set()
        self._says_no: dict[str, tuple[frozenset[str], tuple[str, ...]]] = {}
        for language, table in tables().items():
            self._add_table(language, table)
        self.read = lru_cache(KEPT)(self._read)
        self._of_token = lru_cache(KEPT)(self._entries)

    def _add_table(self, language: str, table: dict[str, tuple[str, ...]]) -> None:
        for name in RuleName:
            if name in self._rules.approve:
                self._add(name, "label", table.get(name, ()), language)
                self._add(name, "told", table.get(f"told_{name}", ()), language)
        for mark in ("slide", "search", "message", "secret", "no_secret"):
            self._add("", mark, table.get(mark, ()), language)
        self._confirm |= {plain(word) for word in table.get("confirm", ())}
        self._harmless |= {plain(word) for word in table.get("harmless", ())}
        self._opens |= {plain(word) for word in table.get("opens", ())}
        no = (*table.get("negations", ()), *table.get("unless", ()))
        joined = tuple(word for word in no if JOINED.search(word))
        apart = tuple(" " * word.startswith("_") + plain(word.strip("_")) + " " * word.endswith("_") for word in joined)
        self._says_no[language] = (frozenset(plain(word) for word in no if word not in joined), apart)
        for words in table.values():
            self._known.update(token for word in words for token in _TOKEN.findall(plain(word)))

    def _add(self, rule: str, kind: str, words: Iterable[str], language: str) -> None:
        for each in (one for word in words for one in spelled_out(word)):
            word = plain(each.rstrip("*").lstrip("="))
            if not word:
                continue
            tokens = () if JOINED.search(word) else tuple(_TOKEN.findall(word))
            marked = _marking(each.rstrip("*").lstrip("=")) if tokens and language and len(word) <= MARKED_UP_TO else ""
            entry = _Entry(rule, kind, word, tokens, each.endswith("*"), language, marked, each.startswith("="))
            self._known.update(tokens)
            if not tokens:
                self._joined.setdefault(word[0], []).append(entry)
            elif entry.stem and len(tokens) == 1:
                self._stems.setdefault(word[:3], []).append(entry)
            else:
                self._spaced.setdefault(tokens[0], []).append(entry)

    def _read(self, label: str) -> LabelMeaning:
        """Return the meaning of a label."""
        whole = text, tokens, found = self._look(label[:MAX_LABEL])
        if not text:
            return _NOTHING
        harmless, confirm, opens = text in self._harmless, text in self._confirm, text in self._opens
        alphabetic = [token for token in tokens if token.isalpha()]
        plainly = LabelMeaning(
            confirm=confirm,
            harmless=harmless or text.startswith(NEGATIONS),
            opens=opens,
            joined=not text.isascii() and JOINED.search(text) is not None,
            words=len(alphabetic),
            known=len([token for token in alphabetic if token in self._known]),
        )
        if not found and text.isascii() and not any(e.whole or e.marked for t in tokens for e in self._of_token(t)):
            return plainly  # nearly every sentence: none of its words belongs to a rule
        sentences = self._sentences(label, whole)
        own = () if harmless or confirm or opens else self._captions(found, text, tokens, MAX_CAPTION)
        of_policy = [e for e, _ in found if not e.language]
        captions = tuple(self._policy_captions(found, label, tokens))
        exact = [hit for e, hit in found if e.kind == "label" and e.word == text and e.rule]
        meant = (*exact, *captions, *own)
        screens = [e for e in of_policy if e.kind == "screen"]
        named = [e for e, _ in found if e.rule and e.kind != "thing"]
        return replace(
            plainly,
            exact=self._first(hit.rule for hit in exact),
            own=self._first(hit.rule for hit in captions),
            button=self._first(hit.rule for hit in (*captions, *own)),
            row=frozenset(hit.rule for hit in meant if does(hit)),
            verb=frozenset(hit.rule for hit in meant if begins(hit)),
            asks=self._first(e.rule for e in named) if _QUESTION.search(text[:MAX_QUESTION]) else "",
            states=self._first(self._stated(whole, sentences)),
            orders=self._first(self._ordered(sentences)),
            mentions=frozenset(e.rule for e, _ in found if e.kind == "label" and e.rule),
            slide=any(e.kind == "slide" for e, _ in found),
            search=any(e.kind == "search" for e, _ in found),
            message=any(e.kind == "message" for e, _ in found),
            secret=_names_secret(found),
            money=any(e.word == text for e in screens),
            money_button=any(says(label, e.word, button=True) for e in screens),
        )

    def _look(self, label: str) -> _Look:
        """Return a label in its compared form, its words, and the table words found in it."""
        text = plain(label)
        tokens = _TOKEN.findall(text)
        found = list(self._found(text, tokens))
        if not found and ("rn" in text or "vv" in text) and not self._is_caption(text):
            text, tokens, found = self._look_again(text, tokens)
        for other in readings(label)[1:]:
            words = _TOKEN.findall(other)
            if hits := list(self._found(other, words)):
                text, tokens, found = other, words, [*hits, *found]
        if (bare := _ARTICLES.sub("", text)) != text:
            found += self._found(bare, _TOKEN.findall(bare))
        if not label.isascii() and _CAPITALS.search(label) and (lower := plain(label.lower())) != text:
            words = _TOKEN.findall(lower)
            if self._is_caption(lower) or not self._known.isdisjoint(words) or not found:
                text, tokens, found = lower, words, [*self._found(lower, words), *found]
        if any(entry.marked or entry.whole for entry, _ in found):
            marks = _marked(label)
            found = [
                (entry, hit)
                for entry, hit in found
                if entry.marked in marks and (not entry.whole or not entry.language or entry.word == text)
            ]
        return text, tokens, found

    def _look_again(self, text: str, tokens: list[str]) -> _Look:
        """Look again with two letters read as the one that they resemble: "Confirrn"."""
        other = text.replace("rn", "m").replace("vv", "w")
        words = _TOKEN.findall(other)
        found = list(self._found(other, words))
        return (other, words, found) if found or self._is_caption(other) else (text, tokens, [])

    def _is_caption(self, text: str) -> bool:
        return any(text in each for each in (self._harmless, self._opens, self._confirm))

    def _found(self, text: str, tokens: list[str]) -> Iterator[_Found]:
        """Yield every table word in this text with its position."""
        entries_of = self._of_token
        known = [(at, entries) for at, token in enumerate(tokens) if (entries := entries_of(token))]
        places = [match.span() for match in _TOKEN.finditer(text)] if known else []
        for at, entries in known:
            for entry in entries:
                size = len(entry.tokens)
                if size == 1 or _same(tokens[at : at + size], entry):
                    yield entry, _hit(entry, text, places[at][0], places[at + size - 1][1])
        if not text.isascii() and JOINED.search(text):
            for at, sign in enumerate(text):
                for entry in self._joined.get(sign, ()):
                    if text.startswith(entry.word, at):
                        yield entry, _hit(entry, text, at, at + len(entry.word))

    def _entries(self, token: str) -> tuple[_Entry, ...]:
        """Return the table entries that begin with this word, or of which it is a form."""
        stems = (entry for entry in self._stems.get(token[:3], ()) if token.startswith(entry.word))
        return (*self._spaced.get(token, ()), *stems)

    def _policy_captions(self, found: list[_Found], label: str, tokens: list[str]) -> Iterator[Hit]:
        things = _things(found)
        for entry, hit in found:
            if entry.language or entry.rule in things or self._is_denied(entry, hit.text, tokens):
                continue
            if entry.kind == "label":
                short = not entry.whole or (hit.start == 0 and has_amount(label))
                meant = says(hit.text, entry.word, button=short, unless=self._rules.approve[entry.rule].unless)
            else:
                meant = entry.kind == "ending" and ends_with(hit.text, entry.word)
            if meant and not tells_of(hit):
                yield hit

    def _captions(self, found: list[_Found], text: str, tokens: list[str], most: tuple[int, int]) -> tuple[Hit, ...]:
        """Return the table words in a short label that trigger a rule; they count anywhere in it."""
        if len(text.split()) > most[0] or (len(text) > most[1] and JOINED.search(text)):
            return ()
        if text.startswith((*NEGATIONS, *NEGATIONS_CHINESE)):
            return ()
        hits = [(e, hit) for e, hit in found if e.kind == "label" and e.language]
        return tuple(
            hit
            for entry, hit in hits
            if not (
                self._is_denied(entry, text, tokens)
                or text.endswith(self._rules.approve[hit.rule].unless)
                or tells_of(hit)
            )
        )

    def _is_denied(self, entry: _Entry, text: str, tokens: list[str]) -> bool:
        """Whether a label says that it does not do what this word means. The policy's words are English or Chinese."""
        spaced, joined = self._says_no[entry.language or ("en" if entry.tokens else "zh")]
        return not spaced.isdisjoint(tokens) or any(word in f" {text} " for word in joined)

    def _sentences(self, label: str, whole: _Look) -> list[_Look]:
        """Look up the label's sentences, leaving out those that are too long."""
        parts = (_ASCII_SENTENCES if label.isascii() else _SENTENCES).split(label[:MAX_LABEL])
        looks = [whole] if len(parts) == 1 else map(self._look, parts)
        return [look for look in looks if look[0] and len(look[0]) <= MAX_SENTENCE]

    def _stated(self, whole: _Look, sentences: list[_Look]) -> Iterator[str]:
        for _, _, found in [whole] if len(whole[0]) <= MAX_SENTENCE else sentences:
            yield from (entry.rule for entry, _ in found if entry.kind == "told")

    def _ordered(self, sentences: list[_Look]) -> Iterator[str]:
        """Yield the rules that a sentence commands ("Delete the file"), by policy words at its beginning."""
        for text, tokens, found in sentences:
            if not found or text.startswith((*NEGATIONS, *NEGATIONS_CHINESE)):
                continue
            things = _things(found)
            for entry, hit in found:
                first = entry.kind == "label" and not entry.language and hit.start == 0
                first = first and entry.rule not in things and (not entry.whole or entry.word == text)
                if first and not text.endswith(self._rules.approve[entry.rule].unless):
                    yield entry.rule
            yield from (hit.rule for hit in self._captions(found, text, tokens, MAX_TITLE))

    def is_foreign(self, labels: Iterable[str]) -> bool:
        """Whether these labels together are in a language without a word table."""
        total = known = 0
        for label in labels:
            if not label.isascii() and _FOREIGN_SCRIPT.search(label):
                return True
            read = self.read(label)
            if read.joined:
                return False
            total, known = total + read.words, known + read.known
        return total >= FOREIGN_WORDS and known < total * KNOWN_SHARE

    def _first(self, rules: Iterable[str]) -> str:
        return min(rules, key=self._rank.__getitem__, default="")


def _things(found: list[_Found]) -> set[str]:
    """Return the rules whose word only names a thing here, because the label begins with that thing."""
    return {entry.rule for entry, hit in found if entry.kind == "thing" and hit.start == 0}


def _names_secret(found: list[_Found]) -> bool:
    """Whether it has a word for a secret that is not part of another phrase ("zip code")."""
    others = [hit for e, hit in found if e.kind == "no_secret"]
    return any(
        e.kind == "secret" and not any(o.text == hit.text and o.start <= hit.start < o.end for o in others)
        for e, hit in found
    )


def _marked(label: str) -> str:
    """Return the label in one case, with its diacritics."""
    seen = "".join(sign for sign in unicodedata.normalize("NFKC", turned(label)) if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFC", seen.casefold().replace("i\u0307", "i"))


def _marking(word: str) -> str:
    """Return a word with its diacritics; "" if it has none."""
    seen = _marked(word)
    return seen if any(map(unicodedata.combining, unicodedata.normalize("NFD", seen))) else ""


def _hit(entry: _Entry, text: str, start: int, end: int) -> Hit:
    return Hit(entry.rule, entry.word, text, start, end, entry.language, entry.stem)


def _same(tokens: list[str], entry: _Entry) -> bool:
    if tuple(tokens) == entry.tokens:
        return True
    if not entry.stem or len(tokens) != len(entry.tokens):
        return False
    return tuple(tokens[:-1]) == entry.tokens[:-1] and tokens[-1].startswith(entry.tokens[-1])
