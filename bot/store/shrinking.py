"""Gives the room of removed rows back to the disk, at the start, when there is much of it."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Final

import aiosqlite

logger = logging.getLogger(__name__)

MUCH: Final = 64 * 1024 * 1024
"""Bytes. New rows take the room of removed ones, so a little of it does no harm."""


async def shrink(connection: aiosqlite.Connection, path: Path, *, much: int = MUCH) -> None:
    """VACUUM when over half of the file and more than `much` bytes are free.

    Only at the start: it locks the file, takes about a second for 100 MB, and needs as much room once more on the disk.
    `auto_vacuum` instead would make every removal slower, and cannot be switched on for a file that is there already.
    """
    free, pages, size = [
        int(next(iter(await connection.execute_fetchall(f"PRAGMA {name}")))[0])
        for name in ("freelist_count", "page_count", "page_size")
    ]
    if free * 2 <= pages or free * size <= much:
        return
    try:
        await connection.execute_fetchall("VACUUM")
    except sqlite3.OperationalError as error:
        logger.warning(
            "%s holds %.0f MB of free room and could not be made smaller: %s", path, free * size / 1e6, error
        )
    else:
        logger.info("%s was made smaller by %.0f MB.", path, free * size / 1e6)
