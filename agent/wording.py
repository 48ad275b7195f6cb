"""What the agent itself says to people (not to a model): a kind of sentence and its values.

The English of each kind stands in `sentences.toml`. Whoever runs the agent may word them otherwise, in the language of
the person whose task it is (`devices.wording.worded`); the agent knows no languages and no people. Exceptions and the
log stay in English.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

from devices.wording import Words, said, sentences_of

SENTENCES: Final = sentences_of("agent")
"""Kind → English, with named placeholders."""


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


def kept(text: str) -> str | dict[str, Any]:
    """A sentence of ours as plain data, ready for JSON; any other text as it stands."""
    if not isinstance(text, Words):
        return text
    values = {name: kept(value) if isinstance(value, str) else value for name, value in text.values.items()}
    return {"sentence": text.kind, "values": values}


def restored(data: str | dict[str, Any]) -> str:
    """The text that was `kept`. Raises KeyError for a sentence that there is not."""
    if isinstance(data, str):
        return data
    values = {name: restored(value) if isinstance(value, dict) else value for name, value in data["values"].items()}
    return words(data["sentence"], **values)


class Spoken(Exception):
    """Something went wrong that has a sentence of its own (`devices.wording.sentence_of`). In the log it is English."""

    def __init__(self, kind: str, **values: object) -> None:
        super().__init__(words(kind, **values))
