"""The part that works on tasks, without any chat: put together, taken apart, and refused before anything has begun."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.run import Outcome
from bot.config.settings import Settings, SettingsError
from bot.domain.address import Address, Person
from bot.domain.task import Task
from bot.domain.task_request import Origin, TaskRequest
from bot.store.errors import DirectoryInUse, StoreCorrupt
from bot.store.sqlite.checkpoints import CHECKPOINTS_NAME
from bot.wiring.core import open_core
from devices.virtual_phone.phone import VirtualPhone
from tests.fixtures.adb import AdbServer

LIMIT = 30.0
OPERATOR = Person("cli", "operator", "operator")
HERE = Address("cli", "local", "terminal")


@pytest.fixture
async def phone(adb_server: AdbServer) -> AsyncIterator[VirtualPhone]:
    async with VirtualPhone() as made:
        await adb_server.connect(made.address)
        yield made
        await adb_server.disconnect(made.address)


@pytest.fixture
def settings(adb_server: AdbServer, phone: VirtualPhone, tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "adb_servers": ((adb_server.host, adb_server.port),),
            "android_serials": (phone.address,),
            "data_dir": tmp_path / "data",
        }
    )


async def ended(settings: Settings, text: str) -> Task:
    """Give a task to a core of its own, and wait for its end."""
    async with open_core(settings, ()) as core:
        changed = asyncio.Event()
        core.task_service.subscribe(lambda _: changed.set())
        accepted = await core.task_service.accept(TaskRequest(text, OPERATOR, Origin(HERE, "")))
        async with asyncio.timeout(LIMIT):
            while True:
                changed.clear()
                task = await core.task_service.known(accepted.task.id)
                if task.outcome is not None:
                    return task
                await changed.wait()


async def test_without_a_model_the_offline_pilot_works(settings: Settings, phone: VirtualPhone) -> None:
    task = await ended(settings, "open browser and search OpenGUI")
    assert task.outcome is Outcome.SUCCEEDED
    assert phone.truth.searches == ("OpenGUI",)
    assert (settings.data_dir / "frames").is_dir()


async def test_a_second_one_goes_on_with_what_the_first_kept(settings: Settings) -> None:
    first = await ended(settings, "open settings")
    second = await ended(settings, "open notes")
    assert int(second.id) == int(first.id) + 1


async def test_one_at_a_time(settings: Settings) -> None:
    async with open_core(settings, ()):
        with pytest.raises(DirectoryInUse, match="in use by another process"):
            async with open_core(settings, ()):
                pass


async def test_a_dialect_that_does_not_exist_leaves_no_trace(settings: Settings) -> None:
    wrong = settings.model_copy(update={"vlm_dialect": "klingon"})
    with pytest.raises(SettingsError, match="VLM_DIALECT"):
        async with open_core(wrong, ()):
            pass
    assert not settings.data_dir.exists()


async def test_what_was_opened_is_closed_when_the_rest_cannot_be(settings: Settings) -> None:
    """Damaged checkpoints: the store and the lock are free again, so that the operator can mend it and start."""
    settings.data_dir.mkdir(mode=0o700)
    checkpoints = settings.data_dir / CHECKPOINTS_NAME
    checkpoints.write_bytes(b"no database " * 500)
    with pytest.raises(StoreCorrupt, match="Move it away"):
        async with open_core(settings, ()):
            pass
    checkpoints.unlink()
    async with open_core(settings, ()) as core:
        assert await core.task_service.active() == ()
