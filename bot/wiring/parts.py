"""Loads the optional parts of the program. No other module names them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.config.installation import MCP_NAME
from bot.part import ForeignTools, Part, ToolServers
from bot.texts import say, words
from devices.extras import load_part

if TYPE_CHECKING:
    from fastapi import APIRouter
    from starlette.routing import BaseRoute

    from bot.application.services import Services
    from bot.monitoring.dependencies import Dependencies

logger = logging.getLogger(__name__)

AGAIN_S: Final = 10.0
"""Seconds before failed work is begun again."""
MANIFESTS: Final = (
    "bot.fleet",
    "bot.workshop",
    "bot.model_comparison",
    "bot.mcp_servers",
    "bot.triggers",
    "bot.webhooks",
)
"""The modules of the parts; each has a `PART`."""
NEEDED: Final = {
    "fleet": ("bot.fleet",),
    "host": ("bot.fleet",),
    "workshop": ("bot.workshop",),
    "compare-models": ("bot.model_comparison", "devices.virtual_phone", "agent.offline"),
    "phone": ("devices.virtual_phone",),
    "when": ("bot.triggers",),
    "triggers": ("bot.triggers",),
    "webhooks": ("bot.webhooks",),
}
"""The packages that a command needs; without them it does not exist."""


@cache
def installed_parts() -> tuple[Part, ...]:
    """Return the optional parts whose folders exist."""
    found = (load_part(f"{package}.manifest") for package in MANIFESTS)
    return tuple(each.PART for each in found if each is not None)


def lacking(command: str) -> str:
    """Return the missing folder that a command needs; "" if nothing is missing."""
    absent = (package for package in NEEDED[command] if load_part(package) is None)
    return next(absent, "").replace(".", "/")


def tool_servers() -> ToolServers:
    """Return the functions that connect external MCP servers, read their configuration file and list their tools. If
    the part `bot.mcp_servers` is not installed, they only log that the file is not used.
    """
    for part in installed_parts():
        if part.tool_servers is not None:
            return part.tool_servers()
    return ToolServers(_unconnected, _unread, _unlisted)


@asynccontextmanager
async def _unconnected(data_dir: Path, _may_call: Callable[[], bool]) -> AsyncGenerator[ForeignTools]:
    refused = await asyncio.to_thread(_unread, data_dir)
    for why in refused.values():
        logger.error("%s is not used: %s", MCP_NAME, why)
    yield ForeignTools(refused=refused)


def _unread(data_dir: Path) -> Mapping[str, str]:
    why = say("parts.absent", folder="bot/mcp_servers")
    return {"": why} if (data_dir / MCP_NAME).exists() else {}


def _unlisted(data_dir: Path) -> list[str]:
    return [say("cli.backup.refused", name=MCP_NAME, why=why) for why in _unread(data_dir).values()]


def part_routes(services: Services) -> list[BaseRoute]:
    """Return the routes that the optional parts add to the console."""
    return [route for part in installed_parts() if part.routes is not None for route in part.routes(services)]


@asynccontextmanager
async def parts_at_work(
    services: Services,
    waits: Dependencies,
    parts: Collection[Part] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncGenerator[None]:
    """Run the background work of the optional parts until the block ends. Work that fails is started again, and counts
    as an outage in `waits` until it has run for AGAIN_S seconds.
    """
    failed: dict[str, bool] = {}

    async def carry_on(name: str, work: Callable[[Services], Awaitable[None]]) -> None:
        while True:
            healthy = asyncio.get_running_loop().call_later(AGAIN_S, failed.pop, name, None)
            try:
                return await work(services)
            except Exception:
                logger.exception("%s has failed and will be restarted", name)
            finally:
                healthy.cancel()
            failed[name] = True
            await sleep(AGAIN_S)

    async def state(name: str) -> str:
        return words("waits.part", part=name) if name in failed else ""

    works = {
        part.work.__module__.removesuffix(".manifest"): part.work
        for part in (installed_parts() if parts is None else parts)
        if part.work is not None
    }
    waits.add({name: partial(state, name) for name in works})
    tasks = [asyncio.create_task(carry_on(name, work), name=name) for name, work in works.items()]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def part_routers() -> list[APIRouter]:
    """Return the routers that the optional parts add to /api/v1. Imports fastapi."""
    return [part.api() for part in installed_parts() if part.api is not None]
