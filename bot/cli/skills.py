"""The `opengui skills` command: lists and changes the skills, and reports folders that cannot be used."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agent.skills import saving
from agent.skills.library import Skill, Skills, load_skills
from bot.cli.control import own_store, service_or_own
from bot.cli.exits import OK, Refused
from bot.cli.remote import running_service
from bot.cli.terminal import complain
from bot.commands.skill_figures import SkillFigures, figures_of, skill_line
from bot.config.installation import SKILLS_NAME
from bot.config.settings import Settings
from bot.texts import say
from devices.wording import said, sentence_of


async def skills(options: argparse.Namespace, settings: Settings) -> int:
    """List the skills, one line each; or import, rename, restore or delete one. Returns the exit code. Raises Refused,
    ServiceGone, SettingsError and StoreError.
    """
    match options.change:
        case ["import", folder]:
            return await _bring(Path(folder), settings)
        case ["delete" | "remove" as verb, name]:
            return await _change(verb, name, "", settings)
        case ["rename" | "restore" as verb, name, *_, new]:
            return await _change(verb, name, new, settings)
        case [_, *_]:
            raise Refused(say("skills.usage", prefix=""))
    there = await asyncio.to_thread(load_skills, settings.data_dir / SKILLS_NAME)
    figures = await _figures(settings, [skill for skill in there.found.values() if skill.recorded is not None])
    for skill in there.found.values():
        recorded, came_to = skill.recorded, figures.get(skill.name)
        row: dict[str, object] = {"skill": skill.name, "description": skill.description, "folder": str(skill.folder)}
        if recorded is not None:
            names = [each.name for each in recorded.parameters]
            row |= {"version": recorded.version, "parameters": names}
            row |= {"figures": None if came_to is None else asdict(came_to)}
        print(json.dumps(row, ensure_ascii=False) if options.json else skill_line(skill, came_to))
    for refused in there.refused:
        words = {"refused": refused.folder, "reason": said(refused.why)}
        print(json.dumps(words, ensure_ascii=False) if options.json else say("cli.skills.refused", **words))
    return OK


async def _figures(settings: Settings, recorded: Sequence[Skill]) -> dict[str, SkillFigures | None]:
    """The figures of these skills' runs, from the running service or the data directory."""
    if not recorded:
        return {}
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            rows = {row["name"]: row["figures"] for row in await remote.skills()}
            return {name: SkillFigures(**told) for name, told in rows.items() if told is not None}
    async with own_store(settings) as store:
        return {skill.name: await figures_of(skill, store) for skill in recorded}


async def _change(verb: str, name: str, new: str, settings: Settings) -> int:
    async with service_or_own(settings) as door:
        print(await door.change_skill(verb, name, new))
    return OK


async def _bring(folder: Path, settings: Settings) -> int:
    # Imported here so that listing folders loads no agent.
    from bot.wiring.team import skills_of  # noqa: PLC0415 - see above

    library: Skills = await asyncio.to_thread(skills_of, settings)
    try:
        name = await asyncio.to_thread(lambda: saving.bring(library, folder.resolve()))
    except (saving.NotChanged, OSError) as refused:
        return complain(said(sentence_of(refused)), "opengui skills")
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            await remote.skills()  # reads the folders again
    print(say("cli.skills.brought", name=name))
    return OK
