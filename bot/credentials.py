"""Secrets that the service manager hands over as files ($CREDENTIALS_DIRECTORY, see systemd.exec(5))."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def credentials(names: Iterable[str]) -> dict[str, str]:
    """What was handed over of these, by name. Raises OSError or UnicodeDecodeError when a file cannot be read."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY", "")
    files = {name: Path(folder) / name for name in names} if folder else {}
    return {name: file.read_text(encoding="utf-8-sig") for name, file in files.items() if file.is_file()}
