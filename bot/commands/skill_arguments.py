"""What a skill is done with, as people write it, and whether the skill has parameters for that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from agent.recorded_skills.skill_file import RecordedSkill
from agent.skills.loading import Skill
from bot.cards.formatting import shortened
from bot.commands.request import Refused, Services
from bot.texts import listed, say

ARGUMENT: Final = re.compile(
    r"(?<!\S)(?P<name>[a-z][a-z0-9_]{0,39})\s?[=＝]\s?"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|“(?P<curly>[^”]*)”|(?P<plain>\S+))(?!\S)",
    re.IGNORECASE,
)
"""`size=large` or `item="Blue mug"`."""
NEAR: Final = 0.5
"""How much alike what was typed and a name must be to be meant, as difflib counts."""


def arguments_in(values: str) -> tuple[dict[str, str], str]:
    """What is given as `name=value`, by name, and what is left over: what has another form, or gives a name twice."""
    found: dict[str, str] = {}
    left, end = [], 0
    for each in ARGUMENT.finditer(values):
        name = each["name"].lower()
        left.append(values[end : each.start()] + (each[0] if name in found else ""))
        value = next(value for value in each.group("double", "single", "curly", "plain") if value is not None)
        found.setdefault(name, value)
        end = each.end()
    return found, " ".join(" ".join([*left, values[end:]]).split())


def unknown_skill(name: str, services: Services) -> Refused:
    """There is no skill of this name; the nearest one is named."""
    found = services.skills.found
    near = get_close_matches(name, found, n=1, cutoff=NEAR)
    names = listed(found) or "-"
    if near:
        return Refused(say("skills.unknown_near", name=name[:40], near=near[0], names=names))
    return Refused(say("skills.unknown", name=name[:40], names=names))


def asked(skill: Skill, recorded: RecordedSkill, arguments: Mapping[str, str], left: str = "") -> str:
    """The task in words. Raises Refused for arguments that are not its parameters, and for what belongs to none."""
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
