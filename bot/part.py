"""The manifest of an optional part of the program, such as the fleet: everything that the rest of the program knows
about it.
"""

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
    """A subcommand of `opengui`. Its help text and examples are in the text catalogue, under its name."""

    name: str
    code: str
    """The function that runs the command, as `module:name`, imported on use. It takes the options and the settings
    and is awaited for the exit code; if `is_sealed`, it takes only the options and returns the exit code.
    """
    add_options: Callable[[argparse.ArgumentParser], None] = lambda _parser: None
    stays: bool = False
    """Whether the command runs until it gets a signal."""
    is_sealed: bool = False
    """Whether settings must not be read for the command, so that its process never holds a secret."""


@dataclass(frozen=True, slots=True)
class WorkshopOffer:
    """The workshop (a sandbox that runs programs for the agent) that can be used, if any.

    `workshop` is None if none can be used; `lack` then says what is missing. `close` stops a workshop that this service
    started.
    """

    workshop: Workshop | None
    lack: Lack | None = None
    close: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class ForeignTools:
    """Tools from external MCP servers.

    `tools` returns those available now, `states` the state of each server. `refused` maps the name of each rejected
    server to the reason; "" stands for the file that lists them.
    """

    tools: Callable[[], tuple[Tool[Any], ...]] = tuple
    states: Callable[[], Sequence[ServerState]] = tuple
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolServers:
    """The functions for external MCP servers with tools for the agent. The servers are listed in a file
    (`bot.config.installation.MCP_NAME`).
    """

    connected: Callable[[Path, Callable[[], bool]], AbstractAsyncContextManager[ForeignTools]]
    """Keeps the servers in this data directory connected until the block ends. Does nothing if the file is missing. The
    second argument says right before each call whether the record is certainly this service's; otherwise nothing is
    called.
    """
    refused: Callable[[Path], Mapping[str, str]]
    """The rejected servers, each with the reason; the key "" is the file itself. Reads the disk."""
    listed: Callable[[Path], list[str]]
    """What would be started or contacted, one line each, for a person to review. Reads the disk."""


class RunningService(Protocol):
    """The running service, as reached through the HTTP API of its console."""

    async def read(self, path: str) -> dict[str, Any]:
        """Return the JSON object that the service answers at this path. Raises ServiceGone if that is an error."""


@dataclass(frozen=True, slots=True)
class Part:
    """An optional part of the program. Importing its manifest is cheap; its functions import what they need when they
    are called.
    """

    commands: tuple[Command, ...] = ()
    check: Callable[[Settings, RunningService | None], Awaitable[list[Finding]]] | None = None
    """What the doctor reports about the part."""
    machines: Callable[[Settings, Store, Policy], RemoteMachines | None] | None = None
    """The other machines that do runs; None if the settings name none. Raises SettingsError."""
    routes: Callable[[Services], Sequence[BaseRoute]] | None = None
    """The routes that the part adds to the console."""
    api: Callable[[], APIRouter] | None = None
    """The routes that the part adds to /api/v1."""
    workshop: Callable[[str], Awaitable[WorkshopOffer]] | None = None
    """Finds the workshop that the setting names, and runs a real job in it as a test."""
    tool_servers: Callable[[], ToolServers] | None = None
    """The external servers with tools."""
    work: Callable[[Services], Awaitable[None]] | None = None
    """Runs in the background from the start of the service until it is cancelled."""
