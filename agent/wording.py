"""The sentences that the agent says to people, not to models. A sentence has a kind and values.

`sentences.toml` has the English text of each kind. The application that runs the agent can translate them for the owner
of the task (`devices.wording.worded`); the agent knows neither languages nor people. Exceptions and the log stay in
English.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Annotated, Any, Final

from pydantic import PlainSerializer, PlainValidator

from devices.wording import Words, said, sentences_of
from devices.wording import words as phone_words

SENTENCES: Final = sentences_of("agent")
"""The agent's English sentences by kind, with named placeholders."""


def words(kind: str, **values: object) -> Words:
    """Return the sentence of this kind with these values. Raises KeyError if the kind is unknown or a value
    is missing.
    """
    return Words(SENTENCES[kind], kind, values)


class Texts:
    """The sentences that one action or tool defines for itself, by kind, in English and other languages.

    Each sentence carries all its translations, also in checkpoints. So it can be translated without a catalogue, even
    after the action is no longer registered.
    """

    def __init__(self, english: Mapping[str, str], /, **translations: Mapping[str, str]) -> None:
        """Each keyword of `translations` is a language ("zh"). Raises ValueError if its kinds differ from the English
        ones.
        """
        for language, sentences in translations.items():
            if sentences.keys() != english.keys():
                raise ValueError(f"The {language} texts differ in {', '.join(sentences.keys() ^ english.keys())}.")
        self._english = english
        self._translations = translations

    def words(self, kind: str, **values: object) -> Words:
        """Return the sentence of this kind with these values. Raises KeyError if the kind is unknown or a value is
        missing.
        """
        forms = {language: sentences[kind] for language, sentences in self._translations.items()}
        return Words(self._english[kind], kind, values, forms)


def sentence(kind: str, **values: object) -> str:
    """Return the text of the sentence of this kind, in the reader's language. Braces inside the values are kept."""
    return said(words(kind, **values))


def paragraph(*sentences: str) -> str:
    """Return these sentences joined as the reader's language requires; empty ones are left out."""
    kept = [one for one in sentences if one]
    return reduce(lambda before, part: sentence("row.sentence", before=before, part=part), kept) if kept else ""


LONG_TEXT: Final = 400
_END: Final = 150
"""Characters shown from each end of a long field text, which models read again at every step."""


def both_ends(text: str) -> str:
    """Return the text of a field in quotes. A long text is shortened to its beginning, its end and its length."""
    if len(text) <= LONG_TEXT:
        return repr(text)
    return f"{text[:_END]!r} … {text[-_END:]!r} ({len(text)} characters)"


def has_words(text: str) -> bool:
    """Whether the text has a letter or digit of any script, and not only signs and emoji."""
    return any(sign.isalnum() for sign in text)


def one_line(text: str) -> str:
    """Return the text in one line, with single spaces."""
    return " ".join(text.split())


def shortened(text: str, most: int) -> str:
    """Return the text, cut to at most `most` characters; "…" marks the cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def kept(text: str) -> str | dict[str, Any]:
    """Return a sentence as JSON data from which it can be rebuilt (`restored`). Any other text is returned
    unchanged.
    """
    if not isinstance(text, Words):
        return text
    values = {name: kept(value) if isinstance(value, str) else value for name, value in text.values.items()}
    data = {"sentence": text.kind, "values": values}
    return data if text.translations is None else {**data, "form": text.form, "translations": dict(text.translations)}


def restored(data: str | dict[str, Any]) -> str:
    """Rebuild the text that `kept` converted. Raises KeyError if its sentence does not exist."""
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
"""A pydantic field type for text that remains a `Words` sentence when it passes through JSON."""


class Spoken(Exception):
    """An error with a sentence for people (`devices.wording.sentence_of`). It is in English in the log."""

    def __init__(self, kind: str, **values: object) -> None:
        super().__init__(words(kind, **values))
