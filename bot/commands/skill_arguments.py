"""The arguments of a skill as people type them."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import replace
from typing import Final

from bot.domain.incoming import CommandCall

_SKILL: Final = re.compile(r"skill\s+(?P<name>\S+)", re.IGNORECASE)

ARGUMENT: Final = re.compile(
    r"(?<!\S)(?P<name>[a-z][a-z0-9_]{0,39})\s?[=＝]\s?"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|“(?P<curly>[^”]*)”|(?P<plain>\S+))(?!\S)",
    re.IGNORECASE,
)
"""`size=large` or `item="Blue mug"`."""


def arguments_in(values: str) -> tuple[dict[str, str], str]:
    """The arguments typed as `name=value`, and the rest of the text, including names that are given twice."""
    found: dict[str, str] = {}
    left, end = [], 0
    for each in ARGUMENT.finditer(values):
        name = each["name"].lower()
        left.append(values[end : each.start()] + (each[0] if name in found else ""))
        value = next(value for value in each.group("double", "single", "curly", "plain") if value is not None)
        found.setdefault(name, value)
        end = each.end()
    return found, " ".join(" ".join([*left, values[end:]]).split())


def with_skill(wanted: CommandCall, skills: Container[str]) -> CommandCall:
    """The task of a plan. `do skill NAME …` means the skill, where there is one of this name: nobody types `do` for a
    skill elsewhere, and here it is what the form begins with.
    """
    named = _SKILL.match(wanted.rest) if wanted.name == "do" else None
    if named is None or named["name"].lower() not in skills:
        return wanted
    return replace(wanted, name="skill", rest=wanted.rest[named.start("name") :])
