"""Work of the program's parts: what fails is begun again, and is seen to have failed."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.application.services import Services
from bot.monitoring.dependencies import Dependencies
from bot.part import Part
from bot.store.errors import StoreAway
from bot.wiring.parts import parts_at_work
from tests.bot.world import a_world


async def test_work_that_fails_is_begun_again_and_seen(tmp_path: Path) -> None:
    """Seen failing (begun once, and nothing waited for) with the work not begun again."""
    begun, failed, again = 0, asyncio.Event(), asyncio.Event()

    async def work(_services: Services) -> None:
        nonlocal begun
        begun += 1
        if begun == 1:
            raise StoreAway("the disk is full")
        await asyncio.Event().wait()

    async def sleep(_seconds: float) -> None:
        failed.set()
        await again.wait()

    waits = Dependencies({})
    async with (
        asyncio.timeout(5.0),
        a_world(tmp_path) as world,
        parts_at_work(world.services, waits, [Part(work=work)], sleep),
    ):
        await failed.wait()
        await waits.check()
        await waits.check()
        assert [wait.what for wait in waits.current_waits()] == [__name__]
        again.set()
        while begun < 2:
            await asyncio.sleep(0)
