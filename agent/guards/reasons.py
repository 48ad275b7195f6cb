"""The reasons that people are shown with the gate's questions. Those of shipped rules can be translated; an operator's
own stay as written.
"""

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
    """Return the reason of a rule for people. `own` is the text in the policy file; if it is the shipped one, a
    translatable sentence is returned instead.
    """
    return words(f"reason.{rule}") if rule in RULE_NAMES and own == SENTENCES[f"reason.{rule}"] else own


def answering(reason: str) -> Words:
    """Return the reason with the addition that the button answers the question above it."""
    return words("reason.answers", reason=reason)


def warned(why: str) -> Words:
    """Return the acting model's own warning (`why`) as a reason."""
    return words("reason.sensitive", why=why)


def closed_app(app: str) -> Words:
    """Return the reason for refusing an action in this app."""
    return words("reason.closed", app=app)
