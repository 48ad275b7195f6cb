"""The skills: loads those that ship with the program and the operator's, and puts them in the form in which prompts
show them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from agent.front_matter import MAX_DESCRIPTION, Document, FolderRefused, Folders, description_in, read_folders, text_of
from agent.recorded_skills.skill_file import FILE as RECORDING
from agent.recorded_skills.skill_file import MOST_BYTES, RecordedSkill
from agent.task_results import JsonSchema
from agent.wording import shortened

FILE: Final = "SKILL.md"
SHIPPED: Final = Path(__file__).parent
REFERENCES: Final = "references"
"""The name of the folder inside a skill with texts that are only read when needed."""
RESULT: Final = "result.schema.json"
"""The name of the file in a skill with the JSON Schema of its result."""
APPS: Final = "opengui-apps"
"""The key in `metadata` that binds a skill to apps: their packages, separated by spaces."""


def _names(given: Any) -> Any:  # noqa: ANN401 - whatever stands in the front matter
    """Split names separated by spaces, as the standard defines; a list stays as it is."""
    return given.split() if isinstance(given, str) else given


class _Head(BaseModel, extra="ignore"):
    """The front matter of a skill, by the Agent Skills standard (https://agentskills.io/specification)."""

    name: str
    description: str = Field(min_length=1, max_length=MAX_DESCRIPTION)
    license: str = Field("", max_length=500)
    compatibility: str = Field("", max_length=500)
    metadata: dict[str, str] = Field(default_factory=dict)
    allowed_tools: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field((), alias="allowed-tools")


@dataclass(frozen=True, slots=True)
class Skill:
    """Instructions for doing something (`body`). `allowed_tools` is what the author expects to use; it grants
    nothing.
    """

    name: str
    description: str
    folder: Path
    body: str = field(default="", repr=False)
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    recorded: RecordedSkill | None = None
    """A recording that code can replay; None for a skill that is only a text."""
    result: JsonSchema | None = None
    """The form that the skill's result must have; None if it is free text."""

    def described(self, language: str) -> str:
        """Return the description in this language for people; if there is none, the one for models."""
        return description_in(language, self.metadata, self.description)

    @property
    def apps(self) -> tuple[str, ...]:
        """The packages of the apps that the skill is for; () for any."""
        return tuple(self.metadata.get(APPS, "").split())

    def reference(self, path: str) -> str:
        """Return the text of a file in the skill's `references/` folder. `path` may begin with that folder's name.
        Reads from the disk.

        Raises FolderRefused if there is no such file, or if the path or a link leads out.
        """
        root, parts = self.folder / REFERENCES, PurePosixPath(path).parts
        if not path.isprintable() or path.startswith("/") or root.is_symlink():
            raise FolderRefused("folder.link", file=path[:100])
        inside = parts[1:] if parts[:1] == (REFERENCES,) else parts
        return text_of(root, root.joinpath(*inside))


def load_skills(own: Path | None = None, *, shipped: bool = True) -> Folders[Skill]:
    """Load the shipped skills and those in the operator's folder `own`, which replace shipped ones of the same name.
    The result also has the folders that were refused.
    """
    return read_folders([*([SHIPPED] if shipped else []), *([own] if own is not None else [])], FILE, _skill)


def _skill(document: Document) -> Skill:
    head = document.checked(_Head)
    return Skill(
        head.name,
        head.description,
        document.folder,
        document.body,
        head.license,
        head.compatibility,
        head.metadata,
        head.allowed_tools,
        recording_of(document.folder, path) if (path := document.folder / RECORDING).exists() else None,
        result_of(document.folder, path) if (path := document.folder / RESULT).exists() else None,
    )


def result_of(folder: Path, path: Path) -> JsonSchema:
    """Load a skill's JSON Schema from the file `path` in its folder. Raises FolderRefused if it is unusable."""
    try:
        return JsonSchema(document=json.loads(text_of(folder, path, MOST_BYTES)))
    except RecursionError:
        raise FolderRefused("folder.recording", place=path.name, problem="it is nested too deeply") from None
    except ValueError as error:
        problem = (
            error.errors()[0]["msg"].removeprefix("Value error, ") if isinstance(error, ValidationError) else error
        )
        raise FolderRefused("folder.recording", place=path.name, problem=str(problem)) from error


def recording_of(folder: Path, path: Path) -> RecordedSkill:
    """Load a skill's recording from the file `path` in its folder. Raises FolderRefused if it is unusable."""
    try:
        return RecordedSkill.model_validate_json(text_of(folder, path, MOST_BYTES))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ", ".join([path.name, *([".".join(map(str, first["loc"]))] if first["loc"] else [])])
        problem = first["msg"].removeprefix("Value error, ")
        raise FolderRefused("folder.recording", place=place, problem=problem) from error


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
