"""Parses the arguments of a skill as people type them."""

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
    """Return the arguments that are typed as `name=value`, and the rest of the text. If a name is given twice, the
    second one is part of the rest.
    """
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
    """Replace `do skill NAME …` by the command `skill NAME …`, if there is a skill of that name; return any other
    command unchanged.

    People type it in schedules because the form for them begins with `do`.
    """
    named = _SKILL.match(wanted.rest) if wanted.name == "do" else None
    if named is None or named["name"].lower() not in skills:
        return wanted
    return replace(wanted, name="skill", rest=wanted.rest[named.start("name") :])
