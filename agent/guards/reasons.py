"""Why the gate asks, in words for a person: the shipped reasons are worded, an operator's own stay."""

from __future__ import annotations

from typing import Final

from agent.guards.rules import RULE_NAMES
from agent.wording import SENTENCES, words
from devices.wording import Words

NAMELESS: Final = words("reason.nameless")
UNREAD: Final = words("reason.unread")
LEAVES: Final = words("reason.leaves")
FORBIDS: Final = words("reason.forbids")


def of_rule(rule: str, own: str) -> str:
    """The reason of a rule: worded where it is as it is shipped, else the operator's `own`."""
    return words(f"reason.{rule}") if rule in RULE_NAMES and own == SENTENCES[f"reason.{rule}"] else own


def answering(reason: str) -> Words:
    """The reason of a button that means what the question above it asks."""
    return words("reason.answers", reason=reason)


def warned(why: str) -> Words:
    """The reason that the acting model itself has given."""
    return words("reason.sensitive", why=why)


def closed_app(app: str) -> Words:
    """The reason to refuse what is done in this app."""
    return words("reason.closed", app=app)
