"""`make chaos`: the service is killed again and again while it does a recorded skill again.

CHAOS_SKILL_KILLS says how often (100), CHAOS_SEED repeats the choices of a run.
"""

from __future__ import annotations

import os
import random
import sys

import pytest

from tests.chaos.records import damage
from tests.end_to_end.killed_replay import kill_again_and_again
from tests.end_to_end.service import place_with
from tests.fixtures.adb import AdbServer

KILLS = int(os.environ.get("CHAOS_SKILL_KILLS", "100"))
SEED = int(os.environ.get("CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(3600)]


async def test_a_killed_replay_does_nothing_twice(
    adb_server: AdbServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with place_with(adb_server, tmp_path_factory.mktemp("skills")) as place:
        result = await kill_again_and_again(place, kills=KILLS, seed=SEED)
        result.judge()
        assert damage(place.data) == []
    sys.stderr.write(f"\nseed {SEED}: {result.kills} kills, {dict(result.outcomes)}, {len(result.written)} notes\n")
