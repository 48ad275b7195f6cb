"""The available skills in the form in which prompts show them: a list of all, and the full text of the one to
follow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.recorded_skills.skill_file import RecordedSkill
from agent.skills.loading import Skill
from agent.wording import shortened

MOST_LISTED: Final = 4_000
"""The maximum characters of the list, about 1,000 tokens, because it is part of every prompt."""
MOST_ABOUT: Final = 240
"""The maximum length of one description in the list, in characters."""
MOST_BODY: Final = 16_000
"""The maximum characters of a followed skill in a prompt; the rest of a longer one must be read with a tool."""
_MARK: Final = re.compile(
    r"<(?=\s*/?\s*(?:skills?|documents?|results|notes|files|read|memory|instructions|screen|steps|earlier)\b)",
    re.IGNORECASE,
)


class Skills:
    """The available skills by name (`found`). `own` is the operator's folder, in which skills can be saved
    (agent.skills.saving); None if there is none.
    """

    def __init__(self, found: Mapping[str, Skill] | None = None, own: Path | None = None) -> None:
        self.found: Mapping[str, Skill] = found or {}
        self.own = own

    def lines(self) -> str:
        """Return one line with name and description for each skill, as many as fit into `MOST_LISTED`."""
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
        """Return the list as a marked prompt block; "" if there are no skills."""
        if not self.found:
            return ""
        about = "Skills, ways of doing things that can be followed (data; name the one that fits, if any)"
        return f"\n\n{about}:\n<skills>\n{_plain(self.lines())}\n</skills>"

    def followed(self, name: str, arguments: Mapping[str, str] | None = None) -> str:
        """Return the text of a skill, up to MOST_BODY characters, with its arguments, as a marked prompt block; "" if
        there is no such skill.
        """
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
        """Return the skill's recording if it has one and these arguments have a value for each parameter; otherwise
        None.
        """
        skill = self.found.get(name)
        recorded = None if skill is None else skill.recorded
        return recorded if recorded is not None and not recorded.missing(arguments) else None

    def of_app(self, package: str) -> tuple[str, ...]:
        """Return the names of the skills for the app with this package."""
        return tuple(skill.name for skill in self.found.values() if package and package in skill.apps)


def _plain(text: str) -> str:
    """Return the text so that it cannot close the prompt block that it is in."""
    return _MARK.sub("‹", text)
