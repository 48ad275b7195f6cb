"""What a member is, and the members that there are: shipped ones, and those in the operator's `agents/` folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent.front_matter import MAX_DESCRIPTION, Document, FolderRefused, Folders, Refused, description_in, read_folders
from agent.models.base import Role

FILE: Final = "AGENTS.md"
SHIPPED: Final = Path(__file__).parent
EXECUTOR: Final = "executor"
"""The member with a phone: it has no folder, and no folder may take its name."""
EXECUTOR_DOES: Final = (
    "Works on the phone: sees its screen, taps, types, opens apps. Only one part at a time can be its."
)
MAX_MODEL: Final = 200
"""Characters of the name of a model."""
COMES_AND_GOES: Final = "mcp_"
"""How the names of tools begin that other programs offer: a member has those that are there when it works. With a
`*` at the end a name stands for all that begin so.
"""
NO_MORE: Final[Mapping[str, str]] = {}
MAX_CALLS: Final = 30
"""Calls of tools in one piece of work; a folder can only ask for fewer."""


def _names(given: Any) -> Any:  # noqa: ANN401 - whatever stands in the front matter
    """A list, or names with commas between them, as other programs write them."""
    return [name.strip() for name in given.split(",") if name.strip()] if isinstance(given, str) else given


def _texts(given: Any) -> dict[str, str]:  # noqa: ANN401 - whatever stands in the front matter
    """What is a text by its name; whatever else other programs keep there is left alone."""
    table = given if isinstance(given, dict) else {}
    return {name: text for name, text in table.items() if isinstance(text, str)}


class _Head(BaseModel):
    """The front matter of a member. Keys of other programs are left alone."""

    model_config = ConfigDict(extra="ignore")

    name: str
    description: str = Field(min_length=1, max_length=MAX_DESCRIPTION)
    metadata: Annotated[dict[str, str], BeforeValidator(_texts)] = Field(default_factory=dict)
    model: str = Field("basic", min_length=1, max_length=MAX_MODEL)
    tools: Annotated[tuple[str, ...], BeforeValidator(_names), Field(max_length=50)] = ()
    max_calls: int = Field(MAX_CALLS, ge=1, le=MAX_CALLS)


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who does work that needs no phone.

    `model` is the role whose model it speaks with, or the name of a model (see `Models.for_role`); `prompt` is told to
    it before anything else. `tools` are the names of those that it may call, `max_calls` how often in one piece of
    work. `metadata` holds its description in other languages.
    """

    name: str
    description: str
    prompt: str
    model: Role | str = "basic"
    tools: tuple[str, ...] = ()
    max_calls: int = MAX_CALLS
    metadata: Mapping[str, str] = field(default_factory=dict)

    def described(self, language: str) -> str:
        """The description for people who speak this language; the one for models where there is no other."""
        return description_in(language, self.metadata, self.description)


@dataclass(frozen=True, slots=True)
class Team:
    """The members by name, and the folders that were refused."""

    members: Mapping[str, Member] = field(default_factory=dict)
    refused: tuple[Refused, ...] = ()

    def described(self, *, executor: bool = False, more: Mapping[str, str] = NO_MORE) -> str:
        """One line a member, for whoever plans, with `more` by their names; with the `executor` first on demand."""
        first = f"- {EXECUTOR}: {EXECUTOR_DOES}\n" if executor else ""
        return first + "\n".join(
            f"- {member.name}: {member.description}{more.get(member.name, '')}" for member in self.members.values()
        )


def load_team(
    own: Path | None, tools: Collection[str], *, absent: Collection[str] = (), shipped: Path = SHIPPED
) -> Team:
    """The members of both folders; one of `own` wins over a shipped one of its name.

    `tools` are the names of all tools that there are. Those in `absent` are known and not set up here (a search without
    an endpoint, a shell without a room): a member does without them, and is no worse for it.
    """

    def make(document: Document) -> Member:
        head = document.checked(_Head)
        if head.name == EXECUTOR:
            raise FolderRefused("folder.twice", name=EXECUTOR, other=EXECUTOR)
        if not document.body:
            raise FolderRefused("folder.no_prompt")
        there = [name for name in head.tools if name in tools or name.startswith(COMES_AND_GOES)]
        unknown = [name for name in head.tools if name not in there and name not in absent]
        if unknown:
            raise FolderRefused("folder.unknown_tools", names=", ".join(unknown)[:200])
        has = tuple(dict.fromkeys(there))
        return Member(head.name, head.description, document.body, head.model, has, head.max_calls, head.metadata)

    roots = (shipped,) if own is None else (shipped, own)
    folders: Folders[Member] = read_folders(roots, FILE, make)
    return Team(folders.found, folders.refused)
