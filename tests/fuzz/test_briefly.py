"""Every target for a moment, with the same inputs each time; `make fuzz` takes others and longer."""

from __future__ import annotations

import pytest

from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

pytestmark = pytest.mark.slow

SEED = 20261121


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nothing_that_others_write_breaks_what_reads_it(target: Target[object]) -> None:
    with target.opened() as check:
        target.hunt(check, SEED, target.brief)
