"""Reads labels as people see them: look-alike characters are replaced by one of them, and invisible characters are
removed.

Rules and labels are changed in the same way, so a rule in any script still matches its own words.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from importlib import resources
from typing import Final

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
    text = resources.files("agent.guards").joinpath("lookalikes.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
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
