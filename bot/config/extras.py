"""Explains a missing extra (a group of optional dependencies): what it provides, and the command that installs it."""

from __future__ import annotations

import sys
from pathlib import Path

from bot.config.places import PROJECT, is_checkout
from bot.texts import words
from devices.extras import Extra, is_installed
from devices.wording import Words


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
