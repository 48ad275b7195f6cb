"""Tools for the files of a task, which reach nothing outside its own folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Final, Literal, TypeVar

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.events import FileFound
from agent.tools.shortening import in_a_line
from agent.tools.spec import ActionError, Done, Tool, ToolContext, ungated
from agent.tools.task_files import FileRefused, TaskFiles, TaskFolder
from agent.wording import Texts
from devices.wording import Words

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

    async def look(action: ReadFiles, context: ToolContext) -> Done:
        return await _off_the_loop(lambda: _look(action, files.of(context.task_id)))

    async def write(action: WriteFile, context: ToolContext) -> Done:
        text = context.mask.text(action.text)
        data = await _off_the_loop(lambda: _write(action, text, files.of(context.task_id)))
        effects = [Worded.of(TEXTS.words("written", path=action.path, bytes=len(data)))]
        if action.give:
            suffix = PurePosixPath(action.path).suffix.lstrip(".").lower()
            suffix = suffix if suffix.isascii() and suffix.isalnum() and len(suffix) <= 8 else "txt"
            content = await context.frames.save(data, suffix=suffix)
            context.emit(FileFound(name=PurePosixPath(action.path).name, content=content))
            effects.append(Worded.of(TEXTS.words("given", path=action.path)))
        return Done(tuple(effects))

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


def _look(action: ReadFiles, folder: TaskFolder) -> Done:
    if action.operation == "read":
        lines = folder.read(action.path).splitlines()
        shown = lines[action.first - 1 : action.first - 1 + LINES]
        last = action.first - 1 + len(shown)
        head = f"file: {action.path}, lines {action.first} to {last} of {len(lines)}"
        text = "\n".join([head, *(line[:LINE] for line in shown)])
        return Done((Worded.of(TEXTS.words("read", number=len(shown))),), read=(text,))
    entries = [each for each in folder.entries() if not action.path or fnmatch(each.path, action.path)]
    if action.operation == "list":
        text = "\n".join(f"{each.path} ({each.size} bytes)" for each in entries)
        return Done((Worded.of(TEXTS.words("listed", number=len(entries))),), read=(text,) if text else ())
    if not action.wanted:
        raise ActionError("Not done: say in wanted what to find.")
    found: list[str] = []
    for each in entries:
        for number, line in enumerate(folder.read(each.path).splitlines(), 1):
            if action.wanted in line and len(found) < MATCHES:
                found.append(f"{each.path}:{number}: {line[:LINE]}")
    effect = Worded.of(TEXTS.words("found", number=len(found)))
    return Done((effect,), read=("\n".join(found),) if found else ())


def _write(action: WriteFile, text: str, folder: TaskFolder) -> bytes:
    if action.old:
        before = folder.read(action.path)
        if before.count(action.old) != 1:
            raise ActionError(f"Not done: the old text stands {before.count(action.old)} times in {action.path}.")
        text = before.replace(action.old, text)
    data = text.encode("utf-8", "replace")
    folder.write(action.path, data)
    return data
