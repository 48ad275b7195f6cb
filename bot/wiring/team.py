"""The members of the team, by the settings. Their folders are read when a task needs them first."""

from __future__ import annotations

from functools import cache
from typing import Final

from langgraph.checkpoint.base import BaseCheckpointSaver

from agent.graph.member.members import Members
from agent.members.loading import Team, load_team
from agent.skills.library import Skills
from agent.skills.loading import load_skills
from agent.tools.calling import Toolbox
from bot.config.settings import Settings
from bot.store.store import Store

SKILLS_NAME: Final = "skills"
"""The folder in the data directory with the operator's own skills."""
AGENTS_NAME: Final = "agents"
"""The folder in the data directory with the operator's own members."""
KNOWN_TOOLS: Final = frozenset(
    {"web_search", "read_page", "knowledge", "calculate", "python", "shell", "python_full", "text", "json", "weather"}
    | {"time", "files", "write_file", "write_note", "write_todos", "remember", "recall", "forget", "read_skill"}
)
"""Names that a member may ask for whether the tool is set up here or not."""


def team_of(settings: Settings, tools: frozenset[str]) -> Team:
    """Who there is, and which folders were refused."""
    return load_team(settings.data_dir / AGENTS_NAME, tools, absent=KNOWN_TOOLS)


def skills_of(settings: Settings) -> Skills:
    """The skills that there are now. Reads from the disk; folders that were refused stand in the log."""
    own = settings.data_dir / SKILLS_NAME
    return Skills(load_skills(own).found, own)


def members_of(
    settings: Settings, toolbox: Toolbox, store: Store, checkpoints: BaseCheckpointSaver[str], skills: Skills
) -> Members:
    """The team at work, with the tools that need no phone."""
    team = cache(lambda: team_of(settings, frozenset(toolbox.tools)))
    return Members(team, toolbox, store.frames.patient(), checkpoints, skills=skills)
