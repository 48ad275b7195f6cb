"""The messages on the workshop's socket: one request and one answer per connection, each a head with files.

A message is the length of its head (four bytes, big-endian), the head as JSON, and then the contents of the files that
it names, in order. Each side distrusts the other: every length is checked before it is used, and nothing is read that
was not announced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Annotated, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from agent.ports.workshop import (
    MAX_ALL,
    MAX_CODE,
    MAX_FILE,
    MAX_FILES,
    MAX_NAME,
    MAX_SECONDS,
    Ending,
    Job,
    JobResult,
    WorkFile,
    fit_path,
)

MAX_HEAD: Final = 1024 * 1024
"""Bytes of a head. 200 paths of 200 characters, a program and its output take at most 0.4 MB."""
MAX_PRINTED: Final = 100_000
"""Characters of output that are accepted."""


class BadMessage(Exception):
    """The data on the socket is not a message, or a message that is too large."""


def _fit(path: str) -> str:
    if not fit_path(path):
        raise ValueError("no path below a folder")
    return path


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FileHead(_Model):
    """The path and size in bytes of a file whose content follows."""

    path: Annotated[str, AfterValidator(_fit)]
    size: Annotated[int, Field(ge=0, le=MAX_FILE)]


Files = Annotated[list[FileHead], Field(max_length=MAX_FILES)]


class RunRequest(_Model):
    """The head (the JSON part) of a request to run a job."""

    program: Literal["shell", "python"]
    code: Annotated[str, Field(max_length=MAX_CODE)]
    seconds: Annotated[int, Field(ge=1, le=MAX_SECONDS)]
    files: Files


class Answer(_Model):
    """The head (the JSON part) of an answer: the result of a job, or in `refused` why it was not run ("busy", or "no
    room" if no sandbox can be made any more).
    """

    refused: Literal["", "busy", "no room"] = ""
    ending: Ending = "exit"
    code: Annotated[int, Field(ge=-255, le=255)] = 0
    output: Annotated[str, Field(max_length=MAX_PRINTED)] = ""
    printed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    left_out: Annotated[list[Annotated[str, Field(max_length=MAX_NAME)]], Field(max_length=20)] = []
    seconds: Annotated[float, Field(ge=0, le=10 * MAX_SECONDS)] = 0.0
    files: Files = []


Head = TypeVar("Head", RunRequest, Answer)


def request_of(job: Job) -> RunRequest:
    """Return the head of the request for this job. Raises BadMessage if the job is too large."""
    try:
        return RunRequest(program=job.program, code=job.code, seconds=job.seconds, files=_heads(job.files))
    except ValidationError as error:
        raise BadMessage("the job is larger than the workshop takes") from error


def answer_of(result: JobResult) -> Answer:
    """Return the head of the answer with this result."""
    return Answer(
        ending=result.ending,
        code=result.code,
        output=result.output[:MAX_PRINTED],
        printed=result.printed,
        left_out=list(result.left_out),
        seconds=result.seconds,
        files=_heads(result.files),
    )


def _heads(files: Iterable[WorkFile]) -> list[FileHead]:
    return [FileHead(path=file.path, size=len(file.content)) for file in files]


async def send(writer: asyncio.StreamWriter, head: RunRequest | Answer, files: Iterable[WorkFile]) -> None:
    """Write a message: its head, and the contents of these files. Raises OSError if the other side is gone."""
    data = head.model_dump_json().encode()
    writer.write(len(data).to_bytes(4, "big") + data)
    for file in files:
        writer.write(file.content)
        await writer.drain()
    await writer.drain()


async def receive(reader: asyncio.StreamReader, kind: type[Head]) -> tuple[Head, tuple[WorkFile, ...]]:
    """Read a message with a head of the type `kind`. Returns the head, and the files that follow it. Raises BadMessage,
    also if the message ends too early.
    """
    try:
        length = int.from_bytes(await reader.readexactly(4), "big")
        if length > MAX_HEAD:
            raise BadMessage("the head is too long")
        head = kind.model_validate_json(await reader.readexactly(length))
        if sum(file.size for file in head.files) > MAX_ALL:
            raise BadMessage("the files are too large")
        if len({file.path for file in head.files}) < len(head.files):
            raise BadMessage("two files have one name")
        files = [WorkFile(file.path, await reader.readexactly(file.size)) for file in head.files]
    except (asyncio.IncompleteReadError, OSError) as error:
        raise BadMessage("it ends too early") from error
    except ValidationError as error:
        raise BadMessage(f"{error.error_count()} fields do not fit") from error
    return head, tuple(files)
