"""Limits, names and storage of the files that people attach to a task."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ports.stores import Frames, GivenFile
from bot.domain.incoming import Attachment
from bot.domain.task import TaskError
from bot.texts import say
from devices.storage import safe_name

MAX_FILES = 10
"""Maximum files of one task: what Discord allows in one message."""
MAX_FILE_BYTES = 20 * 1024 * 1024
"""Maximum bytes of one file: what Telegram lets bots download. It is the same on all platforms, so that a task does not
depend on where it is given.
"""
MAX_TOTAL_BYTES = 50 * 1024 * 1024
"""Maximum bytes of all files of one task, because they are in memory while the task is accepted."""
_MEGABYTE = 1024 * 1024


class BadFiles(TaskError):
    """The task has too many files, or they are too large."""


def check(files: Sequence[tuple[str, int]]) -> None:
    """Check the number and sizes of one task's files, given as pairs (name, size in bytes). Raises BadFiles."""
    if len(files) > MAX_FILES:
        raise BadFiles(say("do.files_too_many", count=len(files), limit=MAX_FILES))
    for name, size in files:
        if size > MAX_FILE_BYTES:
            raise BadFiles(say("do.file_too_large", name=safe_name(name), limit=MAX_FILE_BYTES // _MEGABYTE))
    if sum(size for _, size in files) > MAX_TOTAL_BYTES:
        raise BadFiles(say("do.files_too_large", limit=MAX_TOTAL_BYTES // _MEGABYTE))


async def keep(frames: Frames, attached: Sequence[Attachment]) -> tuple[GivenFile, ...]:
    """Store the attached files under unique names that a phone accepts, and return their stored form. Raises BadFiles
    or OSError.
    """
    check([(file.name, len(file.data)) for file in attached])
    taken: set[str] = set()
    kept = []
    for file in attached:
        name = _unused(safe_name(file.name), taken)
        taken.add(name.casefold())
        kept.append(GivenFile(name=name, content=await frames.save(file.data, suffix="bin")))
    return tuple(kept)


def _unused(name: str, taken: set[str]) -> str:
    """Return the name, with a number if another file has it; phones do not distinguish upper and lower case."""
    stem, dot, suffix = name.rpartition(".")
    if not stem:
        stem, dot, suffix = name, "", ""
    number = 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}{dot}{suffix}"
    return name
