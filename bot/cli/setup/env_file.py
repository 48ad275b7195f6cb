"""The settings file: changed line by line, everything else in it stays."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_LINE = re.compile(r"^(?P<name>[A-Z][A-Z0-9_]*)=")


def with_values(text: str, values: Mapping[str, str]) -> str:
    """The file's text with these settings; comments and other lines stay, what is not there yet comes at the end."""
    left = dict(values)
    lines: list[str] = []
    for line in text.splitlines():
        found = _LINE.match(line)
        name = found["name"] if found else ""
        lines.append(f"{name}={left.pop(name)}" if name in left else line)
    lines += [f"{name}={value}" for name, value in left.items()]
    return "\n".join(lines) + "\n"


def write(path: Path, text: str) -> None:
    """Write the file at once, readable by this user alone: it may hold tokens. The old one is there until then."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
