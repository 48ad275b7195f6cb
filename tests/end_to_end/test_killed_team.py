"""A sample of what `make chaos` does to members at work."""

from __future__ import annotations

from tests.end_to_end.killed_team import kill_again_and_again
from tests.end_to_end.service import Place


async def test_members_go_on_where_they_stood_and_do_nothing_twice(place: Place) -> None:
    killed = await kill_again_and_again(place, kills=2, seed=7, lines=4)
    assert killed.kills == 2
    killed.judge()
