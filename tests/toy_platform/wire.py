"""What goes over the toy platform's connection: one JSON object on a line, each way."""

from __future__ import annotations

import asyncio
import json
from typing import Any

LONGEST = 64 * 1024 * 1024
"""Bytes of one line."""

Line = dict[str, Any]


async def read(reader: asyncio.StreamReader) -> Line | None:
    """The next line, None when the other side has hung up."""
    try:
        line = await reader.readline()
    except ConnectionError:
        return None
    if not line:
        return None
    found: Line = json.loads(line)
    return found


def write(writer: asyncio.StreamWriter, line: Line) -> None:
    writer.write(json.dumps(line).encode() + b"\n")
