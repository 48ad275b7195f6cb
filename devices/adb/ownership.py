"""Ensures that only one service uses a phone at a time, with a lock on the phone itself.

The lock belongs to a stream to the phone. So every service sees it, whatever computer, user or adb server it uses, and
it disappears the moment its service ends or the cable is unplugged.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import adbutils

from devices.adb.connection import Call
from devices.adb.shell import Shell
from devices.errors import PhoneError, PhoneTaken
from devices.phone import Health
from devices.wording import words

AGAIN_AFTER: Final = 1
"""Seconds before a taken lock is tried once more. A service that only checks a phone holds its lock for less."""
HOLD: Final = (
    "{ command -v flock >/dev/null || echo none; "
    f"{{ flock -n 9 || {{ sleep {AGAIN_AFTER}; flock -n 9; }}; }} && echo held && read -r _ || echo taken; }} "
    "9>>/data/local/tmp/opengui.lock"
)
"""The shell command that holds the lock until a line arrives or the stream ends. The braces own the descriptor, because
Android's shell passes none opened by `exec` to other programs. Android's `flock` cannot wait with a limit (toybox has
no `-w`).
"""
HELD: Final = b"held\n"
TAKEN: Final = b"taken\n"

_SECONDS: Final = 5.0
"""Seconds that the phone may take to answer; our own choice."""

logger = logging.getLogger(__name__)


class Ownership:
    """The lock of one phone, by which a service excludes others. A phone that does not support locks is used without
    one.
    """

    def __init__(self, shell: Shell, *, shared: bool = True) -> None:
        """Create the lock. `shared` is false for a phone that no other service can reach; no lock is taken then."""
        self._shell = shell
        self._shared = shared
        self._taking = asyncio.Lock()
        self._call: Call | None = None
        self._stream: adbutils.AdbConnection | None = None
        self.condition: tuple[Health, str, str] | None = None
        """Health, reason and fix of the phone if another service had its lock when last tried; None otherwise."""

    def __del__(self) -> None:
        """Release the lock, because nothing can release it later."""
        self._drop()

    @property
    def held(self) -> bool:
        """Whether this service holds the lock."""
        return self._stream is not None

    async def take(self) -> None:
        """Take the lock and keep it; does nothing if it is held already. Raises PhoneTaken."""
        if self._shared:
            async with self._taking:
                await self._take()

    async def between_runs(self, work: Callable[[], Awaitable[bool]] | None = None) -> bool:
        """Take the lock, do the work, release the lock, and return the work's result.

        Does nothing and returns False while a run of this process holds the lock. Without work, only check whether
        another service holds it. Raises PhoneTaken, and what the work raises.
        """
        if not self._shared:
            return work is not None and await work()
        async with self._taking:
            if self.held:
                return False
            await self._take()
            try:
                return work is not None and await work()
            finally:
                await self.release()

    async def _take(self) -> None:
        if self._stream is not None and not _ended(self._stream):
            return
        self._drop()
        connection = self._shell.connection
        call = connection.call(time.monotonic() + _SECONDS)
        asked = asyncio.ensure_future(asyncio.to_thread(_ask, call))
        try:
            stream, answer = await asyncio.shield(asked)
        except (PhoneError, adbutils.AdbError, OSError, EOFError) as silent:
            logger.debug("%s tells nothing of its lock: %s", connection.serial, silent)
            self.condition = None
            return  # the next request will report the problem
        except BaseException:
            call.sever()
            asked.add_done_callback(partial(_close, call))
            raise
        if answer == HELD:
            self._call, self._stream, self.condition = call, stream, None
            return
        call.close()
        if answer == TAKEN:
            self.condition = Health.BUSY_ELSEWHERE, words("phone.taken.reason"), words("phone.taken.fix")
            raise PhoneTaken(words("phone.error.taken", serial=connection.serial), uncertain=False)
        self.condition = None
        logger.info("%s knows no locks: nothing keeps two services from using it at once", connection.serial)

    async def release(self) -> None:
        """Release the lock at once, so that the next service gets it. Safe to call twice."""
        stream = self._stream
        if stream is not None:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(_finish, stream.conn)
        self._drop()

    def _drop(self) -> None:
        call, self._call, self._stream = self._call, None, None
        if call is not None:
            call.close()


def _ask(call: Call) -> tuple[adbutils.AdbConnection, bytes]:
    try:
        stream = call.open(f"exec:{HOLD}")
        answer = b""
        while not answer.endswith(b"\n") and (more := call.receive(stream)):
            answer += more
    except BaseException:
        call.close()
        raise
    return stream, answer[: answer.find(b"\n") + 1]


def _close(call: Call, asked: asyncio.Task[tuple[adbutils.AdbConnection, bytes]]) -> None:
    """End an abandoned call, ignoring what the phone answered."""
    call.close()
    if not asked.cancelled():
        asked.exception()


def _finish(conn: socket.socket) -> None:
    """Release the lock and wait until the phone closes the stream."""
    conn.settimeout(_SECONDS)
    conn.sendall(b"\n")
    while conn.recv(64):
        pass


def _ended(stream: adbutils.AdbConnection) -> bool:
    """Return whether the stream was closed by the phone or on the way. Does not wait."""
    conn: socket.socket = stream.conn
    try:
        conn.setblocking(False)
        return not conn.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
