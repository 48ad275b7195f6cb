"""What a skill is, and the skills that there are: shipped ones, and those in the operator's `skills/` folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from agent.front_matter import MAX_DESCRIPTION, Document, FolderRefused, Folders, description_in, read_folders, text_of
from agent.recorded_skills.skill_file import FILE as RECORDING
from agent.recorded_skills.skill_file import MOST_BYTES, RecordedSkill
from agent.result_schema import JsonSchema

FILE: Final = "SKILL.md"
SHIPPED: Final = Path(__file__).parent
REFERENCES: Final = "references"
"""The folder of a skill with texts that are read only when they are needed."""
RESULT: Final = "result.schema.json"
"""The file of a skill with the JSON Schema of what comes of it."""
APPS: Final = "opengui-apps"
"""The key in `metadata` that binds a skill to apps: their packages with blanks between them."""


def _names(given: Any) -> Any:  # noqa: ANN401 - whatever stands in the front matter
    """A list, or names with blanks between them, as the standard has it."""
    return given.split() if isinstance(given, str) else given


class _Head(BaseModel):
    """The front matter of a skill, by the Agent Skills standard (https://agentskills.io/specification)."""

    model_config = ConfigDict(extra="ignore")

    name: str
    description: str = Field(min_length=1, max_length=MAX_DESCRIPTION)
    license: str = Field("", max_length=500)
    compatibility: str = Field("", max_length=500)
    metadata: dict[str, str] = Field(default_factory=dict)
    allowed_tools: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field((), alias="allowed-tools")


@dataclass(frozen=True, slots=True)
class Skill:
    """A way of doing something; `body` is how. `allowed_tools` is what its writer expects to use; it allows nothing."""

    name: str
    description: str
    folder: Path
    body: str = field(default="", repr=False)
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    recorded: RecordedSkill | None = None
    """A run that code can do again; None for a skill in words alone."""
    result: JsonSchema | None = None
    """The form of what comes of it; None for words."""

    def described(self, language: str) -> str:
        """The description for people who speak this language; the one for models where there is no other."""
        return description_in(language, self.metadata, self.description)

    @property
    def apps(self) -> tuple[str, ...]:
        """The packages of the apps that it is for, () for any."""
        return tuple(self.metadata.get(APPS, "").split())

    def reference(self, path: str) -> str:
        """The text of a file below its `references/`, with or without that folder's name. Reads from the disk.

        Raises FolderRefused for what is no such file: a path or link that leads out, too.
        """
        root, parts = self.folder / REFERENCES, PurePosixPath(path).parts
        if not path.isprintable() or path.startswith("/") or root.is_symlink():
            raise FolderRefused("folder.link", file=path[:100])
        inside = parts[1:] if parts[:1] == (REFERENCES,) else parts
        return text_of(root, root.joinpath(*inside))


def load_skills(own: Path | None = None, *, shipped: bool = True) -> Folders[Skill]:
    """The shipped skills and those in the operator's folder, which win over shipped ones of the same name."""
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
    """The JSON Schema in this file of a skill's folder. Raises FolderRefused for one that cannot be used."""
    try:
        return JsonSchema(document=json.loads(text_of(folder, path, MOST_BYTES)))
    except ValueError as error:
        problem = (
            error.errors()[0]["msg"].removeprefix("Value error, ") if isinstance(error, ValidationError) else error
        )
        raise FolderRefused("folder.recording", place=path.name, problem=str(problem)) from error


def recording_of(folder: Path, path: Path) -> RecordedSkill:
    """The recording in this file of a skill's folder. Raises FolderRefused for one that cannot be used."""
    try:
        return RecordedSkill.model_validate_json(text_of(folder, path, MOST_BYTES))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ", ".join([path.name, *([".".join(map(str, first["loc"]))] if first["loc"] else [])])
        problem = first["msg"].removeprefix("Value error, ")
        raise FolderRefused("folder.recording", place=place, problem=problem) from error
