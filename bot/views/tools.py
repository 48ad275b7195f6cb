"""Describes the tools that need no phone: which are available, and what the others lack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agent.ports.workshop import Lack
from bot.config.installation import lack_of
from bot.texts import say
from devices.extras import Extra
from devices.wording import said


class ToolLack(StrEnum):
    """The setting that is missing for a tool. For tools of the workshop, a `Lack` says what is missing, and for
    libraries an `Extra`.
    """

    KNOWLEDGE_DIR = "knowledge_dir"
    WEB_TOOLS = "web_tools"


@dataclass(frozen=True, slots=True)
class ToolState:
    """The state of one tool that needs no phone."""

    name: str
    lack: ToolLack | Lack | Extra | None = None
    """Why it is not available; None if it is."""
    in_runs: bool = False
    """Whether it is also available while a phone is used."""
    server: str = ""
    """The server in `mcp.json` that it belongs to; "" for a tool of this program."""

    @property
    def about(self) -> str:
        """What the tool does, in a few words. For an external tool, the server's own description is not used."""
        about = say("tools.of_server", server=self.server) if self.server else say(f"cli.tools.about.{self.name}")
        return say("cli.tool.in_runs", about=about) if self.in_runs and self.lack is None else about

    @property
    def why(self) -> str:
        """A sentence that says why the tool is not available; "" if it is."""
        if self.lack is None:
            return ""
        if isinstance(self.lack, Lack):
            return say(f"workshop.lack.{self.lack.value}")
        if isinstance(self.lack, Extra):
            return said(lack_of(self.lack))
        return say(f"tools.lack.{self.lack.value}")


class Absence(StrEnum):
    """The reason why a server in `mcp.json` is not connected; the value is for the log."""

    CONNECTING = "it is not connected yet"
    ENDED = "it has ended"
    SILENT = "it has not answered in time"
    NO_LIMITS = "it is not started, since this machine has no prlimit to hold it to limits"
    NO_COMMAND = "its command is not installed"
    UNREACHABLE = "it could not be started or reached"
    FAILED = "its connection has failed"


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state of an MCP server: why it is not connected (None if it is), the names of its tools, and how many more
    are left out.
    """

    name: str
    absence: Absence | None
    tools: tuple[str, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ServerAway:
    """A server in `mcp.json` whose tools are not available, and the reason. The name "" stands for the file itself."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """All tools that need no phone with their states, the MCP servers that answer, and those that do not."""

    tools: tuple[ToolState, ...] = ()
    answering: tuple[ServerState, ...] = ()
    away: tuple[ServerAway, ...] = ()


def tool_lines(offer: ToolOffer) -> Iterator[str]:
    """Yield one line per tool, first the available ones, then those that lack something; then the MCP servers that are
    not available, and those of whose tools some are left out.
    """
    yield from (f"{tool.name}: {tool.about}" for tool in offer.tools if tool.lack is None)
    for tool in offer.tools:
        if tool.lack is not None:
            yield f"{tool.name}: {say('cli.tool.missing', about=tool.about, why=tool.why)}"
    yield from (server_line(server) for server in offer.away)
    for one in offer.answering:
        if one.left_out:
            yield say("tools.left_out", server=one.name, number=one.left_out)


def server_line(server: ServerAway) -> str:
    """Return a line that says why a server's tools are missing."""
    if not server.name:
        return say("tools.file_away", why=server.why)
    return say("tools.server_away", server=server.name, why=server.why)


def server_data(offer: ToolOffer) -> Iterator[dict[str, Any]]:
    """Yield the servers in `mcp.json` as JSON: first those that answer, then the others with the reason."""
    for one in offer.answering:
        yield {"name": one.name, "why": "", "tools": list(one.tools), "left_out": one.left_out}
    yield from ({"name": one.name, "why": one.why, "tools": [], "left_out": 0} for one in offer.away)


def tool_data(tool: ToolState) -> dict[str, Any]:
    """Convert the state of a tool to JSON."""
    return {
        "tool": tool.name,
        "offered": tool.lack is None,
        "lacks": None if tool.lack is None else tool.lack.value,
        "why": tool.why or None,
        "in_runs": tool.in_runs,
    }
