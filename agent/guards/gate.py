"""What the gate answers: what stands before an action, and what the rules know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Gate:
    """What stands before an action: nothing, a person's approval, a refusal, or a person who types it instead.

    `standing` is what the rules know of it: `held` with its `consequence` (the name of a rule of the policy), its
    `object` in the window's own words and `how` it was recognised; `harmless`; or `unknown`, of which `sensitive` says
    whether it was met where that may pay or agree to something. By rules alone what is unknown and sensitive is held.
    """

    verdict: Literal["allow", "approve", "refuse", "secret"]
    reason: str = ""
    standing: Literal["held", "harmless", "unknown"] = "held"
    consequence: str = ""
    object: str = ""
    how: str = ""
    sensitive: bool = False


ALLOWED: Final = Gate("allow", standing="unknown")
"""No rule knows it, and it was met where nothing is paid or agreed to."""
SLID: Final = Gate("allow", standing="unknown", how="slide")
"""The same of a control whose words say that it is slid for something: it counts as a press, however it is moved."""
HARMLESS: Final = Gate("allow", standing="harmless")
"""Known to have no consequence: a field, a button that closes or only shows something, a movement over a page."""
