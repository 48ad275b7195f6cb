"""The tools of a run that need no phone, by the settings. What they are made with is loaded when one is used first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.executor.built_in import BUILT_IN
from agent.guards.policy import Policy
from agent.ports.memory import Memory
from agent.ports.tool_calls import ToolCalls
from agent.ports.workshop import Workshop
from agent.skills.library import Skills
from agent.tools.calling import Toolbox
from agent.tools.clock import time_tool
from agent.tools.compute import CALCULATE, PYTHON
from agent.tools.files import file_tools
from agent.tools.jotting import NOTE, TODOS
from agent.tools.json_query import JSON
from agent.tools.knowledge import knowledge_tool
from agent.tools.memory import memory_tools
from agent.tools.shell import TaskJobFolder, shell_tools
from agent.tools.skills import skill_tools
from agent.tools.spec import Tool
from agent.tools.task_files import TaskFiles
from agent.tools.text import TEXT
from agent.tools.weather import weather_tool
from agent.tools.web import read_page, web_search
from bot.config.settings import Settings
from bot.mcp_servers.configuration import FILE, read_mcp_file
from bot.store.knowledge import KNOWLEDGE_NAME, KnowledgeFolder

if TYPE_CHECKING:
    from agent.tools.egress import Egress
    from agent.tools.searching import Search

logger = logging.getLogger(__name__)

TASK_FILES_NAME: Final = "task-files"
"""The folder in the data directory with a folder for each task that has files."""
IN_A_RUN: Final = frozenset({"calculate", "python", "knowledge", "web_search", "read_page", "remember", "read_skill"})
"""What a run on a phone is offered as well: looking something up, keeping a fact. Each costs tokens in every step."""


def tools_of(
    settings: Settings,
    workshop: Workshop | None = None,
    *,
    memory: Memory | None = None,
    skills: Skills | None = None,
    way_out: Callable[[], Egress] | None = None,
) -> tuple[Tool[Any], ...]:
    """All tools that are set up here, for whoever needs no phone; shell and full Python are there with a workshop.

    Pages are fetched on the way out that `way_out` gives, else on that to the public internet.
    """
    way_out = way_out or _public
    files = task_files(settings)
    tools: list[Tool[Any]] = [CALCULATE, PYTHON, TEXT, JSON, time_tool(settings.time_zone)]
    tools += [*file_tools(files), TODOS, NOTE]
    if settings.knowledge_dir is not None:
        documents = KnowledgeFolder(settings.knowledge_dir, settings.data_dir / KNOWLEDGE_NAME)
        tools.append(knowledge_tool(documents))
    if settings.web_tools:
        tools += [web_search(cache(lambda: _search(settings))), read_page(way_out), weather_tool(way_out)]
    if memory is not None:
        tools += memory_tools(memory)
    tools += skill_tools(skills or Skills())
    if workshop is not None:
        tools += shell_tools(workshop, lambda context: TaskJobFolder(files.of(context.task_id)))
    return tuple(tools)


def task_files(settings: Settings) -> TaskFiles:
    """The folders of the tasks."""
    return TaskFiles(settings.data_dir / TASK_FILES_NAME)


def toolbox_of(
    settings: Settings,
    calls: ToolCalls,
    policy: Policy,
    *,
    workshop: Workshop | None = None,
    memory: Memory | None = None,
    skills: Skills | None = None,
    way_out: Callable[[], Egress] | None = None,
    offered_now: Callable[[], Sequence[Tool[Any]]] = tuple,
) -> Toolbox:
    """The tools of the team, with the record of their calls; `offered_now` are those that come and go."""
    tools = tools_of(settings, workshop, memory=memory, skills=skills, way_out=way_out)
    return Toolbox(tools, calls, policy=policy, files=task_files(settings), offered_now=offered_now)


def actions_of(toolbox: Toolbox) -> ActionRegistry:
    """What a run can do on the phone and without it. Pages are read from the public internet alone."""
    return BUILT_IN.plus(*(tool for tool in toolbox.tools.values() if tool.kind in IN_A_RUN))


@cache
def _public() -> Egress:
    from agent.tools.egress import Egress  # noqa: PLC0415 - only where something is fetched

    return Egress()


def _search(settings: Settings) -> Search:
    from agent.tools.egress import Egress  # noqa: PLC0415 - only where something is searched
    from agent.tools.searching import DuckDuckGo, SearXng, Tavily, endpoint_of  # noqa: PLC0415 - the same

    if settings.searxng_url:
        return SearXng(settings.searxng_url, Egress(named=frozenset({endpoint_of(settings.searxng_url)})))
    if key := settings.tavily_api_key.get_secret_value():
        return Tavily(key, _public())
    return DuckDuckGo()


@asynccontextmanager
async def mcp_tools(data_dir: Path) -> AsyncGenerator[Callable[[], tuple[Tool[Any], ...]]]:
    """Keep the servers of `mcp.json` connected until the block ends; the function gives the tools of those that live.

    Nothing is loaded or started where there is no such file.
    """
    named = await asyncio.to_thread(read_mcp_file, data_dir / FILE)
    for name, why in (named.refused if named else {}).items():
        logger.error("%s is not used: %s", f"The server {name} of {FILE}" if name else FILE, why)
    if named is None or not named.servers:
        yield tuple
        return
    try:
        from bot.mcp_servers.connection import McpServers  # noqa: PLC0415 - 26 MB, only where servers are named
    except ImportError:
        logger.error("%s is not used: install the extra opengui-bot[mcp].", FILE)  # noqa: TRY400 - a sentence
        yield tuple
        return
    servers = McpServers(named.servers)
    async with servers.connected():
        yield servers.tools
