"""The gate's verdict on an action, and what the rules know about that action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict on an action: it is allowed, needs a person's approval, is refused, or a person must type it instead.

    `standing` is what the rules know about the action. `held` names the `consequence` (a rule of the policy), the
    `object` in the window's own words, and `how` it was recognised. `harmless` has no consequence. `unknown` is
    recognised by no rule; `sensitive` then says whether it may pay or agree to something there. Without a model, the
    rules hold whatever is unknown and sensitive.
    """

    verdict: Literal["allow", "approve", "refuse", "secret"]
    reason: str = ""
    standing: Literal["held", "harmless", "unknown"] = "held"
    consequence: str = ""
    object: str = ""
    how: str = ""
    sensitive: bool = False


ALLOWED: Final = Gate("allow", standing="unknown")
"""The verdict on an action that no rule knows, in a place where nothing is paid or agreed to."""
SLID: Final = Gate("allow", standing="unknown", how="slide")
"""Like ALLOWED, for a control labelled "slide to …": it counts as a press, however it is moved."""
HARMLESS: Final = Gate("allow", standing="harmless")
"""The verdict on an action known to have no consequence: a field, a button that only closes or shows something, or
scrolling a page.
"""
