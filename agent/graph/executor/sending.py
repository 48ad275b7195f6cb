"""A file leaves the phone for the chat: allowed by the task's own words or by a person, and written down before."""

from __future__ import annotations

import asyncio
import re
from pathlib import PurePosixPath
from typing import Any

from agent.actions import SendFile
from agent.control import Stopped
from agent.describing import described
from agent.events import FileFound
from agent.graph.executor import asking
from agent.graph.executor.acting import Trouble
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState
from agent.observing import Sight
from agent.ports.journal import ActionKey
from devices.errors import FileRejected, PhoneError
from devices.storage import checked_path

MAX_FILE = 20 * 1024 * 1024
"""Bytes of a file for the chat; every platform takes at least 10 MiB, the adapters say what theirs does not."""
_SUFFIX = re.compile(r"[a-z0-9]{1,10}")
"""What the storage takes; another suffix is no reason to lose the file, whose name is kept beside it."""


def file_question(state: ExecutorState, context: RunContext, sight: Sight, action: SendFile) -> dict[str, Any] | None:
    """What the state gets when a person must be asked before this file is sent, None when the task asks for it itself.

    Raises Trouble for a path outside of shared storage: nobody is asked about that.
    """
    path = _checked(action)
    gate = context.policy.file_gate(path, asked=state["task"])
    if gate.verdict == "allow":
        return None
    exact = action.model_copy(update={"path": path})
    question = asking.approval(state, context, exact, described(exact, sight), gate.reason, sight, sight.frame)
    return {"question": question, "anchor": None}


async def send_file(context: RunContext, key: ActionKey, data: dict[str, Any], action: SendFile) -> str:
    """Fetch the file and hand it to the chat, once. Returns what was sent, in words.

    Raises Trouble when nothing was sent, Stopped when the run was stopped before it was, and LeaseLost.
    """
    path = _checked(action)
    if not await context.journal.begin(key, data, fence=context.fence):
        raise Trouble(
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
        raise Trouble(f"The file was not sent: {error}") from error
    name = PurePosixPath(path).name
    suffix = PurePosixPath(path).suffix.lstrip(".").casefold()
    kept = await context.frames.save(content, suffix=suffix if _SUFFIX.fullmatch(suffix) else "bin")
    context.emit(FileFound(name=name, content=kept))
    effect = context.mask.text(f"sent {name} ({len(content)} bytes)")
    await context.journal.finish(key, "done", effect)
    return effect


def _checked(action: SendFile) -> str:
    try:
        return checked_path(action.path)
    except FileRejected as error:
        raise Trouble(f"The file was not sent: {error}") from error
