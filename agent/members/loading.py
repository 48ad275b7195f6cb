"""Loads the team members: those that ship with the program, and those in the operator's `agents/` folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, Field

from agent.front_matter import MAX_DESCRIPTION, Document, FolderRefused, Folders, Refused, description_in, read_folders
from agent.models.base import Role

FILE: Final = "AGENTS.md"
SHIPPED: Final = Path(__file__).parent
EXECUTOR: Final = "executor"
"""The member that works on the phone. It has no folder, and no folder may use its name."""
EXECUTOR_DOES: Final = (
    "Works on the phone: sees its screen, taps, types, opens apps. Only one part at a time can be its."
)
MAX_MODEL: Final = 200
"""The maximum length of a model's name, in characters."""
COMES_AND_GOES: Final = "mcp_"
"""The prefix of tools offered by other programs (MCP servers), which may appear and disappear. A member gets those
available while it works. A tool name that ends in `*` stands for all tools with that prefix.
"""
NO_MORE: Final[Mapping[str, str]] = {}
MAX_CALLS: Final = 30
"""The maximum number of tool calls in one assignment; a member's folder can only lower it."""


def _names(given: Any) -> Any:  # noqa: ANN401 - whatever stands in the front matter
    """Split names separated by commas, as other programs write them; a list stays as it is."""
    return [name.strip() for name in given.split(",") if name.strip()] if isinstance(given, str) else given


def _texts(given: Any) -> dict[str, str]:  # noqa: ANN401 - whatever stands in the front matter
    """Return the entries that are texts; anything else that other programs keep there is ignored."""
    table = given if isinstance(given, dict) else {}
    return {name: text for name, text in table.items() if isinstance(text, str)}


class _Head(BaseModel, extra="ignore"):
    """The front matter of a member. Keys of other programs are left alone."""

    name: str
    description: str = Field(min_length=1, max_length=MAX_DESCRIPTION)
    metadata: Annotated[dict[str, str], BeforeValidator(_texts)] = Field(default_factory=dict)
    model: str = Field("basic", min_length=1, max_length=MAX_MODEL)
    tools: Annotated[tuple[str, ...], BeforeValidator(_names), Field(max_length=50)] = ()
    max_calls: int = Field(MAX_CALLS, ge=1, le=MAX_CALLS)


@dataclass(frozen=True, slots=True)
class Member:
    """A team member, which works without a phone.

    `model` is the role whose model it uses, or a model's name (see `Models.for_role`). `prompt` is its system prompt.
    `tools` are the names of the tools that it may call, and `max_calls` limits the calls in one assignment. `metadata`
    has its description in other languages.
    """

    name: str
    description: str
    prompt: str
    model: Role | str = "basic"
    tools: tuple[str, ...] = ()
    max_calls: int = MAX_CALLS
    metadata: Mapping[str, str] = field(default_factory=dict)

    def described(self, language: str) -> str:
        """Return what people read about this team member, a model with instructions and tools of its own, in the given
        language. If there is no such text, it is the description for models.
        """
        return description_in(language, self.metadata, self.description)


@dataclass(frozen=True, slots=True)
class Team:
    """The members by name, and the members' folders that could not be loaded (`refused`)."""

    members: Mapping[str, Member] = field(default_factory=dict)
    refused: tuple[Refused, ...] = ()

    def described(self, *, executor: bool = False, more: Mapping[str, str] = NO_MORE) -> str:
        """Return one line about each member, for the planner.

        `executor` adds the member that uses the phone as the first one. `more` has texts to append, by member name.
        """
        first = f"- {EXECUTOR}: {EXECUTOR_DOES}\n" if executor else ""
        return first + "\n".join(
            f"- {member.name}: {member.description}{more.get(member.name, '')}" for member in self.members.values()
        )


def load_team(
    own: Path | None, tools: Collection[str], *, absent: Collection[str] = (), shipped: Path = SHIPPED
) -> Team:
    """Load the shipped members and those in the operator's folder `own`, which replace shipped ones of the same name.

    `tools` are the names of all available tools. Tools in `absent` are known but not set up here (a search without an
    endpoint, a shell without a sandbox); a member simply goes without them. A folder that cannot be used is listed in
    the team's `refused`.
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
