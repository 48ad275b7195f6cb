"""Where settings and data are: in a checkout of this program its own folders, anywhere else those of the platform."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

NAME: Final = "opengui"
PROJECT: Final = "opengui-bot"
"""What a checkout's pyproject.toml is the project of."""
SETTINGS: Final = ".env"
DATA: Final = "data"
SKILLS_NAME: Final = "skills"
"""The folder in the data directory with the operator's own skills."""
AGENTS_NAME: Final = "agents"
"""The folder in the data directory with the operator's own members."""
MCP_NAME: Final = "mcp.json"
"""The file in the data directory that names servers of the Model Context Protocol."""
DOCUMENTS_NAME: Final = "knowledge"
"""The folder in the data directory where documents lie that came with a backup."""


@dataclass(frozen=True, slots=True)
class Places:
    """The file with the settings, which may be missing, and where data is kept unless DATA_DIR says otherwise."""

    settings: Path
    data: Path


def places(here: Path | None = None) -> Places:
    """Those for whoever stands in the folder `here` (the working directory). Reads the disk.

    A `.env` or `data` of any other folder belongs to something else and is never used.
    """
    folder = Path() if here is None else here
    if is_checkout(folder):
        return Places(folder / SETTINGS, folder / DATA)
    # Here and not above: a checkout needs none of it.
    import platformdirs  # noqa: PLC0415 - see above

    return Places(
        platformdirs.user_config_path(NAME, appauthor=False) / SETTINGS,
        platformdirs.user_data_path(NAME, appauthor=False),
    )


def is_checkout(folder: Path) -> bool:
    """Whether the folder is a checkout of this program. Reads the disk."""
    file = folder / "pyproject.toml"
    try:
        return _is_ours(file.absolute(), _stamp(file))
    except OSError:
        return False


Stamp = tuple[int, int, int, int]
"""What changes with a file: device, inode, time in ns, size."""


def _stamp(file: Path) -> Stamp:
    told = file.stat()
    return told.st_dev, told.st_ino, told.st_mtime_ns, told.st_size


@lru_cache(maxsize=8)
def _is_ours(file: Path, stamp: Stamp) -> bool:  # noqa: ARG001 - a changed file is read again
    """Whether this is our pyproject.toml. Kept: to read it takes 2 ms, and settings are made often."""
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    return isinstance(project, dict) and project.get("name") == PROJECT
