"""Calls to one phone through an adb server: blocking, in bounded threads, with a time limit, and cancellable.

adbutils blocks and knows no deadline for a whole call. Here every call owns the sockets that adbutils opens for it:
when the time is up or the coroutine is cancelled they are shut down, the blocked thread gets an end of file, and ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import adbutils
from adbutils.errors import AdbConnectionError, AdbTimeout

from devices.adb.link_state import error_for
from devices.adb.serials import target
from devices.adb.server import ServerAddress
from devices.errors import PhoneGone, PhoneTimeout
from devices.threads import ThreadPool
from devices.wording import words

Answer = TypeVar("Answer")

MAX_THREADS = 32
"""Blocking calls at once in this process. A look at a phone takes three, so ten phones can be looked at together."""

CHUNK = 1 << 20
"""Bytes asked for at once: reading a 10 MB frame in 4 KiB pieces takes 18 times as long."""

GATHERED = 2 << 20
"""Bytes that are waited for before the thread that reads a picture is woken, and then read at once: each time costs.
Linux takes at most half of tcp_rmem, which is 3 MB."""

_threads = ThreadPool(MAX_THREADS, "adb")


class _Socket(adbutils.AdbConnection):  # type: ignore[misc]  # adbutils has no type marker
    """A connection that never starts an adb server by itself: adbutils would start one on the wrong port.

    It also leaves a socket open when it is refused.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self._there = (host, port, timeout)
        super().__init__(host, port)

    def _safe_connect(self) -> socket.socket:
        host, port, timeout = self._there
        try:
            return socket.create_connection((host, port), timeout)
        except TimeoutError:
            raise
        except OSError as refused:
            raise AdbConnectionError("the adb server refused the connection") from refused


class Call(adbutils.AdbClient):  # type: ignore[misc]  # adbutils has no type marker
    """One call in the making: an adbutils client that remembers its sockets, its deadline and how far it got."""

    def __init__(self, address: ServerAddress, serial: str, deadline: float) -> None:
        super().__init__(address.host, address.port)
        self.serial = serial
        self.target = target(serial)
        """What adb is told for it."""
        self.sent = False
        """Whether the phone may have got the request (the phone's own part began)."""
        self._deadline = deadline
        self._severed = False
        self._guard = threading.Lock()
        self._sockets: list[socket.socket] = []

    @property
    def remaining(self) -> float:
        """Seconds left; raises TimeoutError when there are none."""
        left = self._deadline - time.monotonic()
        if left <= 0 or self._severed:
            raise TimeoutError
        return left

    @property
    def severed(self) -> bool:
        """Whether the sockets were shut down: an end of file is then not the phone's."""
        return self._severed

    def make_connection(self, timeout: float | None = None) -> adbutils.AdbConnection:
        """A new connection to the adb server, owned by this call. The deadline is the call's, not `timeout`."""
        del timeout
        connection = self.connect()
        with self._guard:
            if self._severed:
                connection.conn.close()
                raise TimeoutError
            self._sockets.append(connection.conn)
        return connection

    def connect(self) -> adbutils.AdbConnection:
        """A socket to the adb server."""
        return _Socket(self.host, self.port, self.remaining)

    def open(self, service: str, *, acts: bool = True) -> adbutils.AdbConnection:
        """A stream to a service of the phone, such as `shell,v2:…`; raises AdbError when adb or the phone refuses.

        `acts` says whether opening it does something on the phone already.
        """
        connection = self.make_connection()
        connection.send_command(f"host:tport:serial:{self.target}")
        connection.check_okay()
        connection.read_exact(8)
        self.sent = acts
        connection.conn.settimeout(self.remaining)
        connection.conn.sendall(f"{len(service.encode()):04x}{service}".encode())
        connection.check_okay()
        return connection

    def receive(self, connection: adbutils.AdbConnection) -> bytes:
        """The next bytes of a stream, empty at its end. Raises TimeoutError at the deadline."""
        connection.conn.settimeout(self.remaining)
        received: bytes = connection.conn.recv(CHUNK)
        return received

    def gather(self, connection: adbutils.AdbConnection) -> None:
        """From now on a stream waits until there are many bytes, or its end: a picture comes in a hundred pieces."""
        # Windows knows no such wish, and gives what there is.
        with contextlib.suppress(OSError):
            connection.conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, GATHERED)

    def receive_into(self, connection: adbutils.AdbConnection, room: memoryview) -> int:
        """Read what has come into memory that is there. Returns how many bytes that were, 0 at the end."""
        connection.conn.settimeout(self.remaining)
        taken: int = connection.conn.recv_into(room, min(len(room), GATHERED))
        return taken

    def sever(self) -> None:
        """Shut every socket down, from any thread: whoever reads from one gets an end of file now."""
        with self._guard:
            self._severed = True
            for each in self._sockets:
                # Shutting down, unlike closing, wakes a thread that is already waiting in recv.
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close every socket, from the thread of the call."""
        with self._guard:
            for each in self._sockets:
                each.close()
            self._sockets.clear()


class Connection:
    """The way to one phone: an adb server and the name of the phone there, see `serials`."""

    def __init__(self, address: ServerAddress, serial: str) -> None:
        self.address = address
        self.serial = serial

    def call(self, deadline: float) -> Call:
        """A new call, which ends at `deadline` (monotonic seconds)."""
        return Call(self.address, self.serial, deadline)

    async def run(self, work: Callable[[Call], Answer], *, timeout: float, doing: str) -> Answer:
        """`work` in a thread, at most `timeout` seconds, waiting for a free thread included.

        `doing` says in the error what took too long. Raises PhoneGone, PhoneUnavailable, PhoneTimeout.
        """
        call = self.call(time.monotonic() + timeout)
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.get_running_loop().run_in_executor(_threads, _guarded, work, call)
        except TimeoutError as late:
            raise PhoneTimeout(
                words("phone.error.too_slow", serial=self.serial, doing=doing), uncertain=call.sent
            ) from late
        finally:
            call.sever()


def _guarded(work: Callable[[Call], Answer], call: Call) -> Answer:
    """Runs in the thread: the work, with adbutils' and the socket's failures in the words of this package."""
    try:
        return work(call)
    except (TimeoutError, AdbTimeout) as late:
        raise PhoneTimeout(words("phone.error.no_answer", serial=call.serial), uncertain=call.sent) from late
    except AdbConnectionError as refused:
        raise PhoneGone(
            words("phone.error.server_away", address=f"{call.host}:{call.port}"), uncertain=call.sent
        ) from refused
    except adbutils.AdbError as refusal:
        error = error_for(str(refusal), call.serial)
        error.uncertain = call.sent
        raise error from refusal
    except (OSError, EOFError) as broken:
        raise PhoneGone(words("phone.error.link", serial=call.serial), uncertain=call.sent) from broken
    finally:
        call.close()
