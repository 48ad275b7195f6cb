"""Loads the members of the team that the settings define. Their folders are read when a task first needs them."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from langgraph.checkpoint.base import BaseCheckpointSaver

from agent.front_matter import Refused
from agent.graph.member.members import Members
from agent.guards.policy import Policy
from agent.members.loading import Team, load_team
from agent.skills.library import Skills, load_skills
from agent.tools.calling import Toolbox
from bot.config.places import AGENTS_NAME, SKILLS_NAME
from bot.config.settings import Settings
from bot.store.store import Store
from bot.wiring.tools import TOOL_NAMES

logger = logging.getLogger(__name__)


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
