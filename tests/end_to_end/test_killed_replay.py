"""A few kills of a real service while it does a skill again; `make chaos` has a hundred."""

from __future__ import annotations

import pytest

from tests.end_to_end.killed_replay import kill_again_and_again
from tests.end_to_end.service import Place


@pytest.mark.timeout(300)
async def test_a_killed_replay_does_nothing_twice(place: Place) -> None:
    result = await kill_again_and_again(place, kills=2, seed=7)
    result.judge()
