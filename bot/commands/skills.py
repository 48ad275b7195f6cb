"""Commands for skills: list them, run a task that follows one, and save a task as one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agent.recorded_skills.recording import COVERED
from agent.recorded_skills.skill_file import FIELDS, RecordedSkill
from agent.skills import saving
from bot.application.access import Refused
from bot.application.services import Services
from bot.application.skills import SkillCommands, draft_of_skill
from bot.application.task_access import task_named
from bot.cards.buttons import ButtonAction, button
from bot.cards.formatting import shortened
from bot.commands.parser import ARGUMENT, arguments_in, draft_of
from bot.commands.request import Request, public_reply, task_meant
from bot.commands.skill_figures import figures_of, skill_line
from bot.commands.tasks import start
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Message, Reply
from bot.domain.task_request import SkillCall, TaskDraft
from bot.store.skills import Draft
from bot.texts import listed, say

_SAVE: Final = re.compile(
    r"(?:#?(?P<task>\d{1,18}(?:\.[^\s.]{1,64})?)\s+)?(?P<as>as\s+|为\s*)?(?P<rest>\S.*)", re.DOTALL | re.IGNORECASE
)
_CHANGE: Final = re.compile(
    r"(?P<verb>delete|remove|rename|restore)\s+(?P<name>\S+)(?:\s+(?:to\s+|as\s+)?(?P<new>\S+))?", re.I
)
NAMING: Final = frozenset({"rename", "restore"})
"""The changes that need another word: the new name, or the version."""
FIXED_SHOWN: Final = 5
"""Maximum fixed texts that are shown before a skill is saved."""


async def skills(request: Request, services: Services) -> Reply:
    """List all skills with their descriptions and results; or rename or delete one, or restore an earlier version."""
    typed = request.call.rest.strip()
    found = _CHANGE.fullmatch(typed)
    if found is not None and (found["new"] or found["verb"].lower() not in NAMING):
        commands = SkillCommands(request, services)
        return public_reply(await change(commands, found["verb"].lower(), found["name"], found["new"] or ""))
    if typed:
        raise Refused(say("skills.usage", prefix=request.prefix))
    return public_reply("\n".join(await skill_lines(services)) or say("skills.none"))


async def skill_lines(services: Services) -> list[str]:
    """Return the lines that describe each skill."""
    if services.skills.own is not None:
        await asyncio.to_thread(saving.refresh, services.skills)  # a folder may have been put there
    return [skill_line(skill, await figures_of(skill, services.store)) for skill in services.skills.found.values()]


async def skill(request: Request, services: Services) -> Reply:
    """Queue a task that follows a skill, with the arguments after its name."""
    return await start(request, services, skill_draft(request.call, services))


def skill_draft(call: CommandCall, services: Services) -> TaskDraft:
    """Return the draft of the task that the command `skill NAME key=value …` describes. Raises Refused."""
    name, values = [*call.rest.split(None, 1), "", ""][:2]
    arguments, left = arguments_in(values)
    draft = replace(draft_of(call), text="")
    return draft_of_skill(draft, SkillCall(name, arguments), services, values=" ".join(values.split()), left=left)


async def save(request: Request, services: Services) -> Reply:
    """Show what would be saved of a task as a skill, with a button that saves it. `--draft` saves what was shown
    before.
    """
    if number := request.option("draft"):
        return await confirm(request, services, number)
    found = _SAVE.fullmatch(request.call.rest.strip())
    if found is None or not (found["task"] or found["as"]):
        raise Refused(say("save.usage", prefix=request.prefix))
    first = ARGUMENT.search(found["rest"])
    named = found["rest"] if first is None else found["rest"][: first.start()]
    given, left = arguments_in(found["rest"][len(named) :])
    if left:
        raise Refused(say("save.left_over", text=shortened(left, 40)))
    number = found["task"]
    task = await task_named(number, request, services) if number else await task_meant(request, services)
    draft = await SkillCommands(request, services).draft(task, "-".join(named.split()), given or None)
    name = draft.name
    buttons = ((button(ButtonAction.SAVE, draft.id, say("button.save_skill", name=name), style="primary"),),)
    return Reply(Message(heading=say("save.heading", name=name), body=shown_words(draft.skill), buttons=buttons))


async def confirm(request: Request, services: Services, number: str) -> Reply:
    """Save the draft with this id, exactly as it was shown to the person. Raises Refused."""
    commands = SkillCommands(request, services)
    draft = await commands.drafted(number)
    return public_reply(saved_words(draft, await commands.save(draft), request.prefix))


def saved_words(draft: Draft, version: int, prefix: str = "") -> str:
    """Return a sentence that says that a skill was saved, and how to run it."""
    example = " ".join([draft.name, *(f'{each.name}="{each.example}"' for each in draft.skill.parameters)])
    return say("save.done", name=draft.name, version=version, example=f"{prefix}skill {example}")


def shown_words(skill: RecordedSkill) -> str:
    """Return the text that the person confirms: the task, each parameter with its value, the first fixed texts, and how
    many steps there are.
    """
    lines = [skill.task, "", *(say("save.parameter", name=each.name, value=each.example) for each in skill.parameters)]
    if not skill.parameters:
        lines.append(say("save.no_parameters"))
    lines += [say("save.always", text=shortened(text, 80)) for text in always_typed(skill)]
    lines.append(say("save.steps", number=len(skill.steps), model=left_to_model(skill)))
    lines.append(say("save.seen_by"))
    return "\n".join(lines)


def always_typed(skill: RecordedSkill) -> list[str]:
    """Return the first few texts that every run of the skill types, whatever its arguments are."""
    typed = [str(step.action["text"]) for step in skill.steps if step.kind == "type" and "text" in step.action]
    return [text for text in typed if "{" not in text and COVERED not in text][:FIXED_SHOWN]


def left_to_model(skill: RecordedSkill) -> int:
    """Return how many steps of a recorded skill are left to a model, instead of being repeated as recorded."""
    return sum(step.is_left_to_model or step.kind not in FIELDS for step in skill.steps)


async def change(commands: SkillCommands, verb: str, name: str, new: str) -> str:
    """Delete, rename or restore a skill, as `verb` says. Returns the sentence that confirms it. `new` is the new name,
    or the version to restore.
    """
    name, new = name.lower(), new.lower()
    if verb == "restore":
        return say("skills.restored", name=name, version=new, made=await commands.restore(name, new))
    if verb == "rename":
        await commands.rename(name, new)
        return say("skills.renamed", name=name, new=new)
    return removed_words(name, await commands.remove(name))


def removed_words(name: str, planned: Sequence[str]) -> str:
    """Return a sentence that says that a skill was deleted, and names the schedules that still use it."""
    words = say("skills.deleted", name=name)
    return f"{words}\n{say('skills.still_planned', schedules=listed(planned))}" if planned else words
