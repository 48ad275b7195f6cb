"""Where it is asked what the service waits for. The sentences name no address, no path and nobody."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from bot.connections import Connected
from bot.core import Core
from bot.store.keeping import LITTLE_ROOM
from bot.watching.waits import Source


def of_core(core: Core) -> dict[str, Source]:
    """One for each part that works on tasks and can be away."""
    return {
        "store": partial(_store, core),
        "disk": partial(_disk, core.settings.data_dir),
        "model": partial(_model, core),
        "adb": partial(_adb, core),
        "phones": partial(_phones, core),
    }


def of_chats(chats: Iterable[Connected]) -> dict[str, Source]:
    """One for each platform."""
    return {chat.platform: partial(_chat, chat) for chat in chats}


async def _store(core: Core) -> str:
    await core.checkpoints.probe()
    trouble = await core.store.trouble() or core.checkpoints.trouble
    return f"Nothing can be written ({trouble})." if trouble else ""


async def _disk(directory: Path) -> str:
    free = (await asyncio.to_thread(shutil.disk_usage, directory)).free
    return f"Only {free / 1e6:.0f} MB are left on its disk." if free < LITTLE_ROOM else ""


async def _model(core: Core) -> str:
    return "Its endpoint does not answer." if any(model.away for model in core.terms.waited_for) else ""


async def _adb(core: Core) -> str:
    away = len(core.phones.servers_away)
    return f"{away} of the adb servers do not answer." if away else ""


async def _phones(core: Core) -> str:
    return "" if any(phone.health.usable for phone in core.phones.list()) else "No phone can be used."


async def _chat(chat: Connected) -> str:
    return "" if chat.online else "The platform does not answer, or did not let the bot in."
