"""Commands on the phone: its shell with a real exit code, raw output for pictures, several questions at once."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from devices.adb.connection import Call, Connection
from devices.errors import PhoneError, PhoneGone, PhoneTimeout
from devices.wording import words

MOST = 4
"""Pictures that are received at the same time; the others wait in their sockets. More cores than that are rare."""
STEP = 4 * 1024 * 1024
"""By so many bytes a piece grows that is too small."""


class Buffers:
    """Lends out at most `MOST` pieces at a time."""

    def __init__(self) -> None:
        self._turn = threading.BoundedSemaphore(MOST)
        self._idle: list[bytearray] = []

    @contextmanager
    def lent(self, timeout: float) -> Iterator[bytearray]:
        """One piece, of any size, for this thread. Raises TimeoutError when none is free for so many seconds."""
        if not self._turn.acquire(timeout=timeout):
            raise TimeoutError
        piece = self._idle.pop() if self._idle else bytearray(STEP)
        try:
            yield piece
        finally:
            self._idle.append(piece)
            self._turn.release()


def fill(piece: bytearray, first: bytes, receive: Callable[[memoryview], int], most: int) -> int:
    """Writes `first` and then all that `receive` gives (0 at the end) into the piece, which grows; the length.

    It ends as soon as there are more bytes than `most`: the piece is kept, and must not grow for ever.
    """
    length = len(first)
    if length > len(piece):
        piece.extend(bytes(length - len(piece)))
    piece[:length] = first
    while True:
        if length == len(piece):
            piece.extend(bytes(STEP))
        with memoryview(piece) as whole, whole[length:] as room:
            taken = receive(room)
        length += taken
        if not taken or length > most:
            return length


T = TypeVar("T")

DEFAULT_TIMEOUT = 10.0
"""Seconds for a command; `am start` and `ime set` take up to a few on a loaded phone."""

MOST_BYTES = 256 * 1024 * 1024
"""Of one answer: the raw picture of an 8K screen has 133 million. A phone that tells more means harm, or is broken."""

_buffers = Buffers()
_STDOUT, _STDERR, _EXIT = 1, 2, 3
_HEADER = 5
_MARK = "X4EXIT:"
_BEGUN = "Exception occurred while"
"""How Android 10 and later begin; the exception itself is in the next line (AOSP BasicShellCommandHandler)."""
_FAILURE = re.compile(
    r"^\s*(?:cmd: |Failure calling service|Can't find service|No shell command implementation|Exception occurred while"
    r"|Security exception|(?:java|android)\.[\w.]*(?:Exception|Error)\b|[Ee]rror: |Error while |Permission [Dd]enial"
    r"|Invalid (?:command|namespace)|Bad arguments|(?:Killed|Aborted|Segmentation fault|Bad system call)\s*$"
    r"|\S*(?:sh|/\w+): .*(?:not found|ermission denied)\s*$).*$",
    re.MULTILINE,
)
"""What the programs of Android print when they fail. Older ones exit with 0 all the same, and so does a service of
today without commands: AOSP `cmd.cpp`, `Binder.handleShellCommand`, `BasicShellCommandHandler`, `SettingsService`.
"""
_CHARACTER_LIMIT = 0xFFFF
"""A service name is written with four hexadecimal digits of length before it (adb's SERVICES.TXT)."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a command printed, and its exit code. Old phones print both kinds of output to `out`."""

    out: str
    err: str
    code: int

    @property
    def text(self) -> str:
        """Both outputs together."""
        return self.out + self.err

    @property
    def failure(self) -> str:
        """Why the command has failed, in words of the phone; "" when it did what it is for."""
        told = failure_in(self.text)
        if told or not self.code:
            return told
        first = next((line.strip() for line in self.text.splitlines() if line.strip()), "")
        return first[:200] or words("phone.error.exit_code", code=self.code)


def failure_in(text: str) -> str:
    """The line of what a command has printed that tells that it failed, and where there are several, why; "" for an
    answer.
    """
    found = [each[0].strip() for each in _FAILURE.finditer(text)]
    return next((line for line in found if not line.startswith(_BEGUN)), found[0])[:200] if found else ""


class Shell:
    """The shell of one phone."""

    def __init__(self, connection: Connection, *, most: int = MOST_BYTES) -> None:
        """`most` is how many bytes of one answer are taken."""
        self.connection = connection
        self._most = most
        self._features: frozenset[str] | None = None

    async def run(self, line: str, *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command") -> Result:
        """Runs a command line and returns what it printed. An exit code other than 0 is no error here.

        Raises PhoneGone when the link broke before the exit code came: half an answer is never passed on. Raises
        PhoneError for an answer without end.
        """
        _check_length(line)
        if "shell_v2" in await self.features():
            return await self.connection.run(lambda call: _run_v2(call, line, self._most), timeout=timeout, doing=doing)
        return await self.connection.run(lambda call: _run_v1(call, line, self._most), timeout=timeout, doing=doing)

    async def raw(self, line: str, *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command") -> bytes:
        """The bytes that a command prints, without any translation of line ends; no exit code."""
        return await self.read(line, bytes, timeout=timeout, doing=doing)

    async def read(
        self, line: str, read: Callable[[memoryview], T], *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command"
    ) -> T:
        """What `read` makes of the same bytes, without a copy of them.

        `read` runs in a thread and must not keep the bytes: their memory is used again. Raises what it raises.
        """
        _check_length(line)
        return await self.connection.run(lambda call: _raw(call, line, read, self._most), timeout=timeout, doing=doing)

    async def features(self) -> frozenset[str]:
        """What the phone's adb daemon can do, asked once per link."""
        if self._features is None:
            self._features = await self.connection.run(_features, timeout=5.0, doing=words("phone.doing.features"))
        return self._features

    def forget(self) -> None:
        """The link is a new one: ask again what it can do."""
        self._features = None


def _check_length(line: str) -> None:
    if len(line.encode()) > _CHARACTER_LIMIT - 16:
        raise ValueError("the command line is too long for adb")


def _features(call: Call) -> frozenset[str]:
    connection = call.make_connection()
    connection.send_command(f"host-serial:{call.target}:features")
    connection.check_okay()
    return frozenset(str(connection.read_string_block()).split(","))


def _too_much(call: Call) -> PhoneError:
    return PhoneError(words("phone.error.too_much", serial=call.serial), uncertain=True)


def _raw(call: Call, line: str, read: Callable[[memoryview], T], most: int) -> T:
    connection = call.open(f"exec:{line}")
    first = call.receive(connection)  # a phone takes its time before the first byte: no memory is held meanwhile
    call.gather(connection)
    with _buffers.lent(call.remaining) as piece:
        length = fill(piece, first, lambda room: call.receive_into(connection, room), most) if first else 0
        if length > most:
            raise _too_much(call)
        if call.severed:
            raise PhoneTimeout(words("phone.error.no_answer", serial=call.serial))
        with memoryview(piece) as whole, whole[:length] as told:
            return read(told)


def _run_v1(call: Call, line: str, most: int) -> Result:
    connection = call.open(f"shell:{line}; echo {_MARK}$?")
    told = bytearray()
    while piece := call.receive(connection):
        told += piece
        if len(told) > most:
            raise _too_much(call)
    text = told.decode(errors="replace").replace("\r\n", "\n")
    out, mark, code = text.rpartition(_MARK)
    if not mark or not re.fullmatch(r"\s*[0-9]{1,9}\s*", code):
        raise PhoneGone(words("phone.error.link_command", serial=call.serial))
    return Result(out, "", int(code))


def _run_v2(call: Call, line: str, most: int) -> Result:
    """The framed shell: a byte for the stream, four for the length, the data (AOSP `shell_protocol.h`)."""
    connection = call.open(f"shell,v2,raw:{line}")
    streams = {_STDOUT: bytearray(), _STDERR: bytearray()}
    buffer = bytearray()
    while piece := call.receive(connection):
        buffer += piece
        if len(buffer) + sum(map(len, streams.values())) > most:
            raise _too_much(call)
        while len(buffer) >= _HEADER:
            kind, length = buffer[0], int.from_bytes(buffer[1:_HEADER], "little")
            if len(buffer) < _HEADER + length:
                break
            data = bytes(buffer[_HEADER : _HEADER + length])
            del buffer[: _HEADER + length]
            if kind == _EXIT:
                return Result(
                    streams[_STDOUT].decode(errors="replace"),
                    streams[_STDERR].decode(errors="replace"),
                    data[0] if data else 1,
                )
            if kind in streams:
                streams[kind] += data
    if call.severed:
        raise PhoneTimeout(words("phone.error.no_answer", serial=call.serial))
    raise PhoneGone(words("phone.error.link_command", serial=call.serial))


@asynccontextmanager
async def together() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group that raises the first failure itself instead of a group of them; the other tasks are cancelled.

    The border promises a `PhoneError`; when the cable is out, every question fails with the same one.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
