"""The two tools: what a model is told of a job, with the workshop that ships as a fake."""

from __future__ import annotations

from typing import cast

import pytest

from agent.control import Control
from agent.ports.workshop import FakeWorkshop, Job, JobResult, WorkFile, WorkshopError
from agent.tools.shell import PythonFull, Shell, shell_tools
from agent.tools.spec import ActionError, ToolContext


class Context:
    def __init__(self) -> None:
        self.control = Control()


class Folder:
    def __init__(self) -> None:
        self.files = {"a.txt": b"1"}

    def take(self) -> tuple[WorkFile, ...]:
        return tuple(WorkFile(*one) for one in self.files.items())

    def put(self, files: object) -> tuple[str, ...]:
        assert isinstance(files, tuple)
        self.files |= {file.path: file.content for file in files}
        return ()


CONTEXT = cast("ToolContext", Context())


async def test_a_job_gets_the_files_of_its_task_and_leaves_its_own() -> None:
    folder = Folder()
    workshop = FakeWorkshop(lambda _: JobResult("exit", 0, "done\n", files=(WorkFile("b.txt", b"2"),)))
    shell, _ = shell_tools(workshop, lambda _context: folder)
    done = await shell.run(Shell(command="ls"), CONTEXT)
    assert workshop.jobs == [Job("shell", "ls", (WorkFile("a.txt", b"1"),))]
    assert folder.files == {"a.txt": b"1", "b.txt": b"2"}
    assert done.read == ("done",)
    assert done.notices == ("Files written: b.txt.",)


async def test_what_a_program_prints_is_data_and_bounded() -> None:
    workshop = FakeWorkshop(lambda _: JobResult("memory", -9, "x" * 50_000))
    _, python = shell_tools(workshop, lambda _context: None)
    done = await python.run(PythonFull(code="print()"), CONTEXT)
    assert len(done.read[0]) < 7000
    assert str(done.effects[0].words) if hasattr(done.effects[0], "words") else done.effects
    assert not done.notices


async def test_a_workshop_that_is_gone_is_a_word_to_the_model() -> None:
    def gone(_job: Job) -> JobResult:
        raise WorkshopError("Not run: the workshop does not answer.")

    shell, python = shell_tools(FakeWorkshop(gone), lambda _context: None)
    with pytest.raises(ActionError, match="does not answer"):
        await shell.run(Shell(command="ls"), CONTEXT)
    assert not shell.repeatable
    assert not python.repeatable
    assert not shell.cacheable
