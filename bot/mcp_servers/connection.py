"""Keeps the connections to the servers in `mcp.json` open. Failed ones are retried with growing pauses, without
blocking anything else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
import httpx2
import mcp_types as wire
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, Tool
from bot.mcp_servers.configuration import ServerEntry
from bot.mcp_servers.tools import OfferedTool, ToolAnswer, description_bytes, fingerprint, foreign_tool, tool_names
from bot.mcp_servers.transports import http_streams, process_streams
from bot.process_limits import NoLimits
from bot.views.tools import Absence, ServerState

logger = logging.getLogger(__name__)
for _library in ("mcp.client", "mcp.shared"):
    # The SDK logs every message of a server in full; what matters is logged here.
    logging.getLogger(_library).setLevel(logging.CRITICAL + 1)

CONNECT_S: Final = 30.0
READ_S: Final = 10.0
"""Seconds for each request of the handshake and each page of tools."""
CALL_S: Final = 60.0
LOOK_EVERY_S: Final = 30.0
"""Seconds between two checks whether a server still answers, and with which tools."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 300.0
STEADY_S: Final = 60.0
"""Seconds after which a connection counts as good, so that the next pause is the shortest again."""
MOST_TOOLS: Final = 40
MOST_TOOL_BYTES: Final = 8_000
MOST_BYTES: Final = 48_000
"""Bytes that one tool, and all tools of a server, may take in each request to a model."""
MOST_TRIED: Final = 80
"""Tools that are tried at most, because building the form of each takes a millisecond or two."""
MOST_PAGES: Final = 5
MOST_REMEMBERED: Final = 1_000
"""Tasks whose calls are counted, and tools whose first description is remembered; any further tool needs approval,
whatever the file says.
"""
AWAY: Final = "Not done: the server {server} cannot be reached now. Do without it, or say that it is missing."
NOT_OURS: Final = "Not done: another service may have taken over the task."
SPENT: Final = "Not done: a task may call the server {server} {calls} times, and this one has. Do without it."
UNCERTAIN: Final = "The server {server} {why}. Nobody knows whether it was done: look before you do it again."


@dataclass(frozen=True, slots=True)
class _Known:
    """A tool that is offered, and what it was built from."""

    tool: Tool[Any]
    made_of: tuple[str, str, int]
    """Its name for models, its fingerprint, and how many other tools are left out."""
    size: int


class ServerConnection:
    """The connection to one MCP server, which is open as long as `run` runs."""

    def __init__(
        self,
        name: str,
        entry: ServerEntry,
        *,
        connect_within: float = CONNECT_S,
        may_call: Callable[[], bool] = lambda: True,
    ) -> None:
        self.name = name
        self._entry = entry
        self._connect_within = connect_within
        self._may_call = may_call
        self._client: Client | None = None
        self._tools: dict[str, _Known] = {}
        self._left_out = 0
        self._first_fingerprints: dict[str, str] = {}
        """The first fingerprint of each tool. A tool that has changed since is no longer the one that was trusted."""
        self._calls_by_task: OrderedDict[str, int] = OrderedDict()
        """Number of calls for each of the latest tasks."""
        self._absence = Absence.CONNECTING
        self.changed = asyncio.Event()
        """Set whenever the server connects or fails."""

    @property
    def tools(self) -> tuple[Tool[Any], ...]:
        """The server's tools while it is connected. They stay the same objects until the server changes their
        descriptions.
        """
        return tuple(known.tool for known in self._tools.values()) if self._client is not None else ()

    @property
    def state(self) -> ServerState:
        """The current state of the connection."""
        kinds = tuple(tool.kind for tool in self.tools)
        return ServerState(self.name, None if self._client else self._absence, kinds, self._left_out)

    async def run(self) -> None:
        """Connect, and reconnect whenever the connection ends, until cancelled."""
        now = asyncio.get_running_loop().time
        pause = FIRST_PAUSE_S
        while True:
            began = now()
            try:
                await self._connection()
                self._absence, detail = Absence.ENDED, ""
            except Exception as error:  # noqa: BLE001 - what a foreign server sends makes its library raise anything
                self._absence, detail = _absence(error)
            self.changed.set()
            if now() - began > STEADY_S:
                pause = FIRST_PAUSE_S
            told = f"{self._absence}{detail and f' ({detail})'}"
            logger.warning("The MCP server %s is not connected: %s. Next attempt in %.0f s.", self.name, told, pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)

    async def _connection(self) -> None:
        gone = asyncio.Event()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._connect_within):
                client = await stack.enter_async_context(
                    Client(_streams(self._entry, gone), read_timeout_seconds=READ_S, cache=None)
                )
                self._update_tools(await _listed(client))
            self._client = client
            stack.callback(setattr, self, "_client", None)
            self.changed.set()
            logger.info("The MCP server %s is there, with %d tools.", self.name, len(self._tools))
            while True:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(gone.wait(), LOOK_EVERY_S)
                if gone.is_set():
                    return
                async with asyncio.timeout(CONNECT_S):
                    self._update_tools(await _listed(client))

    def _update_tools(self, listed: list[OfferedTool]) -> None:
        """Offer as many of these tools as a server may have, first those that the operator named in the file."""
        listed = sorted(listed, key=lambda each: each.name not in self._entry.tools)
        names = tool_names(self.name, (each.name for each in listed))
        tools: dict[str, _Known] = {}
        used = 0
        for offered in listed[:MOST_TRIED]:
            if offered.name in tools or offered.name not in names or len(tools) == MOST_TOOLS:
                continue
            try:
                known = self._build_tool(offered, names[offered.name])
            except Exception as error:  # noqa: BLE001 - a schema can be anything, and pydantic raise anything of it
                logger.warning("A tool of the MCP server %s is left out: %s", self.name, in_a_line(str(error), 200))
                continue
            if known.size <= MOST_TOOL_BYTES and used + known.size <= MOST_BYTES:
                tools[offered.name] = known
                used += known.size
        left_out = len(listed) - len(tools)
        if left_out and tools:
            first = next(each for each in listed if each.name in tools)
            tools[first.name] = self._build_tool(first, names[first.name], left_out)
        if left_out and left_out != self._left_out:
            logger.warning(
                "The MCP server %s offers more than it may: %d of its %d tools are left out. At most %d are offered, of"
                " %d bytes each and %d in all, those first that the file names under tools.",
                self.name, left_out, len(listed), MOST_TOOLS, MOST_TOOL_BYTES, MOST_BYTES,
            )  # fmt: skip
        self._tools, self._left_out = tools, left_out

    def _build_tool(self, offered: OfferedTool, kind: str, left_out: int = 0) -> _Known:
        """Build the tool of a run; return the same object as long as the server describes it the same way."""
        seen = fingerprint(offered)
        if offered.name not in self._first_fingerprints and len(self._first_fingerprints) < MOST_REMEMBERED:
            self._first_fingerprints[offered.name] = seen
        if self._first_fingerprints.get(offered.name, seen) != seen:
            logger.warning(
                "The MCP server %s has changed the description of a tool, so each call of it needs approval now.",
                self.name,
            )
        made_of = (kind, seen, left_out)
        known = self._tools.get(offered.name)
        if known is not None and known.made_of == made_of:
            return known
        ask = partial(self._asks, offered.name, seen)
        tool = foreign_tool(kind, self.name, offered, self._call, ask=ask, left_out=left_out)
        return _Known(tool, made_of, description_bytes(tool))

    def _asks(self, name: str, seen: str) -> bool:
        entry = self._entry.tools.get(name)
        return entry is None or entry.ask or self._first_fingerprints.get(name) != seen

    async def _call(self, task: str, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        client = self._client
        if client is None:
            raise ActionError(AWAY.format(server=self.name))
        made = self._calls_by_task.pop(task, 0)
        self._calls_by_task[task] = made + 1
        if len(self._calls_by_task) > MOST_REMEMBERED:
            self._calls_by_task.popitem(last=False)
        if made >= self._entry.max_calls:
            raise ActionError(SPENT.format(server=self.name, calls=self._entry.max_calls))
        request = wire.CallToolRequest(params=wire.CallToolRequestParams(name=tool, arguments=dict(arguments)))
        if not self._may_call():
            raise ActionError(NOT_OURS)
        try:
            async with asyncio.timeout(CALL_S):
                # Not `call_tool`: it checks the answer against the server's own schema, whose patterns may never
                # terminate.
                result = await client.session.send_request(
                    request, wire.CallToolResult, request_read_timeout_seconds=CALL_S
                )
        except TimeoutError as error:
            told = UNCERTAIN.format(server=self.name, why=f"has not answered within {CALL_S:.0f} seconds")
            raise ActionError(told, uncertain=True) from error
        except ValidationError as error:
            told = UNCERTAIN.format(server=self.name, why="has answered something that nobody can read")
            raise ActionError(told, uncertain=True) from error
        except (MCPError, RuntimeError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            if isinstance(error, MCPError) and error.code in {wire.INVALID_PARAMS, wire.METHOD_NOT_FOUND}:
                return ToolAnswer(in_a_line(str(error), 500), failed=True)
            told = UNCERTAIN.format(server=self.name, why="has not answered")
            raise ActionError(told, uncertain=True) from error
        text = "\n".join(map(_text_of, result.content))
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False)
        return ToolAnswer(text, bool(result.is_error))


class McpServers:
    """The connections to all MCP servers listed in the file."""

    def __init__(self, servers: Mapping[str, ServerEntry], may_call: Callable[[], bool] = lambda: True) -> None:
        """`may_call` is asked right before each call of a tool."""
        self._connections = [ServerConnection(name, entry, may_call=may_call) for name, entry in servers.items()]

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[None]:
        """Keep the servers connected until the block ends. The block begins without waiting for any of them."""
        keeping = [asyncio.create_task(one.run(), name=f"mcp {one.name}") for one in self._connections]
        try:
            yield
        finally:
            for task in keeping:
                task.cancel()
            if keeping:
                await asyncio.wait(keeping)

    def tools(self) -> tuple[Tool[Any], ...]:
        """Return the tools of all servers that are connected now."""
        return tuple(tool for one in self._connections for tool in one.tools)

    def states(self) -> tuple[ServerState, ...]:
        """Return the current state of each server."""
        return tuple(one.state for one in self._connections)

    async def wait_for_states(self, within: float) -> tuple[ServerState, ...]:
        """Wait until each server has connected or failed, for at most `within` seconds. Returns the state of each."""
        waits = [asyncio.create_task(one.changed.wait()) for one in self._connections]
        try:
            await asyncio.wait(waits, timeout=within)
        finally:
            for wait in waits:
                wait.cancel()
        return self.states()


def _streams(entry: ServerEntry, gone: asyncio.Event) -> AbstractAsyncContextManager[Any]:
    """The message streams to the server's address, or to a program that is started; `gone` is set when nothing more
    can come from it.
    """
    return http_streams(entry) if entry.url else process_streams(entry, gone)


async def _listed(client: Client) -> list[OfferedTool]:
    tools: list[OfferedTool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [OfferedTool(tool.name, tool.description or "", tool.input_schema) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools


def _text_of(block: object) -> str:
    match block:
        case wire.TextContent():
            return block.text
        case wire.EmbeddedResource(resource=wire.TextResourceContents() as resource):
            return f"{in_a_line(resource.uri, 200)}\n{resource.text}"
        case wire.ResourceLink():
            return in_a_line(f"{block.name}: {block.uri}", 300)
    return f"[{in_a_line(str(getattr(block, 'type', '')), 20)}, which is not shown]"


def _absence(error: BaseException) -> tuple[Absence, str]:
    """Return why a connection failed, with a detail for the log that contains no text from the server."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case TimeoutError() | httpx2.TimeoutException():
            return Absence.SILENT, ""
        case httpx2.NetworkError():
            return Absence.UNREACHABLE, type(error).__name__
        case NoLimits():
            return Absence.NO_LIMITS, ""
        case FileNotFoundError():
            return Absence.NO_COMMAND, ""
        case OSError():
            return Absence.UNREACHABLE, error.strerror or type(error).__name__
    return Absence.FAILED, type(error).__name__
