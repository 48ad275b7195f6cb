"""A part that the program can do without, as one manifest: all that the rest of the program knows of it."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from fastapi import APIRouter
    from starlette.routing import BaseRoute

    from agent.guards.policy import Policy
    from agent.ports.workshop import Lack, Workshop
    from agent.tools.spec import Tool
    from bot.application.services import Services
    from bot.config.settings import Settings
    from bot.domain.finding import Finding
    from bot.machines import RemoteMachines
    from bot.store.store import Store
    from bot.views.tools import ServerState


@dataclass(frozen=True, slots=True)
class Command:
    """A command of `opengui`. Its help and its examples stand in the catalogue, under its name."""

    name: str
    code: str
    """The function that does it, as `module:name`, loaded when it is asked for: it takes the options and the settings
    and is awaited for the exit code. Where the command `is_sealed`, it takes the options alone and returns the code.
    """
    add_options: Callable[[argparse.ArgumentParser], None] = lambda _parser: None
    stays: bool = False
    """Whether it works until a signal."""
    is_sealed: bool = False
    """Whether no setting may be read for it, so that its process has no secret."""


@dataclass(frozen=True, slots=True)
class WorkshopOffer:
    """The workshop that jobs go to, or None and what is lacking. `close` ends one that this service has started."""

    workshop: Workshop | None
    lack: Lack | None = None
    close: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class ForeignTools:
    """What servers of others give: the tools of those that answer, how each server is, and which are not used, with
    the reason.
    """

    tools: Callable[[], tuple[Tool[Any], ...]] = tuple
    states: Callable[[], Sequence[ServerState]] = tuple
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolServers:
    """Servers of others with tools for the agent, named in a file (`bot.config.places.MCP_NAME`)."""

    connected: Callable[[Path], AbstractAsyncContextManager[ForeignTools]]
    """Keeps those of this data directory connected until the block ends. Loads nothing where the file is missing."""
    refused: Callable[[Path], Mapping[str, str]]
    """Those that are not used, with the reason; "" is the file itself. Reads the disk."""
    listed: Callable[[Path], list[str]]
    """What would be started or asked, for a person to look over, a line each. Reads the disk."""


class RunningService(Protocol):
    """The service that runs now, asked through its console."""

    async def read(self, path: str) -> dict[str, Any]:
        """What it answers at this address. Raises ServiceGone."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the program. Importing its manifest loads nothing heavy; its functions do, when they are called."""

    commands: tuple[Command, ...] = ()
    check: Callable[[Settings, RunningService | None], Awaitable[list[Finding]]] | None = None
    """What the doctor says of it."""
    machines: Callable[[Settings, Store, Policy], RemoteMachines | None] | None = None
    """The machines beside this one, None where the settings name none. Raises SettingsError."""
    routes: Callable[[Services], Sequence[BaseRoute]] | None = None
    """What the console serves of it."""
    api: Callable[[], APIRouter] | None = None
    """What it adds to /api/v1."""
    workshop: Callable[[str], Awaitable[WorkshopOffer]] | None = None
    """Looks for the workshop that the setting names. A job is really run."""
    tool_servers: Callable[[], ToolServers] | None = None
    """Servers of others with tools."""
    work: Callable[[Services], Awaitable[None]] | None = None
    """What it does beside everything else, from the start of the service until it is cancelled."""
