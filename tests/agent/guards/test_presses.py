"""A table of presses as phones have them: the consequential ones wait, the ordinary ones do not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent.guards.policy import Policy
from tests.agent.guards import screens

TABLE = tomllib.loads(Path(__file__).with_name("presses.toml").read_text(encoding="utf-8"))
NEEDLESS_SHARE = 0.02
"""Of the ordinary presses: more than these would have people allow everything."""


def presses(kind: str) -> list[tuple[dict[str, Any], str]]:
    """Each press of the table by itself."""
    return [(case, word) for case in TABLE[kind] for word in screens.presses(case)]


def verdict(case: dict[str, Any], press: str) -> str:
    return Policy.default().gate(*screens.touch(case, press)).verdict


@pytest.mark.parametrize(("case", "press"), presses("held"), ids=[press for _, press in presses("held")])
def test_what_has_a_consequence_waits(case: dict[str, Any], press: str) -> None:
    """Seen failing before for each of them: a statement needed a question mark, a consent English words, a button its
    words in one node, and of a move only the button at its start was looked at.
    """
    assert verdict(case, press) == "approve"


def test_ordinary_presses_are_not_asked_about() -> None:
    made = presses("free")
    asked = [(case.get("title"), press) for case, press in made if verdict(case, press) != "allow"]
    assert len(asked) <= len(made) * NEEDLESS_SHARE, asked
