"""Resolves skills that people and programs request by name and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from agent.recorded_skills.skill_file import RecordedSkill
from agent.skills.library import Skill
from agent.task_results import JsonSchema
from bot.application.access import Refused
from bot.application.services import Services
from bot.cards.formatting import shortened
from bot.domain.task_request import SkillCall, TaskDraft
from bot.texts import listed, say

NEAR: Final = 0.5
"""How similar a typed name must be to a skill's name to be suggested, as a difflib ratio."""


def skill_named(name: str, services: Services) -> Skill:
    """Return the skill with this name (case-insensitive). Raises Refused, which suggests a similar name
    if there is one.
    """
    found = services.skills.found
    if (skill := found.get(name.lower())) is not None:
        return skill
    near = get_close_matches(name.lower(), found, n=1, cutoff=NEAR)
    names = listed(found) or "-"
    if near:
        raise Refused(say("skills.unknown_near", name=name[:40].lower(), near=near[0], names=names))
    raise Refused(say("skills.unknown", name=name[:40].lower(), names=names))


def draft_of_skill(
    draft: TaskDraft, call: SkillCall, services: Services, *, values: str = "", left: str = ""
) -> TaskDraft:
    """Return the draft with the skill call filled in. For a recorded skill, the task's text is made from the call; for
    any other skill, only if the draft has no text.

    `values` are the arguments as typed; `left` is typed text that belongs to no argument. Raises Refused for an unknown
    skill, and for text or arguments that do not fit a recorded skill.
    """
    found = skill_named(call.name, services)
    text = draft.text
    if found.recorded is not None:
        wish = worded(found, found.recorded, call.arguments, left)
        if text.strip() not in {"", wish}:
            raise Refused(say("skills.own_words", name=found.name))
    elif not (wish := text):
        values = values or " ".join(f"{key}={value}" for key, value in call.arguments.items())
        wish = (
            say("skills.wish_with", name=found.name, values=values) if values else say("skills.wish", name=found.name)
        )
    return replace(draft, text=wish, skill=replace(call, name=found.name))


def require_skill(call: SkillCall, services: Services) -> SkillCall:
    """Check that a skill call can still be carried out, and return it. The skill may have been deleted or its
    parameters may have changed since the call was made: then Refused is raised.
    """
    found = skill_named(call.name, services)
    if found.recorded is not None:
        worded(found, found.recorded, call.arguments)
    return call


def result_of_skill(call: SkillCall | None, services: Services) -> JsonSchema | None:
    """Return the JSON schema of the result that the called skill defines. None if there is no call, or if the result is
    plain text. Raises Refused for an unknown skill.
    """
    return None if call is None else skill_named(call.name, services).result


def worded(skill: Skill, recorded: RecordedSkill, arguments: Mapping[str, str], left: str = "") -> str:
    """Return the text of the task that a skill call stands for, with the arguments filled in. Raises Refused for
    unknown or missing arguments, and if `left`, text that belongs to no argument, is not empty.
    """
    wrong, missing = recorded.unknown(arguments), recorded.missing(arguments)
    name, takes = skill.name, listed(each.name for each in recorded.parameters)
    example = " ".join([name, *(f'{each.name}="{each.example}"' for each in recorded.parameters)])
    if (wrong or left) and not takes:
        raise Refused(say("skills.takes_none", name=name, names=listed(wrong) or shortened(left, 40), example=example))
    if wrong:
        raise Refused(say("skills.wrong", name=name, names=listed(wrong), takes=takes, example=example))
    if left:
        raise Refused(say("skills.left_over", name=name, text=shortened(left, 40), example=example))
    if missing:
        raise Refused(say("skills.missing", name=name, names=listed(missing), example=example))
    return recorded.asked(arguments)
