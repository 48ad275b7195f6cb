"""A file leaves the phone for the chat: allowed by the task's own words or by a person, and sent once."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from agent.actions import SendFile
from agent.effect_facts import FileSent
from agent.events import FileFound
from agent.graph.executor.action_spec import PhoneContext
from agent.guards.gate import Gate
from agent.tools.spec import ActionError, Done, Situation
from devices.errors import FileRejected, PhoneError
from devices.storage import checked_path

MAX_FILE = 20 * 1024 * 1024
"""Bytes of a file for the chat; every platform takes at least 10 MiB, the adapters say what theirs does not."""
_SUFFIX = re.compile(r"[a-z0-9]{1,10}")
"""What the storage takes; another suffix is no reason to lose the file, whose name is kept beside it."""


def exact_path(action: SendFile) -> SendFile:
    """The file by its whole path. Raises ActionError for one outside of shared storage: nobody is asked about that."""
    try:
        return action.model_copy(update={"path": checked_path(action.path)})
    except FileRejected as error:
        raise ActionError(f"The file was not sent: {error}") from error


def file_gate(action: SendFile, situation: Situation) -> Gate:
    """Whether a person must be asked before this file is sent: not when the task asks for it itself."""
    return situation.policy.file_gate(action.path, asked=situation.task)


async def send_file(action: SendFile, context: PhoneContext) -> Done:
    """Fetch the file and hand it to the chat. Raises ActionError when nothing was sent, Stopped when the run was
    stopped before it was.
    """
    path = PurePosixPath(action.path)
    try:
        content = await context.control.guard(context.phone.pull(action.path, limit=MAX_FILE))
    except PhoneError as error:
        raise ActionError(f"The file was not sent: {error}") from error
    suffix = path.suffix.lstrip(".").casefold()
    kept = await context.frames.save(content, suffix=suffix if _SUFFIX.fullmatch(suffix) else "bin")
    context.emit(FileFound(name=path.name, content=kept))
    return Done((FileSent(name=path.name, size=len(content)),))
