"""Why the gate asks, in words for a person: the shipped reasons are worded, an operator's own stay."""

from __future__ import annotations

from typing import Final

from agent.wording import SENTENCES, sentence, words
from devices.wording import Words, said

ANSWERS: Final = "answers a question on the screen, and so "
"""Begins the reason of a button that means what the question above it asks."""
SENSITIVE: Final = "is sensitive, as the model says: "
"""Begins the reason that the model itself has given."""
NAMELESS: Final = SENTENCES["reason.nameless"]
UNREAD: Final = SENTENCES["reason.unread"]
LEAVES: Final = SENTENCES["reason.leaves"]

_KINDS: Final = {text: kind for kind, text in SENTENCES.items() if kind.startswith("reason.")}


def closed_app(app: str) -> Words:
    """The reason to refuse what is done in this app."""
    return words("reason.closed", app=app)


def opens(scheme: str) -> Words:
    """The reason to ask before an address of this scheme."""
    return words("reason.address", scheme=scheme)


def reason_words(reason: str) -> str:
    """The reason in the person's language, where it is one of the shipped ones."""
    if isinstance(reason, Words):
        return said(reason)
    if reason.startswith(ANSWERS):
        return sentence("reason.answers", reason=reason_words(reason.removeprefix(ANSWERS)))
    if reason.startswith(SENSITIVE):
        return sentence("reason.sensitive", why=reason.removeprefix(SENSITIVE))
    kind = _KINDS.get(reason, "").removeprefix("reason.")
    return sentence(f"reason.{kind}") if kind else reason
