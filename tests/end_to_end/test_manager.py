"""The service under a manager that listens and watches."""

from __future__ import annotations

from tests.bot.monitoring.listener import Listener
from tests.end_to_end.service import Place


async def test_it_says_when_it_is_ready_alive_and_about_to_end(place: Place) -> None:
    with Listener() as manager:
        async with place.service(NOTIFY_SOCKET=manager.address, WATCHDOG_USEC="2000000"):
            await manager.hears("READY=1")
            await manager.hears("WATCHDOG=1", times=2)
            await manager.hears("STATUS=Tasks: none. Phones: 1")
        await manager.hears("STATUS=Stopping")
        assert manager.told[0] == "STATUS=Starting"
        assert manager.told.index("READY=1") < manager.told.index("STOPPING=1")
        assert "WATCHDOG=1" not in manager.told[manager.told.index("STOPPING=1") :]
