"""Tools that run a shell or full Python in the workshop, a sandbox. Nothing can get out of it, so no approval is
needed.

A program's output is treated as data, whoever wrote the program, because it may contain a page or file by somebody
else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Literal, Protocol

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.ports.workshop import (
    MAX_ALL,
    MAX_DEPTH,
    MAX_FILE,
    MAX_FILES,
    MAX_NAME,
    Ending,
    Job,
    JobResult,
    Program,
    WorkFile,
    Workshop,
    WorkshopError,
)
from agent.tools.call_values import head_and_tail, in_a_line
from agent.tools.files import FileRefused, TaskFolder
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts

OUTPUT: Final = 6000
"""Characters of a program's output that a model is shown, about 1,500 tokens."""
TEXTS: Final = Texts(
    {
        "shell": "run in a shell: {command}",
        "python_full": "run a program in full Python",
        "exit": "it ended with exit code {code}",
        "time": "it was stopped: it took longer than {seconds} seconds",
        "memory": "it was stopped: it took more than 256 MB of memory",
        "disk": "it was stopped: it wrote too many files",
        "processes": "it was stopped: it started too many processes",
        "output": "it was stopped: it printed too much",
        "broken": "it destroyed its own room, and what it wrote is gone",
    },
    zh={
        "shell": "在 shell 中运行：{command}",
        "python_full": "用完整的 Python 运行一段程序",
        "exit": "已结束，退出码 {code}",
        "time": "已被终止：运行超过 {seconds} 秒",
        "memory": "已被终止：占用内存超过 256 MB",
        "disk": "已被终止：写入的文件太多",
        "processes": "已被终止：启动的进程太多",
        "output": "已被终止：输出太多",
        "broken": "它破坏了自己的运行环境，写入的内容已丢失",
    },
)


class Shell(Action):
    """Run commands in a shell, in a closed room: no network, 60 seconds, 256 MB, and only what Debian has by itself.

    The files of this task lie in the current folder, and what you write there is kept. Nothing else remains.
    """

    kind: Literal["shell"] = "shell"
    command: str = Field(min_length=1, max_length=8000, description="What bash is to run; several lines are fine.")
    seconds: int = Field(default=60, ge=1, le=60, description="How long it may take.")


class PythonFull(Action):
    """Run a program in full Python with its whole standard library, in a closed room: no network, 60 seconds, 256 MB.

    The files of this task lie in the current folder, and what you write there is kept. For sums and short programs
    without files use python, which is quicker.
    """

    kind: Literal["python_full"] = "python_full"
    code: str = Field(min_length=1, max_length=32_000, description="The whole program; print what you want to see.")
    seconds: int = Field(default=60, ge=1, le=60, description="How long it may take.")


class JobFolder(Protocol):
    """The files of one task, as a program in the workshop sees them. Both methods block; links do not count
    as files.
    """

    def take(self) -> tuple[WorkFile, ...]:
        """Return all files that the workshop accepts, with their content."""

    def put(self, files: Sequence[WorkFile]) -> tuple[str, ...]:
        """Store these files, and return the paths of those that could not be stored, for example because they are too
        large.
        """


class TaskJobFolder:
    """Implements JobFolder with the folder of a task."""

    def __init__(self, folder: TaskFolder) -> None:
        self._folder = folder

    def take(self) -> tuple[WorkFile, ...]:
        """Return all files of the task that the workshop accepts, with their content. Implements `JobFolder.take`."""
        taken: list[WorkFile] = []
        room = MAX_ALL
        for entry in self._folder.entries():
            fits = entry.size <= min(room, MAX_FILE) and len(taken) < MAX_FILES
            if not fits or len(entry.path) > MAX_NAME or entry.path.count("/") >= MAX_DEPTH:
                continue
            with suppress(FileRefused):  # the file disappeared or grew after it was listed
                taken.append(WorkFile(entry.path, self._folder.read_bytes(entry.path)))
                room -= len(taken[-1].content)
        return tuple(taken)

    def put(self, files: Sequence[WorkFile]) -> tuple[str, ...]:
        """Store these files, and return the paths of those that could not be stored. Implements `JobFolder.put`."""
        left: list[str] = []
        for file in files:
            try:
                self._folder.write(file.path, file.content)
            except FileRefused:
                left.append(file.path)
        return tuple(left)


FolderOf = Callable[[ToolContext], JobFolder | None]
"""A function that returns the folder of the task that a tool works for; None if tasks have no folders."""


def shell_tools(workshop: Workshop, folder_of: FolderOf) -> tuple[Tool[Shell], Tool[PythonFull]]:
    """Return the tools that run a shell and Python in this workshop."""

    async def shell(action: Shell, context: ToolContext) -> ActionResult:
        return await _run("shell", action.command, action.seconds, context)

    async def python(action: PythonFull, context: ToolContext) -> ActionResult:
        return await _run("python", action.code, action.seconds, context)

    async def _run(program: Program, code: str, seconds: int, context: ToolContext) -> ActionResult:
        folder = folder_of(context)
        files = await asyncio.to_thread(folder.take) if folder is not None else ()
        try:
            result = await context.control.guard(workshop.run(Job(program, code, files, seconds)))
        except WorkshopError as error:
            raise ActionError(str(error), uncertain=not str(error).startswith("Not run")) from error
        lost = await asyncio.to_thread(folder.put, result.files) if folder is not None else ()
        return _done(result, seconds, kept=folder is not None, lost=lost)

    return (
        Tool(
            model=Shell,
            describe=lambda action, _: TEXTS.words("shell", command=in_a_line(action.command, 80)),
            gate=ungated,
            run=shell,
        ),
        Tool(
            model=PythonFull,
            describe=lambda _action, _sight: TEXTS.words("python_full"),
            gate=ungated,
            run=python,
        ),
    )


def _done(result: JobResult, seconds: int, *, kept: bool, lost: Sequence[str]) -> ActionResult:
    values: dict[Ending, dict[str, int]] = {"exit": {"code": result.code}, "time": {"seconds": seconds}}
    told = []
    if kept and result.files:
        told.append(f"Files written: {_names([file.path for file in result.files if file.path not in lost])}.")
    if missing := [*result.left_out, *lost]:
        told.append(f"Not kept, because they are no plain files, too large or too many: {_names(missing)}.")
    shown = head_and_tail(result.output.rstrip(), OUTPUT) or "(no output)"
    return ActionResult(
        (Worded.of(TEXTS.words(result.ending, **values.get(result.ending, {}))),), notices=tuple(told), read=(shown,)
    )


def _names(names: Sequence[str]) -> str:
    first = ", ".join(in_a_line(name, 60) for name in names[:10])
    return first if len(names) <= 10 else f"{first} and {len(names) - 10} more"
