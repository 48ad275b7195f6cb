"""The files of tasks, and the tools for them: each task has one folder, and no path leads out of it."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeVar

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.events import FileFound
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts
from devices.wording import Words

MOST_BYTES: Final = 4_000_000
"""The maximum bytes of one file."""
MOST_ALL: Final = 50_000_000
"""The maximum bytes of all files of a task."""
MOST_FILES: Final = 500
MOST_DEPTH: Final = 6
_TASK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")
_FLAGS: Final = os.O_NOFOLLOW | os.O_CLOEXEC


class FileRefused(Exception):
    """A file was not read or written; the message tells the model why."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file in a task's folder: its path within the folder, and its size in bytes."""

    path: str
    size: int


class TaskFiles:
    """The folders of all tasks, below one directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def of(self, task: str) -> TaskFolder:
        """Return the folder of a task, which is created at the first write. Raises FileRefused for an invalid task
        name.
        """
        if _TASK.fullmatch(task) is None or ".." in task:
            raise FileRefused("There is no folder for this task.")
        return TaskFolder(self._root / task)


class TaskFolder:
    """The folder of one task. Each part of a path is opened separately without following links, so that no path leads
    out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> str:
        """Return the content of a file as text, with � for invalid UTF-8. Raises FileRefused."""
        return self.read_bytes(name).decode("utf-8", "replace")

    def read_bytes(self, name: str) -> bytes:
        """Return the content of a file as bytes. Raises FileRefused."""
        parts = _parts(name)
        with _explained(name):
            folder = self._open(parts[:-1], make=False)
            try:
                # Non-blocking: a named pipe would wait forever.
                number = os.open(parts[-1], os.O_RDONLY | os.O_NONBLOCK | _FLAGS, dir_fd=folder)
            finally:
                os.close(folder)
            with os.fdopen(number, "rb") as file:
                about = os.fstat(number)
                if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
                    raise FileRefused(f"{name} is no plain file.")
                data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise FileRefused(f"{name} is larger than {MOST_BYTES // 1_000_000} MB.")
        return data

    def write(self, name: str, text: str | bytes) -> int:
        """Write a whole file, replacing an existing one, and return its size in bytes. Raises FileRefused."""
        parts, data = _parts(name), text.encode("utf-8", "replace") if isinstance(text, str) else text
        if len(data) > MOST_BYTES:
            raise FileRefused(f"Not written: a file may have {MOST_BYTES // 1_000_000} MB.")
        there = {entry.path: entry.size for entry in self.entries()}
        there.pop("/".join(parts), None)
        if len(there) >= MOST_FILES or sum(there.values()) + len(data) > MOST_ALL:
            raise FileRefused(
                f"Not written: a task may have {MOST_FILES} files of {MOST_ALL // 1_000_000} MB together."
            )
        with _explained(name):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = self._open(parts[:-1], make=True)
            try:
                spare = f".{os.getpid()}-{os.urandom(6).hex()}.part"
                number = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600, dir_fd=folder)
                try:
                    with os.fdopen(number, "wb") as file:
                        file.write(data)
                    _not_a_folder(parts[-1], folder)
                    os.replace(spare, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
                except BaseException:
                    os.unlink(spare, dir_fd=folder)
                    raise
            finally:
                os.close(folder)
        return len(data)

    def entries(self) -> tuple[FileEntry, ...]:
        """Return the regular files in the folder, sorted by path; links are left out. Raises FileRefused."""
        with _explained("the folder"):
            return tuple(sorted(self._walk(), key=lambda entry: entry.path)) if self.path.is_dir() else ()

    def _walk(self) -> Iterator[FileEntry]:
        top = str(self.path)
        for folder, folders, names, number in os.fwalk(top, follow_symlinks=False):
            below = PurePosixPath(os.path.relpath(folder, top))
            if len(below.parts) >= MOST_DEPTH:
                folders.clear()
            for name in names:
                about = os.stat(name, dir_fd=number, follow_symlinks=False)
                if stat.S_ISREG(about.st_mode) and not name.endswith(".part"):
                    yield FileEntry(str(below / name), about.st_size)

    def _open(self, parts: tuple[str, ...], *, make: bool) -> int:
        """Open a folder below this one and return its descriptor; no step of the path may be a link."""
        number = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
        for part in parts:
            try:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=number)
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=number)
            finally:
                os.close(number)
            number = below
        return number


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turn file errors into sentences for the model."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileRefused(f"There is no file {name}.") from error
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO}:
            raise FileRefused(f"{name} is no plain file in the folder of this task.") from error
        raise FileRefused(f"{name} cannot be used ({os.strerror(error.errno or 0)}).") from error


def _not_a_folder(name: str, folder: int) -> None:
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(about.st_mode):
        raise FileRefused(f"{name} is no plain file.")


def _parts(name: str) -> tuple[str, ...]:
    """Split a path inside the folder. Raises FileRefused if it leads outside."""
    parts = PurePosixPath(name).parts
    odd = any(part in {"..", "/", "//"} or "\0" in part or len(part.encode("utf-8", "replace")) > 200 for part in parts)
    if not parts or odd or len(parts) > MOST_DEPTH or "\\" in name or name.endswith(".part") or not name.isprintable():
        raise FileRefused("Only paths inside the folder of this task are used, such as notes/prices.txt.")
    return parts


T = TypeVar("T")
LINES: Final = 200
"""The maximum lines read at once."""
LINE: Final = 500
MATCHES: Final = 100
TEXTS: Final = Texts(
    {
        "list": "list the files of the task",
        "read_file": "read the file {path}",
        "find": "search the files for {wanted}",
        "write_file": "write the file {path}",
        "listed": "files: {number}",
        "read": "{number} lines read",
        "found": "lines found: {number}",
        "written": "{path} written, {bytes} bytes",
        "given": "{path} goes to the person",
    },
    zh={
        "list": "列出任务的文件",
        "read_file": "读取文件 {path}",
        "find": "在文件中查找 {wanted}",
        "write_file": "写入文件 {path}",
        "listed": "文件：{number} 个",
        "read": "读到 {number} 行",
        "found": "找到 {number} 行",
        "written": "已写入 {path}，{bytes} 字节",
        "given": "{path} 会交给用户",
    },
)


class ReadFiles(Action):
    """Look into the files of this task: list them, read one, or find a text in them. No other files can be reached."""

    kind: Literal["files"] = "files"
    operation: Literal["list", "read", "find"] = Field(description="What to do.")
    path: str = Field(default="", max_length=300, description="A file for read; for list and find a pattern: *.txt.")
    wanted: str = Field(default="", max_length=300, description="The text to find, as it stands.")
    first: int = Field(default=1, ge=1, description="The line to read from.")


class WriteFile(Action):
    """Write a file of this task, or change a place in it. Give it to the person only when they want a file."""

    kind: Literal["write_file"] = "write_file"
    path: str = Field(min_length=1, max_length=300, description="Such as report.md or data/prices.csv.")
    text: str = Field(max_length=90_000, description="The whole text; with old only what stands in its place.")
    old: str = Field(default="", max_length=20_000, description="A text that stands once in the file, to be replaced.")
    give: bool = Field(default=False, description="Whether the person gets the file in the chat.")


def file_tools(files: TaskFiles) -> tuple[Tool[ReadFiles], Tool[WriteFile]]:
    """Return the tools that read and write the files of a task, in its own folder below `files`."""

    async def look(action: ReadFiles, context: ToolContext) -> ActionResult:
        return await _off_the_loop(lambda: _look(action, files.of(context.task_id)))

    async def write(action: WriteFile, context: ToolContext) -> ActionResult:
        text = context.mask.text(action.text)
        data = await _off_the_loop(lambda: _write(action, text, files.of(context.task_id)))
        effects = [Worded.of(TEXTS.words("written", path=action.path, bytes=len(data)))]
        if action.give:
            suffix = PurePosixPath(action.path).suffix.lstrip(".").lower()
            suffix = suffix if suffix.isascii() and suffix.isalnum() and len(suffix) <= 8 else "txt"
            content = await context.frames.save(data, suffix=suffix)
            context.emit(FileFound(name=PurePosixPath(action.path).name, content=content))
            effects.append(Worded.of(TEXTS.words("given", path=action.path)))
        return ActionResult(tuple(effects))

    return (
        Tool(model=ReadFiles, describe=lambda action, _: _described(action), gate=ungated, repeatable=True, run=look),
        Tool(
            model=WriteFile,
            describe=lambda action, _: TEXTS.words("write_file", path=in_a_line(action.path, 80)),
            gate=ungated,
            run=write,
        ),
    )


def _described(action: ReadFiles) -> Words:
    match action.operation:
        case "list":
            return TEXTS.words("list")
        case "read":
            return TEXTS.words("read_file", path=in_a_line(action.path, 80))
        case "find":
            return TEXTS.words("find", wanted=in_a_line(action.wanted, 80))


async def _off_the_loop(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except FileRefused as error:
        raise ActionError(f"Not done. {error}") from error


def _look(action: ReadFiles, folder: TaskFolder) -> ActionResult:
    if action.operation == "read":
        lines = folder.read(action.path).splitlines()
        shown = lines[action.first - 1 : action.first - 1 + LINES]
        last = action.first - 1 + len(shown)
        head = f"file: {action.path}, lines {action.first} to {last} of {len(lines)}"
        text = "\n".join([head, *(line[:LINE] for line in shown)])
        return ActionResult((Worded.of(TEXTS.words("read", number=len(shown))),), read=(text,))
    entries = [each for each in folder.entries() if not action.path or fnmatch(each.path, action.path)]
    if action.operation == "list":
        text = "\n".join(f"{each.path} ({each.size} bytes)" for each in entries)
        return ActionResult((Worded.of(TEXTS.words("listed", number=len(entries))),), read=(text,) if text else ())
    if not action.wanted:
        raise ActionError("Not done: say in wanted what to find.")
    found: list[str] = []
    for each in entries:
        for number, line in enumerate(folder.read(each.path).splitlines(), 1):
            if action.wanted in line and len(found) < MATCHES:
                found.append(f"{each.path}:{number}: {line[:LINE]}")
    effect = Worded.of(TEXTS.words("found", number=len(found)))
    return ActionResult((effect,), read=("\n".join(found),) if found else ())


def _write(action: WriteFile, text: str, folder: TaskFolder) -> bytes:
    if action.old:
        before = folder.read(action.path)
        if before.count(action.old) != 1:
            raise ActionError(f"Not done: the old text stands {before.count(action.old)} times in {action.path}.")
        text = before.replace(action.old, text)
    data = text.encode("utf-8", "replace")
    folder.write(action.path, data)
    return data
