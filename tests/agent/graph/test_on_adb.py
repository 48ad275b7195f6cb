"""The journeys of these tests that are made on a real adb server, too.

The other tests have their phone in this process. What lies between is adb's server with its protocol, the driver's
threads and sockets, and the pool: a plain task shows that looks, launches and touches come through it, an order that
inputs are counted as here, and the cable that a run sees a phone go and come back. Whatever else may go wrong between
them is tried in tests/faults/phones and tests/devices.
"""

from __future__ import annotations

import pytest

from tests.agent.graph.rig import Rig
from tests.agent.graph.test_cable import (  # noqa: F401
    test_a_cable_that_is_soon_back_interrupts_nothing,
    test_a_cable_that_stays_out_blocks_the_task,
)
from tests.agent.graph.test_files import test_the_bytes_that_were_asked_for_arrive  # noqa: F401
from tests.agent.graph.test_guards import test_an_order_is_paid_once_and_only_when_allowed  # noqa: F401
from tests.agent.graph.test_simple import test_a_toggle_is_switched  # noqa: F401


@pytest.fixture
def rig(adb_rig: Rig) -> Rig:
    """Behind a real adb server."""
    return adb_rig
