"""What the agent itself says to people (not to a model): a kind of sentence and its values.

The English of each kind stands in `sentences.toml`. Whoever runs the agent may word them otherwise, in the language of
the person whose task it is (`devices.wording.worded`); the agent knows no languages and no people. Exceptions and the
log stay in English.
"""

from __future__ import annotations

from functools import reduce
from typing import Final

from devices.wording import Words, recognised, said, sentences_of

SENTENCES: Final = sentences_of("agent")
"""Kind → English, with named placeholders."""
NESTED: Final = 3
"""How deep words stand in words: "refused", what, and on which element."""


def words(kind: str, **values: object) -> Words:
    """The sentence of this kind as a value. Raises KeyError for an unknown kind or a missing value."""
    return Words(SENTENCES[kind], kind, values)


def sentence(kind: str, **values: object) -> str:
    """The sentence of this kind, as whoever runs the agent words it. Braces inside the values stay as they are."""
    return said(words(kind, **values))


def paragraph(*sentences: str) -> str:
    """Sentences one after the other, as whoever runs the agent sets them; empty ones are left out."""
    kept = [one for one in sentences if one]
    return reduce(lambda before, part: sentence("row.sentence", before=before, part=part), kept) if kept else ""


def done_words(text: str, deep: int = NESTED) -> str:
    """What was done, kept in the words of the model, as whoever runs the agent words it. `deep` is how far within it
    other such words are looked for.
    """
    found = recognised(text, SENTENCES, "did.")
    if not deep or not isinstance(found, Words):
        return text
    within = {name: done_words(str(it), deep - 1) for name, it in found.values.items() if name in {"what", "target"}}
    values = {**found.values, **within}
    return said(Words(SENTENCES[found.kind], found.kind, values))


class Spoken(Exception):
    """Something went wrong that has a sentence of its own (`devices.wording.sentence_of`). In the log it is English."""

    def __init__(self, kind: str, **values: object) -> None:
        super().__init__(words(kind, **values))
