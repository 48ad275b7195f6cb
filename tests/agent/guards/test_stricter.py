"""Two policies as one: whichever of them lets less pass is heard."""

from __future__ import annotations

import pytest

from agent.guards.gate import ALLOWED, HARMLESS, Gate
from agent.guards.policy import Policy
from agent.guards.rules import shipped
from agent.guards.stricter import StricterPolicy, stricter

APPROVE, REFUSE, SECRET = Gate("approve", "why"), Gate("refuse", "why"), Gate("secret", "why")


@pytest.mark.parametrize(
    ("one", "other", "wins"),
    [
        (ALLOWED, APPROVE, APPROVE),
        (APPROVE, REFUSE, REFUSE),
        (APPROVE, SECRET, SECRET),
        (HARMLESS, ALLOWED, ALLOWED),
        (ALLOWED, Gate("allow", standing="unknown", sensitive=True), Gate("allow", standing="unknown", sensitive=True)),
    ],
)
def test_the_stricter_answer_counts_on_either_side(one: Gate, other: Gate, wins: Gate) -> None:
    assert stricter(one, other) == wins
    assert stricter(other, one) == wins


@pytest.mark.slow
def test_either_may_close_an_app() -> None:
    rules = shipped().model_dump()
    rules["refuse"]["packages"] = [*rules["refuse"]["packages"], "org.example.notes"]
    for both in (
        StricterPolicy(Policy.default(), Policy(rules)),
        StricterPolicy(Policy(rules), Policy.default()),
    ):
        assert both.closes("org.example.notes")
        assert not both.closes("com.android.settings")


@pytest.mark.slow
def test_rules_that_cross_are_the_same_rules() -> None:
    assert Policy(Policy.default().rules()).rules() == Policy.default().rules()
