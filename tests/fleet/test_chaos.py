"""`make fleet-chaos`: a hundred faults (FLEET_FAULTS) of host, hub, engine and the cables between them.

Cuts last 5 s, every tenth of them 60 s and one 10 min. FLEET_SEED repeats the choices of a run.
"""

from __future__ import annotations

import os
import random
import sys

import pytest

from tests.end_to_end.service import Place
from tests.fleet.chaos import play

SEED = int(os.environ.get("FLEET_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
FAULTS = int(os.environ.get("FLEET_FAULTS", "100"))


def say(text: str) -> None:
    print(f"fleet chaos: {text}", file=sys.__stderr__, flush=True)


def cut(number: int) -> float:
    """How long the cut of this fault lasts."""
    if number == FAULTS // 2 and FAULTS >= 100:
        return 600.0  # a host that stays away for so long is lost, and people are asked
    return 60.0 if number % 10 == 9 else 5.0


@pytest.mark.chaos
@pytest.mark.timeout(6 * 3600)
async def test_nothing_is_lost_and_nothing_happens_twice(place: Place) -> None:
    say(f"seed {SEED}, {FAULTS} faults")
    await play(place, FAULTS, SEED, say, seconds=cut)


@pytest.mark.fleet
@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_sample_of_it(place: Place) -> None:
    await play(place, 3, 7, say, seconds=lambda _: 2.0)
