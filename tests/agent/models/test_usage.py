"""Usage by role and model: booked where a model is asked, folded without losing a token, kept and read again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.events import RunEnded
from agent.graph.subjects import spent
from agent.models.base import ModelRequest, Purpose, Share, Usage
from agent.run import Outcome, RunId

BIG = Usage(input=1_000, output=50, cached=400, reasoning=20, calls=1, cost=0.02).booked_on("vision", "big")
SMALL = Usage(input=300, output=10, calls=1, cost=0.001).booked_on("basic", "small")
FREE = Usage(input=77, output=3, calls=1).booked_on("researcher", "local")


def test_a_sum_keeps_each_role_and_model_once() -> None:
    whole = BIG + SMALL + BIG + FREE + SMALL
    assert whole.shares == (
        Share("vision", "big", 2_000, 100, 800, 2, 0.04),
        Share("basic", "small", 600, 20, 0, 2, 0.002),
        Share("researcher", "local", 77, 3, 0, 1, None),
    )
    assert sum(share.tokens for share in whole.shares) == whole.tokens == 2_800
    assert whole.cost == pytest.approx(0.042)


def test_what_is_booked_nowhere_is_a_share_without_names() -> None:
    before = Usage(input=500, output=20, calls=4, cost=0.01)
    assert before.shares == (Share("", "", 500, 20, 0, 4, 0.01),)
    booked, rest = (before + SMALL).shares
    assert booked == SMALL.booked[0]
    assert rest == replace(before.shares[0], cost=rest.cost)
    assert rest.cost == pytest.approx(0.01)
    assert spent({}).shares == ()


def test_it_is_the_same_after_a_checkpoint_and_on_the_way_to_another_machine() -> None:
    whole = BIG + SMALL
    assert spent({"usage": whole.data()}) == whole
    assert "booked" not in Usage(input=1).data()
    ended = RunEnded(run=RunId("1"), subtask=1, outcome=Outcome.SUCCEEDED, summary="Done.", usage=whole)
    assert RunEnded.model_validate_json(ended.model_dump_json()).usage == whole


def test_a_purpose_has_a_role_and_a_member_is_one_of_its_own() -> None:
    assert [ModelRequest(purpose, ()).role for purpose in (Purpose.ACT, Purpose.GUARD, Purpose.PLAN)] == [
        "vision",
        "guard",
        "reasoning",
    ]
    assert ModelRequest(Purpose.SUMMARIZE, ()).role == "basic"
    assert ModelRequest(Purpose.ACT, (), member="researcher").role == "researcher"
