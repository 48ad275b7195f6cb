"""`make chaos`: the service is killed again and again while members of the team work on files.

CHAOS_TEAM_KILLS says how often (100), CHAOS_SEED repeats the choices of a run.
"""

from __future__ import annotations

import os
import random
import sys

import pytest

from tests.chaos.records import damage
from tests.end_to_end.killed_team import kill_again_and_again
from tests.end_to_end.service import place_with
from tests.fixtures.adb import AdbServer

KILLS = int(os.environ.get("CHAOS_TEAM_KILLS", "100"))
SEED = int(os.environ.get("CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
LINES = 25
"""Of each member in one task: as many calls as one may make, but a few."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(3600)]


async def test_members_go_on_where_they_stood_and_do_nothing_twice(
    adb_server: AdbServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Seen failing, with a line that stands twice, where `write_file` counts as repeatable."""
    killed = uncertain = tasks = 0
    while killed < KILLS:
        tasks += 1
        async with place_with(adb_server, tmp_path_factory.mktemp("team")) as place:
            result = await kill_again_and_again(place, kills=KILLS - killed, seed=SEED + tasks, lines=LINES)
            result.judge()
            assert damage(place.data) == []
        killed, uncertain = killed + result.kills, uncertain + result.uncertain
    sys.stderr.write(f"\nseed {SEED}: {killed} kills in {tasks} tasks of two members, {uncertain} calls uncertain\n")
