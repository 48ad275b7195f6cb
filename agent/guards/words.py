"""The words of buttons and rules: reads them as people see them, compares them as whole words, and makes them safe to
show.

Rules and labels are changed in the same way, so a rule in any script still matches its own words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from devices.wording import table_of

_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible characters (Unicode, Default_Ignorable_Code_Point) beyond those of category Cf."""
_BLANK: Final = "\u2800"
"""A braille character without dots."""
_MARKS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u0655]")
"""Combining marks, Hebrew points, Arabic vowels and lines, which are easily overlooked."""
_TURNED: Final = re.compile("\u202e([^\u202a-\u202e]*)\u202c?")
"""Text that is shown from right to left whatever its letters are."""
_BETWEEN_CHINESE: Final = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")
"""Spaces inside Chinese captions that are set wide: 确 定."""
_SPACED: Final = re.compile(r"(?:[^\W_][\W_]+){2,}[^\W_]")
""""S e n d", "P.A.Y". No character is both a letter and a separator, or a long label would take forever."""


def _tables() -> tuple[dict[int, str], dict[str, str], dict[str, str], dict[str, str]]:
    """Load what each character reads as: anywhere; next to a Latin letter; upside down; as a digit for a letter."""
    table = table_of("agent.guards", "lookalikes.toml")
    upside_down, written = (dict(table.pop(name).split()) for name in ("turned", "written"))
    kinds = {kind: [pair for line in lines for pair in line.split()] for kind, lines in table.items()}
    beside = {sign: read.casefold() for sign, read in kinds.pop("beside")}
    pairs = [pair for each in kinds.values() for pair in each]
    # Negative circled and squared letters, which NFKC leaves as they are.
    enclosed = {first + number: chr(ord("A") + number) for first in (0x1F150, 0x1F170) for number in range(26)}
    return {**{ord(sign): read for sign, read in pairs}, **enclosed, ord(_BLANK): " "}, beside, upside_down, written


_TABLE, _BESIDE, _UPSIDE_DOWN, _WRITTEN = _tables()
_REVERSED: Final = str.maketrans({**_UPSIDE_DOWN, **dict(zip("pdbqnu", "dpqbun", strict=True))})
_IN_PLACE, _AS_WRITTEN = str.maketrans(_UPSIDE_DOWN), str.maketrans(_WRITTEN)
_AS_L: Final = {**_AS_WRITTEN, ord("1"): "l"}
_MIXED: Final = re.compile(f"[{re.escape(''.join(_WRITTEN))}]+(?=[a-z])|(?<=[a-z][a-z])[0-9]+(?![^\\W_])")
_UPSIDE: Final = re.compile(f"[{''.join(_UPSIDE_DOWN)}]")
_NO_WIDTH: Final = re.compile("(?<=\\w)[\u200b\u2060\ufeff]+(?=\\w)")
"""Zero-width spaces: what they separate may be one word or two."""
_BESIDE_LATIN: Final = re.compile(f"(?<=[a-z])[{''.join(_BESIDE)}]|[{''.join(_BESIDE)}](?=[a-z])")
_AS_LETTER: Final = {"0": "o", "1": "l", "|": "l", "I": "l"}
_LETTER: Final = r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter, except in scripts that do not separate words: "1分钟" counts minutes."""
_DIGIT: Final = re.compile(
    rf"[01|](?:(?<={_LETTER}[01|])(?!\d)|(?<!\d[01|])(?={_LETTER}))|I(?<=[a-z]I)(?=[a-z])"
)  # the sign comes first, so that one scan finds it
"""A digit that is read as a letter, and a capital I within small letters: C0nfirm, De1ete, DeIete."""


def folded(label: str) -> str:
    """Return the label in the form in which labels are compared: one case, one form of each look-alike character,
    single spaces.
    """
    label = _DIGIT.sub(lambda sign: _AS_LETTER[sign[0]], label)
    if label.isascii():  # most labels, and most of the work
        words = " ".join(label.casefold().split())
        return re.sub(r"[\W_]+", "", words) if _SPACED.fullmatch(words) else words
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", _UNSEEN.sub("", turned(label))))
    seen = "".join(sign for sign in seen if unicodedata.category(sign) != "Cf")
    bare = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", seen)))
    # Translated again in lower case: some letters only look alike in one case.
    cased = bare.translate(_TABLE).casefold().translate(_TABLE)
    if _BESIDE_LATIN.search(cased):
        cased = _BESIDE_LATIN.sub(lambda sign: _BESIDE[sign[0]], cased)
    words = " ".join(cased.replace("\u2019", "'").split())
    # Vowels of Indic scripts are marks, so letters with marks between them are not spaced out.
    if _SPACED.fullmatch(words) and not any(unicodedata.category(sign)[0] == "M" for sign in words):
        return re.sub(r"[\W_]+", "", words)
    return _BETWEEN_CHINESE.sub("", words)


def disguises(label: str) -> tuple[str, ...]:
    """Return other ways in which a person may read a label, apart from `folded`: with digits as letters, with letters
    turned upside down, or split at zero-width spaces.
    """
    if label.isascii() and not (any(sign in label for sign in _WRITTEN) and _MIXED.search(label.casefold())):
        return ()
    found, seen = [], unicodedata.normalize("NFKC", label)
    if _NO_WIDTH.search(seen):
        found.append(_NO_WIDTH.sub(" ", seen))
    seen = "".join(sign for sign in _UNSEEN.sub("", seen) if unicodedata.category(sign) != "Cf").casefold()
    if _MIXED.search(seen):
        read = _MIXED.sub(lambda signs: signs[0].translate(_AS_WRITTEN), seen)
        found += [read] if "1" not in seen else [read, _MIXED.sub(lambda signs: signs[0].translate(_AS_L), seen)]
    if _UPSIDE.search(seen):
        found += [seen.translate(_IN_PLACE), seen[::-1].translate(_REVERSED)]
    return tuple(folded(each) for each in found)


def turned(label: str) -> str:
    """Return the label in the order in which it is shown if it contains a right-to-left override."""
    return _TURNED.sub(lambda part: part[1][::-1], label) if "\u202e" in label else label


CHINESE = re.compile(r"[\u3400-\u9fff]")
JOINED: Final = re.compile(
    "[\u0590-\u074f\u0780-\u07bf\u0900-\u0d7f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Scripts in which a word is also searched inside longer ones, because they use no spaces or join small words."""
MAX_EXTRA_WORDS = 4
"""How many words a button may have besides the decisive one, as in "Send to Anna Maria Smith". A longer caption is a
sentence.
"""
MAX_EXTRA_SIGNS = 8
"""The same limit for Chinese, in characters."""
NEGATIONS = ("don't ", "do not ", "never ", "not ", "no, ", "how to ", "why ", "when ")
NEGATIONS_CHINESE = ("不", "拒绝", "禁止", "取消", "如何", "怎么", "暂不")
_BEFORE = re.compile(r"\A[\W_]+(?=[\w$€£¥])")
_KEPT_AT_THE_END = re.compile(r"[\w?!%)]")
_ID_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
KEPT_WORDS = 2048
"""How many labels' compared forms are cached: the words of all rules, and those of a few screens."""
_ID_FURNITURE = {"btn", "button", "fab", "ic", "icon", "action", "menu", "view"}


@lru_cache(KEPT_WORDS)  # each label of a screen is compared with each word of each rule
def plain(label: str) -> str:
    """Return the label in the form in which labels are compared: casefolded, with look-alike characters unified,
    without arrows and dots at its ends.
    """
    return _trimmed(folded(label))


@lru_cache(KEPT_WORDS)
def readings(label: str) -> tuple[str, ...]:
    """Return all ways in which a person may read the label, in the form of `plain`: there are several if it uses
    disguised letters.
    """
    return tuple(dict.fromkeys((plain(label), *map(_trimmed, disguises(label)))))


def _trimmed(words: str) -> str:
    if words and not words[0].isalnum():
        words = _BEFORE.sub("", words, count=1)
    end = len(words)
    while end and not _KEPT_AT_THE_END.match(words[end - 1]):
        end -= 1
    return words[:end]


def listed(words: str) -> tuple[str, ...]:
    """Return the entries of a list in a word table, which are separated by commas."""
    return tuple(word for each in words.split(",") if (word := each.strip()))


def spelled_out(words: str) -> Iterator[str]:
    """Yield every phrase that an entry of a word table stands for: "submit|place [the] order" is "submit order",
    "submit the order" and so on.
    """
    if "|" not in words and "[" not in words:
        yield words
        return
    whole, parts = words.startswith("="), words.lstrip("=").split(" ")
    choices = [[*part.strip("[]").split("|"), *([""] if part.startswith("[") else [])] for part in parts]
    between = "" if CHINESE.search(words) else " "
    for chosen in product(*choices):
        yield "=" * whole + between.join(filter(None, chosen))


def says(label: str, word: str, *, button: bool, unless: tuple[str, ...] = ()) -> bool:
    """Whether a label means the same as `word`: it equals the word or, on a button, begins with it and has few other
    words. Chinese words may be anywhere.

    `unless` are endings that make it harmless ("Order history"). A negation ("Don't allow") never matches.
    """
    word = plain(word)
    return bool(word) and any(_says(text, word, button, unless) for text in readings(label) if text)


def _says(text: str, word: str, button: bool, unless: tuple[str, ...]) -> bool:
    if text == word:
        return True
    if not button or text.startswith(NEGATIONS):
        return False
    if CHINESE.search(word):
        return (
            word in text
            and len(text) <= len(word) + MAX_EXTRA_SIGNS
            and not text.startswith(NEGATIONS_CHINESE)
            and not any(text.endswith(ending) for ending in unless)
        )
    if any(text.endswith(ending) and re.search(rf"\b{re.escape(ending)}$", text) for ending in unless):
        return False
    # Nearly no word matches a given label, so rule it out before compiling a pattern.
    few = text.startswith(word) and len(text.split()) <= len(word.split()) + MAX_EXTRA_WORDS
    return few and re.match(rf"{re.escape(word)}\b", text) is not None


def ends_with(label: str, word: str) -> bool:
    """Whether a button's label is short and ends with this verb, such as "Confirm and pay" or "Yes, delete"."""
    word = plain(word)
    return any(
        text.endswith(word)
        and not text.startswith((*NEGATIONS, "cancel "))
        and len(text.split()) <= MAX_EXTRA_WORDS
        and re.search(rf"\b{re.escape(word)}$", text) is not None
        for text in readings(label)
    )


def mentions(label: str, word: str) -> bool:
    """Whether the label contains the word, as a whole word unless it is Chinese."""
    word = plain(word)
    if CHINESE.search(word):
        return any(word in text for text in readings(label))
    return any(word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None for text in readings(label))


def id_words(resource_id: str) -> tuple[str, ...]:
    """Return the meaningful words in a resource id: "btn_send" and "sendButton" both give ("send",)."""
    tail = resource_id.rsplit("/", 1)[-1]
    parts = (part.lower() for part in _ID_PARTS.findall(tail))
    return tuple(part for part in parts if part not in _ID_FURNITURE)


HIDING = re.compile(
    r"[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
"""Invisible characters that reorder words (Unicode's bidirectional controls), end a line, carry hidden text, or push
words out of sight (fillers, a braille character without dots). Joiners are not included, because scripts and emoji need
them.
"""


def in_one_line(text: str) -> str:
    """Return the text on one line, with a symbol for each line break and invisible characters written out as
    ‹U+202E›.
    """
    seen = HIDING.sub(lambda found: f"‹U+{ord(found[0]):04X}›", text.replace("\r\n", "\n").replace("\n", " ⏎ "))
    return "".join(f"‹U+{ord(sign):04X}›" if unicodedata.category(sign) == "Cc" else sign for sign in seen)
