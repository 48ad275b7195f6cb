"""Runs blocking calls to one phone through an adb server, in a limited number of threads, with time limits and
cancellation.

adbutils blocks and has no deadline for a whole call. Here, every call owns the sockets that adbutils opens for it.
When time is up or the coroutine is cancelled, they are shut down, so the blocked thread reads an end of file and
returns.
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

from devices.adb.links import error_for, target
from devices.adb.server import ServerAddress
from devices.errors import PhoneGone, PhoneTimeout
from devices.processes import ThreadPool
from devices.wording import words

Answer = TypeVar("Answer")

MAX_THREADS = 32
"""Blocking calls at once in this process. One observation of a phone takes three, so ten phones can be observed
together.
"""

CHUNK = 1 << 20
"""Bytes requested at once: reading a 10 MB frame in 4 KiB pieces takes 18 times as long."""

GATHERED = 2 << 20
"""Bytes to accumulate before the reading thread wakes up, because each wake-up costs time. Linux allows at most half of
tcp_rmem, which is 3 MB.
"""

_threads = ThreadPool(MAX_THREADS, "adb")


class _Socket(adbutils.AdbConnection):  # type: ignore[misc]  # adbutils has no type marker
    """A connection that never starts an adb server itself, because adbutils would start one on the wrong port.

    Unlike adbutils, it closes a socket that was refused.
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
    """One call to a phone: an adbutils client that tracks its sockets, its deadline and its progress.

    `deadline` is in monotonic seconds; `serial` is the phone's name at the adb server (see `serials`).
    """

    def __init__(self, address: ServerAddress, serial: str, deadline: float) -> None:
        super().__init__(address.host, address.port)
        self.serial = serial
        self.target = target(serial)
        """The name of the phone that is passed to adb."""
        self.sent = False
        """Whether the phone may have got the request (the phone's own part began)."""
        self._deadline = deadline
        self.severed = False
        """Whether the sockets were shut down by `sever`, so that an end of file does not come from the phone."""
        self._guard = threading.Lock()
        self._sockets: list[socket.socket] = []

    @property
    def remaining(self) -> float:
        """The seconds left until the deadline. Raises TimeoutError if there are none, or after `sever`."""
        left = self._deadline - time.monotonic()
        if left <= 0 or self.severed:
            raise TimeoutError
        return left

    def make_connection(self, timeout: float | None = None) -> adbutils.AdbConnection:
        """Open a connection to the adb server, owned by this call. The call's deadline applies; `timeout` is
        ignored.
        """
        del timeout
        connection = self.connect()
        with self._guard:
            if self.severed:
                connection.conn.close()
                raise TimeoutError
            self._sockets.append(connection.conn)
        return connection

    def connect(self) -> adbutils.AdbConnection:
        """Return a new connection to the adb server, which this call does not own (see `make_connection`)."""
        return _Socket(self.host, self.port, self.remaining)

    def open(self, service: str, *, acts: bool = True) -> adbutils.AdbConnection:
        """Open a stream to a service of the phone, such as `shell,v2:…`. Raises AdbError if adb or the phone refuses.

        `acts` says whether opening the stream already has an effect on the phone.
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
        """Return the next bytes of a stream; b"" at its end. Raises TimeoutError at the deadline."""
        connection.conn.settimeout(self.remaining)
        received: bytes = connection.conn.recv(CHUNK)
        return received

    def gather(self, connection: adbutils.AdbConnection) -> None:
        """From now on, let reads of this stream wait for many bytes or its end, because a picture arrives in a hundred
        pieces.
        """
        # Windows does not support this option and returns whatever has arrived.
        with contextlib.suppress(OSError):
            connection.conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, GATHERED)

    def receive_into(self, connection: adbutils.AdbConnection, room: memoryview) -> int:
        """Read available bytes into existing memory and return their number; 0 at the end of the stream. Raises
        TimeoutError at the deadline.
        """
        connection.conn.settimeout(self.remaining)
        taken: int = connection.conn.recv_into(room, min(len(room), GATHERED))
        return taken

    def sever(self) -> None:
        """Shut down every socket, so that every blocked read ends now. May be called from any thread."""
        with self._guard:
            self.severed = True
            for each in self._sockets:
                # Unlike closing, shutting down wakes a thread that is already waiting in recv.
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close every socket. Must not be called while another thread uses one (see `sever`)."""
        with self._guard:
            for each in self._sockets:
                each.close()
            self._sockets.clear()


class Connection:
    """The link to one phone: the address of an adb server, and the phone's name there (see `serials`)."""

    def __init__(self, address: ServerAddress, serial: str) -> None:
        self.address = address
        self.serial = serial

    def call(self, deadline: float) -> Call:
        """Return a new call to the phone with this deadline, in seconds of `time.monotonic`."""
        return Call(self.address, self.serial, deadline)

    async def run(self, work: Callable[[Call], Answer], *, timeout: float, doing: str) -> Answer:
        """Run `work` with a new call in a thread, and return its result. `timeout` seconds include the wait for a free
        thread.

        `doing` says in the error message what took too long. Raises PhoneGone, PhoneUnavailable, PhoneTimeout, and
        what `work` raises.
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
    """Run the work in the thread, turning errors of adbutils and the socket into those of this package."""
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
