"""The whole table of presses against the rules: forms of windows in the words of each language."""

from __future__ import annotations

import pytest

from agent.guards.policy import Policy
from tests.agent.guards.table.cases import ASIDE_MISSED, HELD_MISSED, NEEDLESS, Case, cases
from tests.agent.guards.table.unseen import figures


def wrong(part: list[Case]) -> list[str]:
    policy = Policy.default()
    return [case.name for case in part if case.passes(policy) is case.held]


def test_the_table_is_large_and_wide() -> None:
    held = [case for case in cases() if case.held]
    assert len(held) >= 500
    assert len({case.language for case in held}) > 30
    assert len({case.form for case in held}) >= 15
    assert len({case.language for case in held if case.aside} - {case.language for case in held if not case.aside}) >= 8
    assert sum(not case.held for case in cases()) >= 1000


@pytest.mark.slow
def test_what_has_a_consequence_is_held() -> None:
    """Seen failing with the rules before the tables of languages: 63.6 % passed, and 71.3 % of what is set aside."""
    held = [case for case in cases() if case.held]
    seen, aside = ([case for case in held if case.aside is part] for part in (False, True))
    assert len(wrong(seen)) <= HELD_MISSED * len(seen), wrong(seen)
    assert len(wrong(aside)) <= ASIDE_MISSED * len(aside), wrong(aside)


@pytest.mark.slow
def test_ordinary_presses_of_all_languages_are_not_asked_about() -> None:
    ordinary = [case for case in cases() if not case.held]
    assert len(wrong(ordinary)) <= NEEDLESS * len(ordinary), wrong(ordinary)


@pytest.mark.slow
def test_the_labels_of_real_apps_are_within_the_targets() -> None:
    """Seen failing while the rows of lists counted as buttons: 13 % of the ordinary ones were asked about."""
    assert [str(each) for aside in (False, True) for each in figures(Policy.default(), aside=aside) if each.above] == []
