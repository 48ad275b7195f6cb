"""The result of judging an action by the rules, and the reasons that people are shown with the gate's questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from agent.guards.rules import RULE_NAMES
from agent.wording import SENTENCES, words
from devices.wording import Words


@dataclass(frozen=True, slots=True)
class Gate:
    """The result of judging an action by the rules.

    `verdict`: the action is allowed, needs a person's approval, is refused, or a person must type the text instead
    ("secret"). `reason` says why, for people.

    `standing` is what the rules know about the action. A "held" one has a consequence: `consequence` names the policy
    rule, `object` is what it is about in the window's own words, and `how` says how it was recognised. A "harmless" one
    has no consequence. An "unknown" one is covered by no rule; `sensitive` then says whether it may pay or agree to
    something there. Such a one always needs an approval.
    """

    verdict: Literal["allow", "approve", "refuse", "secret"]
    reason: str = ""
    standing: Literal["held", "harmless", "unknown"] = "held"
    consequence: str = ""
    object: str = ""
    how: str = ""
    sensitive: bool = False


ALLOWED: Final = Gate("allow", standing="unknown")
"""The result for an action that no rule covers, in a place where nothing is paid or agreed to."""
SLID: Final = Gate("allow", standing="unknown", how="slide")
"""Like ALLOWED, for a control labelled "slide to …". It counts as a press, whatever movement is made."""
HARMLESS: Final = Gate("allow", standing="harmless")
"""The result for an action that is known to have no consequence: touching a field or a button that only closes or shows
something, or scrolling a page.
"""


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
