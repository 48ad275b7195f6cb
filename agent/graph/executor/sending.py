"""A file leaves the phone for the chat: allowed by the task's own words or by a person, and written down before."""

from __future__ import annotations

import asyncio
import re
from pathlib import PurePosixPath
from typing import Any

from agent.actions import SendFile
from agent.control import Stopped
from agent.effect_facts import Effect, FileSent, in_english
from agent.events import FileFound
from agent.graph.executor.acting import ActionError
from agent.graph.executor.approvals import file_approval_of
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.observing import ScreenView
from agent.ports.journal import ActionKey
from devices.errors import FileRejected, PhoneError
from devices.storage import checked_path

MAX_FILE = 20 * 1024 * 1024
"""Bytes of a file for the chat; every platform takes at least 10 MiB, the adapters say what theirs does not."""
_SUFFIX = re.compile(r"[a-z0-9]{1,10}")
"""What the storage takes; another suffix is no reason to lose the file, whose name is kept beside it."""


def file_question(
    state: ExecutorState, context: RunContext, sight: ScreenView, action: SendFile
) -> dict[str, Any] | None:
    """What the state gets when a person must be asked before this file is sent, None when the task asks for it itself.

    Raises Trouble for a path outside of shared storage: nobody is asked about that; Denied for a file that a person
    has not allowed before.
    """
    path = _checked(action)
    gate = context.policy.file_gate(path, asked=state["task"])
    if gate.verdict == "allow":
        return None
    exact = action.model_copy(update={"path": path})
    return file_approval_of(state, context, sight, exact, gate.reason)


async def send_file(context: RunContext, key: ActionKey, data: dict[str, Any], action: SendFile) -> tuple[Effect, ...]:
    """Fetch the file and hand it to the chat, once. Returns what was sent.

    Raises Trouble when nothing was sent, Stopped when the run was stopped before it was, and LeaseLost.
    """
    path = _checked(action)
    if not await context.journal.begin(key, data, fence=context.fence):
        raise ActionError(
            f"Sending {path} was begun before an interruption; it may have arrived, and was not sent again. "
            "Send it once more only if the person says that it is missing."
        )
    try:
        content = await context.control.guard(context.phone.pull(path, limit=MAX_FILE))
    except (Stopped, asyncio.CancelledError):
        await asyncio.shield(context.journal.finish(key, "rejected", "stopped before it was sent"))
        raise
    except PhoneError as error:
        await context.journal.finish(key, "rejected", type(error).__name__)
        raise ActionError(f"The file was not sent: {error}") from error
    name = PurePosixPath(path).name
    suffix = PurePosixPath(path).suffix.lstrip(".").casefold()
    kept = await context.frames.save(content, suffix=suffix if _SUFFIX.fullmatch(suffix) else "bin")
    context.emit(FileFound(name=name, content=kept))
    effect = context.mask.effects([FileSent(name=name, size=len(content))])
    await context.journal.finish(key, "done", in_english(effect))
    return effect


def _checked(action: SendFile) -> str:
    try:
        return checked_path(action.path)
    except FileRejected as error:
        raise ActionError(f"The file was not sent: {error}") from error
