"""One service at a time works on a phone: while it does, it holds a lock on the phone itself.

The lock belongs to a stream to the phone. So it is known to every service, whatever computer or user it runs as and
whichever adb server it goes through, and it is gone the moment its service or the cable is, however that ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from typing import Final

import adbutils

from devices.adb.connection import Call
from devices.adb.shell import Shell
from devices.errors import PhoneError, PhoneTaken
from devices.wording import words

HOLD: Final = (
    "{ command -v flock >/dev/null || echo none; flock -n 9 && echo held && read -r _ || echo taken; } "
    "9>>/data/local/tmp/opengui.lock"
)
"""Holds the lock until a line comes or the stream ends. The descriptor belongs to the braces: Android's shell hands one
that `exec` has opened to no other program.
"""
HELD: Final = b"held\n"
TAKEN: Final = b"taken\n"

_SECONDS: Final = 5.0
"""How long the phone may take to answer; ours."""

logger = logging.getLogger(__name__)


class Ownership:
    """The lock of one phone. A phone that knows no locks is used without."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._call: Call | None = None
        self._stream: adbutils.AdbConnection | None = None

    def __del__(self) -> None:
        """Nobody holds it any more who could give it back."""
        self._drop()

    @property
    def held(self) -> bool:
        """Whether this service holds the lock."""
        return self._stream is not None

    async def take(self) -> None:
        """Hold the lock from now on; nothing changes when it is held. Raises PhoneTaken."""
        if self._stream is not None and not _ended(self._stream):
            return
        self._drop()
        connection = self._shell.connection
        call = connection.call(time.monotonic() + _SECONDS)
        try:
            stream, answer = await asyncio.to_thread(_ask, call)
        except (PhoneError, adbutils.AdbError, OSError, EOFError) as silent:
            logger.debug("%s tells nothing of its lock: %s", connection.serial, silent)
            return  # whatever is asked of it next tells what is wrong
        except BaseException:
            call.sever()
            raise
        if answer == HELD:
            self._call, self._stream = call, stream
            return
        call.close()
        if answer == TAKEN:
            raise PhoneTaken(words("phone.error.taken", serial=connection.serial), uncertain=False)
        logger.info("%s knows no locks: nothing keeps two services from using it at once", connection.serial)

    async def release(self) -> None:
        """Give it back, so that whoever asks next gets it. Safe to call twice."""
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


def _finish(conn: socket.socket) -> None:
    """The phone closes the stream when the lock is free."""
    conn.settimeout(_SECONDS)
    conn.sendall(b"\n")
    while conn.recv(64):
        pass


def _ended(stream: adbutils.AdbConnection) -> bool:
    """Whether the phone, or what is between, has closed the stream. Nothing is waited for."""
    conn: socket.socket = stream.conn
    try:
        conn.setblocking(False)
        return not conn.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
