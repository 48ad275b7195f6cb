"""Recorded skills on the phones of other makers: code goes on where the words are there, and touches nothing else."""

from __future__ import annotations

import pytest

from tests.agent.recorded.foreign_phones import HOME, MAKERS, SKILLS, Maker, Recorded, replay, touched_without

SKILL = pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.name)
MAKER = pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)


@MAKER
@SKILL
def test_a_recording_needs_no_model_on_another_makers_phone(skill: Recorded, maker: Maker) -> None:
    """Seen failing with words that had to be equal in all of their lines, and with fields whose hint lies in them."""
    made = replay(skill, maker)
    assert made.wrong == ()
    assert made.asked == ()
    assert made.right == len(skill.pages)
    assert made.named is (maker.words is not None and not maker.known), "the names of a language are asked for once"


@pytest.mark.parametrize("home", [maker for maker in MAKERS if not maker.words], ids=lambda maker: maker.name)
@SKILL
def test_it_does_not_matter_on_which_phone_it_was_recorded(skill: Recorded, home: Maker) -> None:
    made = replay(skill, HOME, home)
    assert (made.right, made.asked, made.wrong) == (len(skill.pages), (), ())


@MAKER
@SKILL
def test_nothing_is_touched_in_place_of_what_is_gone(skill: Recorded, maker: Maker) -> None:
    assert touched_without(skill, maker) == []
