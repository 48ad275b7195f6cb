"""Three layouts for all tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.agent.offline.phones import Phones, phones_on

SEEDS = (0, 3, 8)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phones(virtual_time: None, real_world: None) -> AsyncIterator[Phones]:  # noqa: ARG001  # for the loop
    """Phones with the usual order of icons and rows, and with two others."""
    async with phones_on(*SEEDS) as made:
        yield made
