"""What the agent itself says to people (not to a model): a kind of sentence and its values.

The English of each kind stands in `sentences.toml`. Whoever runs the agent may word them otherwise, in the language of
the person whose task it is (`devices.wording.worded`); the agent knows no languages and no people. Exceptions and the
log stay in English.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Annotated, Any, Final

from pydantic import PlainSerializer, PlainValidator

from devices.wording import Words, said, sentences_of
from devices.wording import words as phone_words

SENTENCES: Final = sentences_of("agent")
"""Kind → English, with named placeholders."""


def words(kind: str, **values: object) -> Words:
    """The sentence of this kind as a value. Raises KeyError for an unknown kind or a missing value."""
    return Words(SENTENCES[kind], kind, values)


class Texts:
    """The sentences that one action or tool brings with it: kind → English, and the same in other languages.

    Its words carry their forms with them, into checkpoints too: whoever words them needs no catalogue, and they are
    still worded when the action is not registered any more.
    """

    def __init__(self, english: Mapping[str, str], /, **translations: Mapping[str, str]) -> None:
        """`translations` have the name of their language ("zh"). Raises ValueError for one that lacks a kind."""
        for language, sentences in translations.items():
            if sentences.keys() != english.keys():
                raise ValueError(f"The {language} texts differ in {', '.join(sentences.keys() ^ english.keys())}.")
        self._english = english
        self._translations = translations

    def words(self, kind: str, **values: object) -> Words:
        """The sentence of this kind as a value. Raises KeyError for an unknown kind or a missing value."""
        forms = {language: sentences[kind] for language, sentences in self._translations.items()}
        return Words(self._english[kind], kind, values, forms)


def sentence(kind: str, **values: object) -> str:
    """The sentence of this kind, as whoever runs the agent words it. Braces inside the values stay as they are."""
    return said(words(kind, **values))


def paragraph(*sentences: str) -> str:
    """Sentences one after the other, as whoever runs the agent sets them; empty ones are left out."""
    kept = [one for one in sentences if one]
    return reduce(lambda before, part: sentence("row.sentence", before=before, part=part), kept) if kept else ""


LONG_TEXT: Final = 400
_END: Final = 150
"""Characters at either end of a long text of a field: it is told at every step."""


def both_ends(text: str) -> str:
    """A text of a field in quotes; of a long one how it begins and ends, and how long it is."""
    if len(text) <= LONG_TEXT:
        return repr(text)
    return f"{text[:_END]!r} … {text[-_END:]!r} ({len(text)} characters)"


def has_words(text: str) -> bool:
    """Whether it says anything: a letter or a digit of any script, not signs and emoji alone."""
    return any(sign.isalnum() for sign in text)


def shortened(text: str, most: int) -> str:
    """The text with at most `most` letters; what is cut off shows as "…"."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def kept(text: str) -> str | dict[str, Any]:
    """A sentence of ours as plain data, ready for JSON; any other text as it stands."""
    if not isinstance(text, Words):
        return text
    values = {name: kept(value) if isinstance(value, str) else value for name, value in text.values.items()}
    data = {"sentence": text.kind, "values": values}
    return data if text.translations is None else {**data, "form": text.form, "translations": dict(text.translations)}


def restored(data: str | dict[str, Any]) -> str:
    """The text that was `kept`. Raises KeyError for a sentence that there is not."""
    if isinstance(data, str):
        return data
    values = {name: restored(value) if isinstance(value, dict) else value for name, value in data["values"].items()}
    if "form" in data:
        return Words(data["form"], data["sentence"], values, data["translations"])
    # What an error of a phone says is a sentence of the devices.
    made = words if data["sentence"] in SENTENCES else phone_words
    return made(data["sentence"], **values)


def _text(given: object) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, dict):
        return restored(given)
    raise ValueError("neither a text nor a sentence")


Text = Annotated[str, PlainValidator(_text), PlainSerializer(kept, when_used="json")]
"""A field with a text that stays the sentence that it is, also through JSON."""


class Spoken(Exception):
    """Something went wrong that has a sentence of its own (`devices.wording.sentence_of`). In the log it is English."""

    def __init__(self, kind: str, **values: object) -> None:
        super().__init__(words(kind, **values))
