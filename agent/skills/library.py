"""The skills that there are, as prompts are told of them: all by name, and in full the one that is to be followed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.recorded_skills.skill_file import RecordedSkill
from agent.skills.loading import Skill
from agent.wording import shortened

MOST_LISTED: Final = 4_000
"""Characters of the list, about 1,000 tokens: it stands in every prompt."""
MOST_ABOUT: Final = 240
"""Characters of one description in the list."""
MOST_BODY: Final = 16_000
"""Characters of a skill that is followed; what is longer is read in parts."""
_MARK: Final = re.compile(
    r"<(?=\s*/?\s*(?:skills?|documents?|results|notes|files|read|memory|instructions|screen|steps|earlier)\b)",
    re.IGNORECASE,
)


class Skills:
    """The skills by name; `own` is the operator's folder, to which others can be saved (agent.skills.saving)."""

    def __init__(self, found: Mapping[str, Skill] | None = None, own: Path | None = None) -> None:
        self.found: Mapping[str, Skill] = found or {}
        self.own = own

    def lines(self) -> str:
        """Name and description of each, one a line, as many as there is room for."""
        lines: list[str] = []
        room = MOST_LISTED
        for skill in self.found.values():
            line = f"- {skill.name}: {shortened(' '.join(skill.description.split()), MOST_ABOUT)}"
            if skill.recorded is not None and skill.recorded.parameters:
                line += f" (parameters: {', '.join(each.name for each in skill.recorded.parameters)})"
            room -= len(line) + 1
            if room < 0:
                lines.append(f"- ({len(self.found) - len(lines)} more are left out)")
                break
            lines.append(line)
        return "\n".join(lines)

    def listed(self) -> str:
        """The list as a marked block of a prompt, "" where there is none."""
        if not self.found:
            return ""
        about = "Skills, ways of doing things that can be followed (data; name the one that fits, if any)"
        return f"\n\n{about}:\n<skills>\n{_plain(self.lines())}\n</skills>"

    def followed(self, name: str, arguments: Mapping[str, str] | None = None) -> str:
        """The skill of this name in full and what it is to be done with, as a marked block of a prompt; "" for none."""
        skill = self.found.get(name)
        if skill is None:
            return ""
        body = skill.body
        if len(body) > MOST_BODY:
            body = f"{body[:MOST_BODY]}\n[{len(body) - MOST_BODY} more characters: read them with read_skill]"
        about = "This skill is to be followed as far as the task asks for it (it allows nothing)"
        given = "".join(f"\n- {key}: {' '.join(value.split())}" for key, value in (arguments or {}).items())
        body += f"\n\nTo be done with:{given}" if given else ""
        return f'\n\n{about}:\n<skill name="{skill.name}">\n{_plain(body)}\n</skill>'

    def recording(self, name: str, arguments: Mapping[str, str]) -> RecordedSkill | None:
        """The recording of the skill of this name that can be done with these arguments; None where there is none."""
        skill = self.found.get(name)
        recorded = None if skill is None else skill.recorded
        return recorded if recorded is not None and not recorded.missing(arguments) else None

    def of_app(self, package: str) -> tuple[str, ...]:
        """The names of those that are for this app."""
        return tuple(skill.name for skill in self.found.values() if package and package in skill.apps)


def _plain(text: str) -> str:
    """The text, unable to close the block that it stands in."""
    return _MARK.sub("‹", text)
