"""Uses virtual phones in this process without an adb server: the adb driver works directly on their shells.

All of the driver above the wire is used, and the phone's journal looks as if adb were there. Left out are adb's
server, its sockets and its protocol; uiautomator2's server cannot be reached. All waiting uses the event loop's clock,
so that time can be simulated too; only files go through a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import adbutils

from devices.adb.connection import Call, Connection
from devices.adb.driver import AdbPhone
from devices.adb.identity import identify
from devices.adb.links import ATTACHED, error_for, health_of
from devices.adb.server import ServerAddress
from devices.adb.shell import DEFAULT_TIMEOUT, Result, Shell
from devices.errors import NameTaken, PhoneError, PhoneGone, PhoneTimeout, PhoneUnavailable
from devices.names import fit_name
from devices.phone import Health, Phone, PhoneInfo
from devices.virtual_phone.adbd import FEATURES, MAX_PAYLOAD, Command, LinkState, Message, News, Stream
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.services import EXIT_ID, PACKET, find_service
from devices.virtual_phone.shell.interpreter import ERR, OUT
from devices.wording import sentence_of, words

RETRY = 1.0
"""Seconds after which an awaited phone that does not answer is asked again, as in the pool."""
NOWHERE = ServerAddress("in this process", 0)
_STATES = {
    LinkState.OPEN: ATTACHED,
    LinkState.UNAUTHORIZED: "unauthorized",
    LinkState.OFFLINE: "offline",
    LinkState.GONE: "",
}
_REFUSALS = {
    LinkState.UNAUTHORIZED: "device unauthorized",
    LinkState.OFFLINE: "device offline",
    LinkState.GONE: "device not found",
}
_TRANSPORT_ID = bytes(8)

T = TypeVar("T")


class DirectConnection(Connection):
    """The link to a virtual phone in this process, without an adb server."""

    def __init__(self, phone: VirtualPhone) -> None:
        super().__init__(NOWHERE, phone.address)
        self.phone = phone

    def call(self, deadline: float) -> Call:
        """Return a call whose sockets lead to the phone itself; see `Connection.call`. Must be called in the event
        loop's thread.
        """
        return _DirectCall(self.phone, deadline)

    async def ask(self, service: str, *, timeout: float, doing: str) -> bytes:
        """Return all output of a service such as `exec:…`. Raises PhoneGone, PhoneUnavailable, PhoneTimeout."""
        phone, serial = self.phone, self.serial
        if phone.link is not LinkState.OPEN:
            raise error_for(_REFUSALS[phone.link], serial)
        host = _Host()
        try:
            async with asyncio.timeout(timeout), _served(phone, service, host) as served:
                if served is None:
                    raise error_for("closed", serial)
                before = phone.link_news.number
                cut = asyncio.create_task(phone.link_news.wait())
                try:
                    await asyncio.wait({served, cut}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    cut.cancel()
                if phone.link_news.number != before:
                    raise PhoneGone(words("phone.error.link", serial=serial), uncertain=True)
                await served
        except TimeoutError as late:
            raise PhoneTimeout(words("phone.error.too_slow", serial=serial, doing=doing), uncertain=True) from late
        return bytes(host.told)


class DirectShell(Shell):
    """The shell of a virtual phone in this process."""

    def __init__(self, connection: DirectConnection) -> None:
        super().__init__(connection)
        self._direct = connection

    async def run(self, line: str, *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command") -> Result:
        """Run a command line on the phone and return its output. See `Shell.run`."""
        told = await self._direct.ask(f"shell,v2,raw:{line}", timeout=timeout, doing=doing)
        streams, code, start = {OUT: bytearray(), ERR: bytearray()}, 0, 0
        while start < len(told):
            kind, length = PACKET.unpack_from(told, start)
            start += PACKET.size + length
            data = told[start - length : start]
            if kind == EXIT_ID:
                code = data[0]
            else:
                streams[kind] += data
        return Result(streams[OUT].decode(errors="replace"), streams[ERR].decode(errors="replace"), code)

    async def raw(self, line: str, *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command") -> bytes:
        """Run a command line and return the bytes that it prints, unchanged and without an exit code. See
        `Shell.raw`.
        """
        return await self._direct.ask(f"exec:{line}", timeout=timeout, doing=doing)

    async def read(
        self, line: str, read: Callable[[memoryview], T], *, timeout: float = DEFAULT_TIMEOUT, doing: str = "a command"
    ) -> T:
        """Run a command line, apply `read` to its raw output without copying it, and return the result. See
        `Shell.read`.
        """
        return await asyncio.to_thread(read, memoryview(await self.raw(line, timeout=timeout, doing=doing)))

    async def features(self) -> frozenset[str]:
        """Return the features of the phone's adb daemon. See `Shell.features`."""
        return frozenset(FEATURES)


class DirectPhones:
    """The phones of running virtual phones in this process. Implements `devices.provider.DeviceProvider`."""

    def __init__(self, phones: Sequence[VirtualPhone]) -> None:
        self._virtual = tuple(phones)
        self._phones: dict[str, AdbPhone] = {}
        self._behind: dict[str, VirtualPhone] = {}
        self._followers: list[asyncio.Task[None]] = []
        self._change = News()
        self._list_others: Callable[[], Sequence[PhoneInfo]] = tuple
        self.away = 0
        """There is no server."""

    async def start(self, others: Callable[[], Sequence[PhoneInfo]] = tuple) -> None:
        """Ask every phone for its identity, and follow its connection from now on. Raises PhoneError when one does not
        answer.
        """
        self._list_others = others
        for virtual in self._virtual:
            connection = DirectConnection(virtual)
            shell = DirectShell(connection)
            identity = await identify(shell)
            info = PhoneInfo(identity.android_id, connection.serial, virtual.name, Health.OFFLINE, virtual=True)
            clock = asyncio.get_running_loop().time
            phone = AdbPhone(connection, info, {}, shell=shell, clock=clock)
            phone.update_identity(identity)
            self._phones[info.id], self._behind[info.id] = phone, virtual
            self._followers.append(asyncio.create_task(self._follow(phone, virtual), name=f"link of {virtual.name}"))

    async def stop(self) -> None:
        """Stop what `start` began."""
        for follower in self._followers:
            follower.cancel()
        await asyncio.gather(*self._followers, return_exceptions=True)
        for phone in self._phones.values():
            await phone.close()

    def list(self) -> tuple[PhoneInfo, ...]:
        """Return every known phone, from memory, in a stable order. See `Phones.list`."""
        return tuple(phone.info for phone in self._phones.values())

    def get(self, phone_id: str) -> Phone:
        """Return the phone with this stable id. See `Phones.get`."""
        phone = self._known(phone_id)
        if self._behind[phone_id].link is LinkState.OPEN:
            return phone
        info = phone.info
        why = words("phone.error.named", name=info.name, why=self._why_away(info))
        if info.health is Health.UNAUTHORIZED:
            raise PhoneUnavailable(why, uncertain=False)
        raise PhoneGone(why, uncertain=False)

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        """Check every phone with an open link again, within a time limit, and return the new list. See
        `Phones.refresh`.
        """
        for phone_id, phone in self._phones.items():
            if self._behind[phone_id].link is LinkState.OPEN:
                await self._ask(phone)
        return self.list()

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        """Implements `Phones.rename`. The name is forgotten with this object."""
        phone, given = self._known(phone_id), fit_name(name)
        others = [*(info for info in self.list() if info.id != phone_id), *self._list_others()]
        if any(given.casefold() in {each.name.casefold(), each.id, each.serial} for each in others):
            raise NameTaken(f"Another phone is called {given} already.")
        phone.set_info(dataclasses.replace(phone.info, name=given))
        self._change.tell()
        return phone.info

    async def wait_for_change(self) -> None:
        """Wait until any phone appears, disappears or changes its health. See `Phones.wait_for_change`."""
        await self._change.wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        """Wait until the phone answers, and return it. See `Phones.wait_for`."""
        phone = self._known(phone_id)
        try:
            async with asyncio.timeout(timeout):
                while self._behind[phone_id].link is not LinkState.OPEN or not await self._ask(phone):
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(RETRY):
                            await self._change.wait()
                return phone
        except TimeoutError:
            info = phone.info
            late = words("phone.error.not_back", name=info.name, seconds=f"{timeout:.0f}", why=self._why_away(info))
            raise PhoneGone(late, uncertain=False) from None

    def _known(self, phone_id: str) -> AdbPhone:
        try:
            return self._phones[phone_id]
        except KeyError:
            raise PhoneGone(words("phone.error.unknown", id=phone_id), uncertain=False) from None

    async def _follow(self, phone: AdbPhone, virtual: VirtualPhone) -> None:
        while True:
            await virtual.link_news.wait()
            if virtual.link is LinkState.OPEN:
                await self._ask(phone)
            else:
                health, reason, fix = health_of(_STATES[virtual.link], phone.info.serial)
                phone.set_info(dataclasses.replace(phone.info, health=health, reason=reason, fix=fix))
            self._change.tell()

    async def _ask(self, phone: AdbPhone) -> bool:
        """Refresh a phone's information, and return whether it answers and can be used."""
        try:
            return (await phone.refresh()).health.usable
        except PhoneError as failed:
            health, _, fix = health_of("offline", phone.info.serial)
            phone.set_info(dataclasses.replace(phone.info, health=health, reason=sentence_of(failed), fix=fix))
            return False

    def _why_away(self, info: PhoneInfo) -> str:
        if info.health.usable:
            return words("phone.away.reason")
        return words("phone.error.state", reason=info.reason, fix=info.fix)


class _Host:
    """The host's end of a stream, which accepts everything that the phone's service writes."""

    def __init__(self, taken: Callable[[bytes], None] | None = None) -> None:
        self.max_payload = MAX_PAYLOAD
        self.told = bytearray()
        self.stream = Stream(self, 1, 1)
        self._taken = taken or self.told.extend

    async def send(self, message: Message) -> None:
        """A message of the service; see `Link`."""
        if message.command is Command.WRTE:
            self._taken(bytes(message.payload))
            self.stream.acknowledged()


@asynccontextmanager
async def _served(phone: VirtualPhone, name: str, host: _Host) -> AsyncIterator[asyncio.Task[None] | None]:
    """Context manager that runs a service of the phone and yields its task; None when there is no such service."""
    service = find_service(phone, name)
    if service is None:
        yield None
        return
    task: asyncio.Task[None] = asyncio.ensure_future(service(host.stream))
    try:
        yield task
    finally:
        host.stream.ended()
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # the caller has got the error, or no longer waits


class _Pair(adbutils.AdbConnection):  # type: ignore[misc]  # adbutils has no type marker
    """One end of a pair of sockets."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        super().__init__(NOWHERE.host, NOWHERE.port)

    def _safe_connect(self) -> socket.socket:
        return self._end


class _DirectCall(Call):
    """A call whose sockets are answered in this process, as an adb server would."""

    def __init__(self, phone: VirtualPhone, deadline: float) -> None:
        super().__init__(NOWHERE, phone.address, deadline)
        self._phone = phone
        self._loop = asyncio.get_running_loop()

    def connect(self) -> adbutils.AdbConnection:
        """Return a new connection, on which the phone itself answers as an adb server would. This call does not own
        it. See `Call.connect`.
        """
        near, far = socket.socketpair()
        near.settimeout(self.remaining)
        asyncio.run_coroutine_threadsafe(_answer(self._phone, far), self._loop)
        return _Pair(near)


async def _answer(phone: VirtualPhone, end: socket.socket) -> None:
    """Open one service of the phone for the other end of the socket, until either side or the connection ends it."""
    reader, writer = await asyncio.open_connection(sock=end)
    try:
        await _requested(reader)  # the transport: there is but one
        if phone.link is not LinkState.OPEN:
            writer.write(_refusal(_REFUSALS[phone.link]))
            return
        writer.write(b"OKAY" + _TRANSPORT_ID)
        host = _Host(writer.write)
        name = await _requested(reader)
        async with _served(phone, name, host) as served:
            if served is None:
                writer.write(_refusal("closed"))
                return
            writer.write(b"OKAY")
            passing = asyncio.create_task(_pass_on(reader, host.stream))
            cut = asyncio.create_task(phone.link_news.wait())
            await asyncio.wait({served, passing, cut}, return_when=asyncio.FIRST_COMPLETED)
            passing.cancel()
            cut.cancel()
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()


async def _requested(reader: asyncio.StreamReader) -> str:
    return (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()


def _refusal(why: str) -> bytes:
    return f"FAIL{len(why):04x}{why}".encode()


async def _pass_on(reader: asyncio.StreamReader, stream: Stream) -> None:
    while data := await reader.read(MAX_PAYLOAD):
        await stream.received(data)
