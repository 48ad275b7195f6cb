"""Where and how this program is installed: its settings file and data directory (in its own folders if it runs from a
checkout), and the command that adds a missing extra, a group of optional dependencies.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from bot.texts import words
from devices.extras import Extra, is_installed
from devices.wording import Words

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


def lack_of(extra: Extra) -> Words:
    """Return a text that says that this extra is not installed, and how to install it."""
    what = words(f"extra.brings.{extra}")
    return words("extra.missing", what=what, name=extra.value, command=install_command(extra))


def install_command(extra: Extra, environment: Path | None = None) -> str:
    """Return the command that adds an extra to the running program's Python environment. Reads the disk.

    pipx and uv replace an environment as a whole, so the command also lists the extras already installed.
    """
    folder = Path(sys.prefix) if environment is None else environment
    if folder.name == ".venv" and is_checkout(folder.parent):
        return f"make install-{extra}"
    kept = ",".join(each for each in Extra if each is extra or is_installed(each))
    if (folder / "pipx_metadata.json").exists():
        return f"pipx install --force '{PROJECT}[{kept}]'"
    if (folder / "uv-receipt.toml").exists():
        return f"uv tool install '{PROJECT}[{kept}]'"
    return f"pip install '{PROJECT}[{extra}]'"
