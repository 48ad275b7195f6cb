"""The checks for dependencies that the service may have to wait for. Their texts contain no address, path or person."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from bot.domain.chat import Connected
from bot.domain.limits import LITTLE_ROOM
from bot.monitoring.dependencies import LITTLE, Source, memory_left
from bot.texts import words
from bot.wiring.core import Core


def of_core(core: Core) -> dict[str, Source]:
    """Return the checks for the parts of the core that can be unavailable, by name."""
    return {
        "store": partial(_store, core),
        "disk": partial(_disk, core.settings.data_dir),
        "memory": _memory,
        "model": partial(_model, core),
        "adb": partial(_adb, core),
        "phones": partial(_phones, core),
    }


def of_chats(chats: Iterable[Connected]) -> dict[str, Source]:
    """Return one check for each chat, by platform."""
    return {chat.platform: partial(_chat, chat) for chat in chats}


async def _store(core: Core) -> str:
    await core.checkpoints.probe()
    trouble = await core.store.trouble() or core.checkpoints.trouble
    return words("waits.store", why=trouble) if trouble else ""


async def _disk(directory: Path) -> str:
    free = (await asyncio.to_thread(shutil.disk_usage, directory)).free
    return words("waits.disk", megabytes=f"{free / 1e6:.0f}") if free < LITTLE_ROOM else ""


async def _memory() -> str:
    left = memory_left()
    return words("waits.memory", megabytes=f"{left / 1e6:.0f}") if left is not None and left < LITTLE else ""


async def _model(core: Core) -> str:
    cause = core.run_configs.state.cause
    return "" if cause is None else words(f"waits.model.{cause}")


async def _adb(core: Core) -> str:
    away = core.phones.away
    return words("waits.adb", number=away) if away else ""


async def _phones(core: Core) -> str:
    return "" if any(phone.health.usable for phone in core.phones.list()) else words("waits.phones")


async def _chat(chat: Connected) -> str:
    return "" if chat.online else words("waits.chat")
