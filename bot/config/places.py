"""Finds the settings file and the data directory: in this program's own folders if it runs from a checkout, otherwise
in the platform's standard folders.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

NAME: Final = "opengui"
PROJECT: Final = "opengui-bot"
"""The project name in a checkout's pyproject.toml."""
SETTINGS: Final = ".env"
DATA: Final = "data"
SKILLS_NAME: Final = "skills"
"""Folder in the data directory for the operator's own skills."""
AGENTS_NAME: Final = "agents"
"""Folder in the data directory for the operator's own members."""
MCP_NAME: Final = "mcp.json"
"""File in the data directory that lists servers of the Model Context Protocol."""
DOCUMENTS_NAME: Final = "knowledge"
"""Folder in the data directory for documents restored from a backup."""


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of the settings file, which may not exist, and of the default data directory, which DATA_DIR
    overrides.
    """

    settings: Path
    data: Path


def places(here: Path | None = None) -> Places:
    """Return the places of settings and data for the working directory `here` (None: the current one). Reads the disk.

    A `.env` or `data` in any folder that is not a checkout of this program is never used.
    """
    folder = Path() if here is None else here
    if is_checkout(folder):
        return Places(folder / SETTINGS, folder / DATA)
    # Imported here because a checkout does not need it.
    import platformdirs  # noqa: PLC0415 - see above

    return Places(
        platformdirs.user_config_path(NAME, appauthor=False) / SETTINGS,
        platformdirs.user_data_path(NAME, appauthor=False),
    )


def is_checkout(folder: Path) -> bool:
    """Return whether the folder is a checkout of this program. Reads the disk."""
    file = folder / "pyproject.toml"
    try:
        return _is_ours(file.absolute(), _stamp(file))
    except OSError:
        return False


Stamp = tuple[int, int, int, int]
"""What changes with a file: device, inode, modification time in ns, size."""


def _stamp(file: Path) -> Stamp:
    told = file.stat()
    return told.st_dev, told.st_ino, told.st_mtime_ns, told.st_size


@lru_cache(maxsize=8)
def _is_ours(file: Path, stamp: Stamp) -> bool:  # noqa: ARG001 - a changed file is read again
    """Whether this is our pyproject.toml. Cached, because reading takes 2 ms and settings are loaded often."""
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return False
    return isinstance(project, dict) and project.get("name") == PROJECT
