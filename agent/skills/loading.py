"""Loads skills: those that ship with the program, and those in the operator's `skills/` folder."""

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
"""The name of the folder inside a skill with texts that are only read when needed."""
RESULT: Final = "result.schema.json"
"""The name of the file in a skill with the JSON Schema of its result."""
APPS: Final = "opengui-apps"
"""The key in `metadata` that binds a skill to apps: their packages, separated by spaces."""


def _names(given: Any) -> Any:  # noqa: ANN401 - whatever stands in the front matter
    """Split names separated by spaces, as the standard defines; a list stays as it is."""
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
