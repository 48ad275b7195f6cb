"""Creates what a task can use besides phones, as the settings define it: the tools, whose libraries are imported on
first use, and the members of the team, whose folders are read when a task first needs them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver

from agent.actions import Action
from agent.front_matter import Refused
from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.member.members import Members
from agent.guards.policy import Policy
from agent.members.loading import Team, load_team
from agent.ports.journal import ToolCalls
from agent.ports.memory import Memory, MemoryOfThisProcess
from agent.ports.workshop import Lack, Workshop
from agent.skills.library import Skills, load_skills
from agent.tools.calling import Toolbox
from agent.tools.clock import Time, time_tool
from agent.tools.computing import CALCULATE, PYTHON, Calculate, Python
from agent.tools.files import ReadFiles, TaskFiles, WriteFile, file_tools
from agent.tools.jotting import NOTE, TODOS, WriteNote, WriteTodos
from agent.tools.json_query import JSON, JsonQuery
from agent.tools.knowledge import SearchDocuments, knowledge_tool
from agent.tools.memory import Forget, Recall, Remember, memory_tools
from agent.tools.shell import PythonFull, Shell, TaskJobFolder, shell_tools
from agent.tools.skills import ReadSkill, skill_tools
from agent.tools.spec import Tool
from agent.tools.text import TEXT, Text
from agent.tools.weather import Weather, weather_tool
from agent.tools.web import ReadPage, WebSearch, read_page, web_search
from bot.config.installation import AGENTS_NAME, SKILLS_NAME
from bot.config.settings import Settings
from bot.part import ForeignTools, WorkshopOffer
from bot.store.knowledge import KNOWLEDGE_NAME, KnowledgeFolder
from bot.store.store import TASK_FILES_NAME, Store
from bot.texts import say
from bot.views.tools import ServerAway, ToolLack, ToolOffer, ToolState
from bot.wiring.parts import installed_parts, tool_servers
from devices.extras import Extra, is_installed

if TYPE_CHECKING:
    from agent.tools.egress import Egress
    from agent.tools.searching import Search

logger = logging.getLogger(__name__)


_WORKSHOP: Final[tuple[type[Action], ...]] = (Shell, PythonFull)
_ALL: Final[tuple[type[Action], ...]] = (
    Calculate, Python, Text, JsonQuery, Time, ReadFiles, WriteFile, WriteTodos, WriteNote, SearchDocuments, WebSearch,
    ReadPage, Weather, Remember, Recall, Forget, ReadSkill, Shell, PythonFull,
)  # fmt: skip
"""The tools of this program, also those that are not set up here."""
_WEB: Final[tuple[type[Action], ...]] = (WebSearch, ReadPage, Weather)
_EXTRAS: Final[Mapping[type[Action], Extra]] = {
    **dict.fromkeys((Calculate, Python), Extra.COMPUTING),
    **dict.fromkeys((WebSearch, ReadPage), Extra.WEB),
}
"""The extra (optional dependencies) that each tool needs. A search by a service that the settings name needs none."""


def _name(model: type[Action]) -> str:
    return str(model.model_fields["kind"].default)


TOOL_NAMES: Final = tuple(map(_name, _ALL))
"""The names of all tools, whether or not they are set up here."""
IN_A_RUN: Final = frozenset(
    _name(model) for model in (Calculate, Python, SearchDocuments, WebSearch, ReadPage, Remember, ReadSkill)
)
"""The tools that are also offered while a phone is used: looking something up, and remembering a fact. Each costs
tokens in every step.
"""


def tools_of(
    settings: Settings,
    workshop: Workshop | None = None,
    *,
    memory: Memory | None = None,
    skills: Skills | None = None,
    way_out: Callable[[], Egress] | None = None,
) -> tuple[Tool[Any], ...]:
    """Return all tools for work without a phone that are set up here. Shell and full Python require a workshop (a
    sandbox).

    Web pages are fetched through what `way_out` returns, otherwise from the public internet only.
    """
    files = task_files(settings)
    tools: list[Tool[Any]] = [CALCULATE, PYTHON] if is_installed(Extra.COMPUTING) else []
    tools += [TEXT, JSON, time_tool(settings.time_zone), *file_tools(files), TODOS, NOTE]
    if settings.knowledge_dir is not None:
        documents = KnowledgeFolder(settings.knowledge_dir, settings.data_dir / KNOWLEDGE_NAME)
        tools.append(knowledge_tool(documents))
    if settings.web_tools:
        public = way_out or cache(lambda: _public(settings))
        has_libraries = is_installed(Extra.WEB)
        if has_libraries or settings.searxng_url or settings.tavily_api_key.get_secret_value():
            tools.append(web_search(cache(lambda: _search(settings))))
        if has_libraries:
            tools.append(read_page(public))
        tools.append(weather_tool(public))
    if memory is not None:
        tools += memory_tools(memory)
    tools += skill_tools(skills or Skills())
    if workshop is not None:
        tools += shell_tools(workshop, lambda context: TaskJobFolder(files.of(context.task_id)))
    return tuple(tools)


def task_files(settings: Settings) -> TaskFiles:
    """Return the store of the folders in which tasks keep their files."""
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
    """Create the team's toolbox, which records each call of a tool in `calls`. `offered_now` returns the tools that
    come and go, such as those of MCP servers.
    """
    tools = tools_of(settings, workshop, memory=memory, skills=skills, way_out=way_out)
    return Toolbox(tools, calls, policy=policy, files=task_files(settings), offered_now=offered_now)


def actions_of(toolbox: Toolbox) -> ActionRegistry:
    """Return the registry of all actions that the model on a phone can use: those of the phone, and the tools that need
    none but are also available there.
    """
    return BUILT_IN.plus(*(tool for tool in toolbox.tools.values() if tool.kind in IN_A_RUN))


def _public(settings: Settings) -> Egress:
    from agent.tools.egress import Egress  # noqa: PLC0415 - only where something is fetched

    return Egress(proxy=settings.web_proxy.get_secret_value())


def _search(settings: Settings) -> Search:
    from agent.tools.egress import Egress  # noqa: PLC0415 - only where something is searched
    from agent.tools.searching import DuckDuckGo, SearXng, Tavily, endpoint_of  # noqa: PLC0415 - the same

    if settings.searxng_url:
        return SearXng(settings.searxng_url, Egress(named=frozenset({endpoint_of(settings.searxng_url)})))
    if key := settings.tavily_api_key.get_secret_value():
        return Tavily(key, _public(settings))
    return DuckDuckGo(proxy=settings.web_proxy.get_secret_value())


async def tools_here(settings: Settings) -> ToolOffer:
    """Return the tools that a service with these settings would have. The workshop is tested with a real job; MCP
    servers are not contacted.
    """
    offer = await workshop_of(settings)
    skills = await asyncio.to_thread(load_skills)
    tools = tools_of(settings, offer.workshop, memory=MemoryOfThisProcess(), skills=Skills(skills.found))
    refused = await asyncio.to_thread(tool_servers().refused, settings.data_dir)
    return tool_offer(settings, {tool.kind for tool in tools}, offer.lack, ForeignTools(refused=refused))


async def workshop_of(settings: Settings) -> WorkshopOffer:
    """Return the workshop that is set, or what is missing for it; see `Part.workshop`."""
    for part in installed_parts():
        if part.workshop is not None:
            return await part.workshop(settings.workshop)
    return WorkshopOffer(None, Lack.OFF if settings.workshop == "off" else Lack.ABSENT)


def tool_offer(settings: Settings, offered: Collection[str], workshop: Lack | None, foreign: ForeignTools) -> ToolOffer:
    """Return the overview of tools for people. `offered` are the names of the available tools, `workshop` is what the
    workshop lacks.
    """

    def lack(model: type[Action]) -> ToolLack | Lack | Extra | None:
        if _name(model) in offered:
            return None
        if model in _WORKSHOP:
            return workshop
        if model is SearchDocuments:
            return ToolLack.KNOWLEDGE_DIR
        return ToolLack.WEB_TOOLS if model in _WEB and not settings.web_tools else _EXTRAS.get(model)

    def state(model: type[Action]) -> ToolState:
        return ToolState(_name(model), lack(model), _name(model) in IN_A_RUN)

    states = foreign.states()
    theirs = (ToolState(tool, server=server.name) for server in states for tool in server.tools)
    away = [
        ServerAway(server.name, say(f"check.mcp.absent.{server.absence.name.lower()}"))
        for server in states
        if server.absence is not None
    ]
    refused = [ServerAway(name, why) for name, why in foreign.refused.items()]
    answering = tuple(server for server in states if server.absence is None)
    return ToolOffer((*map(state, _ALL), *theirs), answering, (*away, *refused))


def team_of(settings: Settings, tools: frozenset[str]) -> Team:
    """Return the members of the team, and the folders that were rejected. `tools` are the names of the tools that are
    set up here; a member may also list one that is not.
    """
    return load_team(settings.data_dir / AGENTS_NAME, tools, absent=TOOL_NAMES)


def refused_members(settings: Settings) -> tuple[Refused, ...]:
    """Return the folders of members that cannot be used, with the reason. Reads the disk."""
    return team_of(settings, frozenset(TOOL_NAMES)).refused


def refused_folders(settings: Settings) -> tuple[Refused, ...]:
    """Return the folders of members and of skills that cannot be used, with the reason. Reads the disk."""
    return (*refused_members(settings), *load_skills(settings.data_dir / SKILLS_NAME).refused)


def skills_of(settings: Settings) -> Skills:
    """Return the available skills. Reads the disk; rejected folders are logged."""
    own = settings.data_dir / SKILLS_NAME
    skills = load_skills(own)
    _log(skills.refused)
    return Skills(skills.found, own)


def members_of(
    settings: Settings,
    toolbox: Toolbox,
    store: Store,
    checkpoints: BaseCheckpointSaver[str],
    skills: Skills,
    policy: Policy,
) -> Members:
    """Create the team, which works with the tools that need no phone."""

    def read() -> Team:
        found = team_of(settings, frozenset(toolbox.tools))
        _log(found.refused)
        return found

    return Members(read, toolbox, store.frames.patient(), checkpoints, skills=skills, policy=policy)


def _log(refused: Iterable[Refused]) -> None:
    for folder in refused:
        logger.warning("The folder %s is not used: %s", folder.folder, folder.why)
