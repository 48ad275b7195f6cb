"""The result of judging an action by the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


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
