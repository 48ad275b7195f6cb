"""The files written by people (skills, members, documents, `mcp.json`) that a backup includes in addition to the
databases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bot.config.places import AGENTS_NAME, DOCUMENTS_NAME, MCP_NAME, SKILLS_NAME
from bot.config.settings import Settings
from bot.store.knowledge import documents_in
from bot.wiring.parts import tool_servers

WRITTEN: Final = (f"{SKILLS_NAME}/", f"{AGENTS_NAME}/", MCP_NAME, f"{DOCUMENTS_NAME}/")
"""Names of these files in a backup and in the data directory; a folder's name ends with a slash."""


def written_files(settings: Settings) -> dict[str, Path]:
    """Return the paths of these files by their names in a backup, without links and hidden files. Reads the disk."""
    data = settings.data_dir
    found = {
        f"{name}/{path.relative_to(data / name).as_posix()}": path
        for name in (SKILLS_NAME, AGENTS_NAME)
        for path in sorted((data / name).rglob("*"))
        if path.is_file() and not path.is_symlink() and not _is_hidden(path.relative_to(data / name))
    }
    if (data / MCP_NAME).is_file():
        found[MCP_NAME] = data / MCP_NAME
    if settings.knowledge_dir is not None and settings.knowledge_dir.is_dir():
        documents = settings.knowledge_dir
        found |= {
            f"{DOCUMENTS_NAME}/{path.relative_to(documents).as_posix()}": path for path in documents_in(documents)
        }
    return found


def written_lines(names: Iterable[str], folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield a pair for each kind of file: its text key, and a line for people about each skill, member, MCP server or
    document. `names` are the files' names in the backup; `folder` contains `mcp.json`.
    """
    kept = [name.split("/") for name in names]
    for key, folder_name in (("skills", SKILLS_NAME), ("members", AGENTS_NAME)):
        yield key, sorted({parts[1] for parts in kept if parts[0] == folder_name})
    yield "servers", tool_servers().listed(folder) if [MCP_NAME] in kept else []
    yield "documents", ["/".join(parts[1:]) for parts in kept if parts[0] == DOCUMENTS_NAME]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
