"""Runs commands on a phone, with safely quoted words: returns their output with a real exit code, or raw output such as
pictures.
"""

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

RECEIPT_VARIABLE = "OPENGUI_RECEIPT"
_RECEIPT = re.compile(r"[A-Za-z0-9._-]+")
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,+-]+")


def quote(text: str) -> str:
    """Return one word that a POSIX shell reads back as exactly `text`.

    Plain words stay as they are; everything else is put in single quotes, where no character is special. Raises
    ValueError for a NUL, which no command line can contain.
    """
    if "\0" in text:
        raise ValueError("a command line cannot carry a NUL")
    if _PLAIN.fullmatch(text) and "=" not in text:
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def command(*words: str | int) -> str:
    """Return a command line made of these words, each quoted for the phone's shell."""
    return " ".join(quote(str(word)) for word in words)


def with_receipt(line: str, receipt: str, number: int) -> str:
    """Return the simple command `line` with an environment variable in front that contains a receipt (the input's id)
    and the command's number.

    So the phone's own log of commands can be matched to an entry of the journal; the command itself ignores it. Raises
    ValueError if the receipt has characters other than letters, digits, `.`, `-` and `_`.
    """
    if not _RECEIPT.fullmatch(receipt):
        raise ValueError("a receipt is made of letters, digits, '.', '-' and '_'")
    return f"{RECEIPT_VARIABLE}={receipt}.{number} {line}"


MOST = 4
"""How many pictures are received at the same time; others wait in their sockets. Few machines have more cores."""
STEP = 4 * 1024 * 1024
"""How many bytes a buffer grows by when it is too small."""


class Buffers:
    """A pool of byte buffers that lends out at most `MOST` at a time."""

    def __init__(self) -> None:
        self._turn = threading.BoundedSemaphore(MOST)
        self._idle: list[bytearray] = []

    @contextmanager
    def lent(self, timeout: float) -> Iterator[bytearray]:
        """Context manager that lends a buffer to the calling thread. Raises TimeoutError if none becomes free within
        `timeout` seconds.
        """
        if not self._turn.acquire(timeout=timeout):
            raise TimeoutError
        piece = self._idle.pop() if self._idle else bytearray(STEP)
        try:
            yield piece
        finally:
            self._idle.append(piece)
            self._turn.release()


def fill(piece: bytearray, first: bytes, receive: Callable[[memoryview], int], most: int) -> int:
    """Write `first`, and then everything that `receive` returns (0 at the end), into the buffer, growing it. Returns
    the length.

    It stops as soon as there are more than `most` bytes, because the buffer is reused and must not grow without limit.
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
"""Seconds for a command; `am start` and `ime set` take a few on a busy phone."""

MOST_BYTES = 256 * 1024 * 1024
"""The size limit of one answer: the raw picture of an 8K screen has 133 million bytes. More is an attack or a fault."""

_buffers = Buffers()
_STDOUT, _STDERR, _EXIT = 1, 2, 3
_HEADER = 5
_MARK = "X4EXIT:"
_BEGUN = "Exception occurred while"
"""How exceptions begin on Android 10 and later; the exception is on the next line (AOSP BasicShellCommandHandler)."""
_FAILURE = re.compile(
    r"^\s*(?:cmd: |Failure calling service|Can't find service|No shell command implementation|Exception occurred while"
    r"|Security exception|(?:java|android)\.[\w.]*(?:Exception|Error)\b|[Ee]rror: |Error while |Permission [Dd]enial"
    r"|Invalid (?:command|namespace)|Bad arguments|(?:Killed|Aborted|Segmentation fault|Bad system call)\s*$"
    r"|\S*(?:sh|/\w+): .*(?:not found|ermission denied)\s*$).*$",
    re.MULTILINE,
)
"""What Android's programs print when they fail. Older ones exit with 0 anyway, and so do current services without
commands: AOSP `cmd.cpp`, `Binder.handleShellCommand`, `BasicShellCommandHandler`, `SettingsService`.
"""
_CHARACTER_LIMIT = 0xFFFF
"""A service name is preceded by its length as four hexadecimal digits (adb's SERVICES.TXT)."""


@dataclass(frozen=True, slots=True)
class Result:
    """The output and exit code of a command. Old phones write both output streams to `out`."""

    out: str
    err: str
    code: int

    @property
    def text(self) -> str:
        """Both output streams together."""
        return self.out + self.err

    @property
    def failure(self) -> str:
        """Why the command failed, in the phone's words; "" if it succeeded."""
        told = failure_in(self.text)
        if told or not self.code:
            return told
        first = next((line.strip() for line in self.text.splitlines() if line.strip()), "")
        return first[:200] or words("phone.error.exit_code", code=self.code)


def failure_in(text: str) -> str:
    """Return the line of a command's output that reports a failure; "" if there is none. Of several, the one with the
    reason.
    """
    found = [each[0].strip() for each in _FAILURE.finditer(text)]
    return next((line for line in found if not line.startswith(_BEGUN)), found[0])[:200] if found else ""


class Shell:
    """The shell of one phone, reached through adb."""

    def __init__(self, connection: Connection, *, most: int = MOST_BYTES) -> None:
        """`most` limits the bytes of one answer."""
        self.connection = connection
        self._most = most
        self._features: frozenset[str] | None = None

    async def run(self, line: str, *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command") -> Result:
        """Run a command line on the phone and return its output. A nonzero exit code is not an error here.

        `timeout` is in seconds; `doing` describes the command in error messages. Raises PhoneGone if the link broke
        before the exit code arrived, so that half an answer is never returned; PhoneUnavailable; PhoneTimeout;
        PhoneError if the answer is too long; and ValueError if the command line is.
        """
        _check_length(line)
        run = _run_v2 if "shell_v2" in await self.features() else _run_v1
        return await self.connection.run(lambda call: run(call, line, self._most), timeout=timeout, doing=doing)

    async def raw(self, line: str, *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command") -> bytes:
        """Run a command line and return the bytes that it prints, unchanged and without an exit code. If the link
        breaks, they may end early.
        """
        return await self.read(line, bytes, timeout=timeout, doing=doing)

    async def read(
        self, line: str, read: Callable[[memoryview], T], *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command"
    ) -> T:
        """Run a command line, apply `read` to its raw output without copying it, and return the result.

        `read` runs in a thread and must not keep the bytes, because their memory is reused. Raises what `read` raises.
        """
        _check_length(line)
        return await self.connection.run(lambda call: _raw(call, line, read, self._most), timeout=timeout, doing=doing)

    async def features(self) -> frozenset[str]:
        """Return the features of the phone's adb daemon. They are asked once per link."""
        if self._features is None:
            self._features = await self.connection.run(_features, timeout=5.0, doing=words("phone.doing.features"))
        return self._features

    def forget(self) -> None:
        """Drop the cached features, because the link is a new one."""
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
    """Run a command with the framed protocol: one byte for the stream, four for the length, the data
    (`shell_protocol.h`).
    """
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
                out, err = (stream.decode(errors="replace") for stream in streams.values())
                return Result(out, err, data[0] if data else 1)
            if kind in streams:
                streams[kind] += data
    if call.severed:
        raise PhoneTimeout(words("phone.error.no_answer", serial=call.serial))
    raise PhoneGone(words("phone.error.link_command", serial=call.serial))


@asynccontextmanager
async def together() -> AsyncIterator[asyncio.TaskGroup]:
    """Context manager: a task group that raises the first failure itself rather than an exception group; the other
    tasks are cancelled.

    Callers expect a `PhoneError`, and when the cable is unplugged, every request fails with the same one.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
