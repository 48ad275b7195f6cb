"""What the manager is told, over real sockets."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.monitoring.heartbeat import DESK_STILL_S, Pulse, ServiceManager
from tests.bot.monitoring.listener import Listener


@pytest.mark.parametrize("abstract", [True, False], ids=["an abstract socket", "a path"])
async def test_every_word_arrives_as_one_datagram(abstract: bool) -> None:
    # Not tmp_path: a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory() as folder, Listener("" if abstract else str(Path(folder) / "s")) as listener:
        manager = ServiceManager.from_environment({"NOTIFY_SOCKET": listener.address, "WATCHDOG_USEC": "3000000"})
        assert manager.watchdog == 3.0
        manager.status("two\nlines")
        manager.status("two\nlines")
        manager.ready()
        manager.alive()
        manager.stopping()
        await listener.hears("STOPPING=1")
        assert listener.told == ["STATUS=two lines", "READY=1", "WATCHDOG=1", "STOPPING=1"]


@pytest.mark.parametrize(
    "environment",
    [{}, {"WATCHDOG_USEC": "3000000"}, {"NOTIFY_SOCKET": "vsock:2:1"}, {"NOTIFY_SOCKET": ""}],
    ids=["nothing", "a watchdog alone", "another kind of socket", "an empty name"],
)
def test_without_a_manager_nothing_is_told(environment: dict[str, str]) -> None:
    manager = ServiceManager.from_environment(environment)
    assert not manager.listens
    assert manager.watchdog is None
    manager.ready()


def test_a_watchdog_of_another_process_does_not_count() -> None:
    told = {"NOTIFY_SOCKET": "@there", "WATCHDOG_USEC": "3000000"}
    assert ServiceManager.from_environment({**told, "WATCHDOG_PID": "1"}).watchdog is None
    assert ServiceManager.from_environment({**told, "WATCHDOG_PID": str(os.getpid())}).watchdog == 3.0
    assert ServiceManager.from_environment({**told, "WATCHDOG_USEC": "soon"}).watchdog is None


def test_a_manager_that_went_away_is_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    manager = ServiceManager("@opengui-test-nobody")
    with caplog.at_level(logging.WARNING):
        manager.ready()
        manager.alive()
    assert len(caplog.records) == 1


class WindowManager:
    still = 0.0

    def seconds_since_round(self) -> float:
        return self.still


async def told_of(task_service: WindowManager, listener: Listener, status: Callable[[], str]) -> None:
    async def line() -> str:
        return status()

    manager = ServiceManager(listener.address, watchdog=0.04)
    with Pulse(task_service.seconds_since_round, manager, line).beating():
        await listener.hears("STATUS=", times=3)


async def test_a_desk_that_turns_feeds_the_watchdog() -> None:
    lines = iter(f"line {number}" for number in range(1000))
    with Listener() as listener:
        await told_of(WindowManager(), listener, lambda: next(lines))
        assert listener.told.count("WATCHDOG=1") >= 3


async def test_a_desk_that_stands_still_does_not(caplog: pytest.LogCaptureFixture) -> None:
    """Must fail with `alive` told whatever the task service does: a service that hangs would never be started anew."""
    lines = iter(f"line {number}" for number in range(1000))
    task_service = WindowManager()
    task_service.still = DESK_STILL_S
    with Listener() as listener:
        await told_of(task_service, listener, lambda: next(lines))
        assert "WATCHDOG=1" not in listener.told
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@pytest.mark.slow
async def test_a_loop_that_is_blocked_feeds_nobody() -> None:
    """What the watchdog is for: while something holds the loop, no sign of life is sent."""
    with Listener() as listener:

        async def line() -> str:
            return ""

        with Pulse(
            WindowManager().seconds_since_round, ServiceManager(listener.address, watchdog=0.04), line
        ).beating():
            await listener.hears("WATCHDOG=1", times=2)
            before = listener.told.count("WATCHDOG=1")
            time.sleep(0.4)  # noqa: ASYNC251 - the block itself
            await asyncio.sleep(0)
            assert listener.told.count("WATCHDOG=1") - before <= 1, "ten were due"
            await listener.hears("WATCHDOG=1", times=before + 3)


async def test_a_status_that_cannot_be_had_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def status() -> str:
        raise OSError("the disk is away")

    with Listener() as listener:

        async def line() -> str:
            return status()

        with Pulse(
            WindowManager().seconds_since_round, ServiceManager(listener.address, watchdog=0.04), line
        ).beating():
            await listener.hears("WATCHDOG=1", times=8)
    assert "the disk is away" in caplog.text
