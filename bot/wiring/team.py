"""The members of the team, by the settings. Their folders are read when a task needs them first."""

from __future__ import annotations

from functools import cache
from typing import Final

from langgraph.checkpoint.base import BaseCheckpointSaver

from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.member.members import Members
from agent.guards.policy import Policy
from agent.members.loading import Team, load_team
from agent.tools.calling import Toolbox
from agent.tools.task_files import TaskFiles
from bot.config.settings import Settings
from bot.store.store import Store

AGENTS_NAME: Final = "agents"
"""The folder in the data directory with the operator's own members."""
FILES_NAME: Final = "task-files"
"""The folder in the data directory with what members write, by task."""
KNOWN_TOOLS: Final = frozenset(
    {"web_search", "read_page", "knowledge", "calculate", "python", "shell", "text", "json", "weather", "time"}
    | {"files", "note", "memory", "todos"}
)
"""Names that a member may ask for whether the tool is set up here or not."""


def team_of(settings: Settings, tools: frozenset[str]) -> Team:
    """Who there is, and which folders were refused."""
    return load_team(settings.data_dir / AGENTS_NAME, tools, absent=KNOWN_TOOLS)


def members_of(
    settings: Settings, store: Store, policy: Policy, actions: ActionRegistry, checkpoints: BaseCheckpointSaver[str]
) -> Members:
    """The team at work, with the tools of a run that need no phone."""
    files = TaskFiles(settings.data_dir / FILES_NAME)
    toolbox = Toolbox(actions.tools, store.tool_calls, policy=policy, files=files)
    team = cache(lambda: team_of(settings, frozenset(toolbox.tools)))
    return Members(team, toolbox, store.frames.patient(), checkpoints)
