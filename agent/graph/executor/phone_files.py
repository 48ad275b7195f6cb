"""A tool that lists, moves and renames files in the phone's shared storage, and creates folders."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from pydantic import Field, model_validator

from agent.actions import Action
from agent.effect_facts import Worded
from agent.graph.executor.action_spec import PhoneContext, PhoneTool
from agent.guards.gate import ALLOWED, Gate
from agent.guards.rules import RuleName
from agent.observing import ScreenView
from agent.tools.spec import ActionError, ActionResult, Situation
from agent.wording import Texts, sentence, shortened
from devices.errors import FileRejected, PhoneError
from devices.phone import FileManager
from devices.storage import SHARED, FolderEntry, checked_folder, checked_movable
from devices.wording import Words

MOST_ENTRIES: Final = 200
"""The maximum entries of one folder for a model, about 3,000 tokens."""
UNABLE: Final = "Not done: the files of this phone cannot be put in order from here. Use its app for files."
REFUSED: Final = "Not done: {why}"
REPLACE: Final = "Not done: {why} To replace a file, give its full path in to, and replace: a person is asked then."
UNLISTED: Final = "The folder could not be listed: {why}"
_SHOWN: Final = 60
_TEXTS: Final = Texts(
    {
        "list": "list the files in {path}",
        "move": "move {path} to {to}",
        "replace": "move {path} to {to}, and delete the file that has that name there",
        "make_folder": "make the folder {path}",
        "entries": "{number} files and folders",
        "now": "it is now {path}",
    },
    zh={
        "list": "列出 {path} 里的文件",
        "move": "把 {path} 移到 {to}",
        "replace": "把 {path} 移到 {to}，并删除那里的同名文件",
        "make_folder": "新建文件夹 {path}",
        "entries": "{number} 个文件和文件夹",
        "now": "现在是 {path}",
    },
)


class Files(Action):
    """List, move or rename files below /sdcard/."""

    kind: Literal["files"] = "files"
    do: Literal["list", "move", "make_folder"] = Field(description="list, move or make_folder.")
    path: str = Field(min_length=1, max_length=1000, description="Full path.")
    to: str = Field(default="", max_length=1000, description="New path.")
    replace: bool = Field(default=False, description="Delete what is there.")

    @model_validator(mode="after")
    def _has_a_place(self) -> Files:
        if (self.do == "move") != bool(self.to):
            raise ValueError("move needs a new path in to, and nothing else has one")
        return self


def exact_paths(action: Files) -> Files:
    """Return the action with normalised paths. Raises ActionError for a path outside shared storage; a person cannot
    approve that either.
    """
    check = checked_movable if action.do == "move" else checked_folder
    try:
        to = checked_folder(action.to) if action.to else ""
        return action.model_copy(update={"path": check(action.path), "to": to})
    except FileRejected as error:
        raise ActionError(f"Not done: {error}") from error


def new_names(action: Action) -> list[str]:
    """Return a list with the new path of what this action moves, which may also be the folder that it is moved into. It
    is empty if the action moves nothing.
    """
    if not isinstance(action, Files) or not action.to:
        return []
    try:
        return [exact_paths(action).to]
    except ActionError:
        return []


def files_gate(action: Files, situation: Situation) -> Gate:
    """Require a person's approval before a file is replaced, because its old content is then lost."""
    return situation.policy.hold(RuleName.DELETE, "file", action.to) if action.replace else ALLOWED


async def put_in_order(action: Files, context: PhoneContext) -> ActionResult:
    """Run the `files` tool. Raises ActionError if it failed or may have failed, and Stopped."""
    if not isinstance(context.phone, FileManager):
        raise ActionError(UNABLE)
    try:
        return await context.control.guard(_done(action, context.phone))
    except FileRejected as error:
        raise ActionError((REPLACE if action.to and not action.replace else REFUSED).format(why=error)) from error
    except PhoneError as error:
        if action.do == "list":
            raise ActionError(UNLISTED.format(why=error)) from error
        raise ActionError(f"Not known whether it was done: {error}", uncertain=error.uncertain) from error


async def _done(action: Files, phone: FileManager) -> ActionResult:
    match action.do:
        case "list":
            return _listed(action.path, await phone.list_folder(action.path))
        case "move":
            now = await phone.move(action.path, action.to, replace=action.replace)
            return ActionResult((Worded.of(_TEXTS.words("now", path=now)),), moved=now)
        case "make_folder":
            now = await phone.make_folder(action.path)
            return ActionResult((Worded.of(_TEXTS.words("now", path=now)),))


def _listed(path: str, found: Sequence[FolderEntry]) -> ActionResult:
    left_out = len(found) - MOST_ENTRIES
    lines = [f"{path}:", *map(_line, found[:MOST_ENTRIES]), *[f"… {left_out} more"] * (left_out > 0)]
    effect = Worded.of(_TEXTS.words("entries", number=len(found)))
    return ActionResult((effect,), read=("\n".join(lines),), read_in=SHARED[0].rstrip("/"))


def _line(entry: FolderEntry) -> str:
    if entry.is_folder:
        return f"{entry.name}/"
    return f"{entry.name} ({entry.size} bytes, {datetime.fromtimestamp(entry.modified, UTC):%Y-%m-%d %H:%M} UTC)"


def _described(action: Files, _sight: ScreenView | None) -> Words:
    path, to = shortened(action.path, _SHOWN), shortened(action.to, _SHOWN)
    if action.do == "move":
        return _TEXTS.words("replace" if action.replace else "move", path=path, to=to)
    return _TEXTS.words(action.do, path=path)


def _details(action: Files) -> list[str]:
    return [sentence("ask.file", path=path) for path in (action.path, action.to) if path]


FILES: Final = PhoneTool(
    model=Files, describe=_described, details=_details, gate=files_gate, resolve=exact_paths, run=put_in_order
)
