"""`opengui skills`: the skills that there are, and the folders of skills and members that cannot be used."""

from __future__ import annotations

import argparse
import asyncio
import json

from agent.skills.loading import load_skills
from bot.cli.exits import OK
from bot.config.settings import Settings
from bot.texts import say, spoken
from bot.wiring.tools import SKILLS_NAME
from devices.wording import said


async def skills(options: argparse.Namespace, settings: Settings) -> int:
    """Read the folders, one line for each."""
    there = await asyncio.to_thread(load_skills, settings.data_dir / SKILLS_NAME)
    for skill in there.found.values():
        row = {"skill": skill.name, "description": skill.description, "folder": str(skill.folder)}
        about = skill.described(spoken())
        print(json.dumps(row, ensure_ascii=False) if options.json else f"{skill.name}: {about}")
    for refused in there.refused:
        row = {"refused": refused.folder, "reason": said(refused.why)}
        print(json.dumps(row, ensure_ascii=False) if options.json else say("cli.skills.refused", **row))
    return OK
