"""What a step has changed, as people read it: in their language, with the names of apps and not of packages.

It is kept in the words that the model reads, one change after the other; each is known again by its form.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import reduce
from typing import Final

from bot.texts import known_as, say
from devices.app_titles import readable

_QUOTED: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
"""A text in quotes, as Python's repr writes it."""
_CHANGE: Final = re.compile(rf"(?:{_QUOTED}|(?!; ).)+", re.DOTALL)
"""One change; what stands in quotes may have a semicolon in it."""
_WORDS: Final = re.compile(_QUOTED)
MOST: Final = 60
"""Changes; the agent tells of a dozen. What has more is nothing of its making."""
_ANSWER: Final = "answer: "
"""What follows it is as a person has typed it, to the end."""


def effect_words(effect: str, names: Mapping[str, str]) -> str:
    """The changes as they are read here. `names` are those of apps, by package. What is of no known form stays."""
    if effect.startswith(_ANSWER):
        return _change(effect, names)
    told = [found[0] for found in _CHANGE.finditer(effect)]
    if len(told) > MOST:
        return effect
    changes = [_change(change, names) for change in told]
    return reduce(lambda before, change: say("changes.next", before=before, change=change), changes or [""])


def _change(text: str, names: Mapping[str, str]) -> str:
    return known_as("effect.", text.strip(), lambda name, told: _value(name, told, names))


def _value(name: str, text: str, names: Mapping[str, str]) -> str:
    if name == "app":
        return names.get(text) or readable(text)
    quoted = [say("changes.word", text=_unquoted(word)) for word in _WORDS.findall(text)]
    return reduce(lambda before, word: say("changes.word_next", before=before, word=word), quoted) if quoted else text


def _unquoted(word: str) -> str:
    try:
        return str(ast.literal_eval(word))
    except (SyntaxError, ValueError):  # somebody else's quotes
        return word[1:-1]
