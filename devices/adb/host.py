"""Requests to an adb server itself: tracking which phones there are, and pairing, connecting and finding phones on the
network.

They are short texts or a long wait, so they run on the event loop and not in threads. Protocol: adb's OVERVIEW.TXT and
SERVICES.TXT (four hexadecimal digits of length, then the text; OKAY or FAIL before an answer).

Under Wireless debugging, Android shows an address for pairing and a code of six digits; the address to connect to is
another one. With a QR code, the phone reads a name and password and announces itself under that name. Codes are passed
to the adb server over its socket, so they appear in no process list. Protocol: `host:pair:CODE:ADDRESS`,
`host:connect:ADDRESS` and `host:mdns:services` (adb's SERVICES.TXT and `adb_wifi_pair_device`).
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Final, Literal

from devices.adb.connection import Connection
from devices.adb.links import error_for, parse_long, parse_states, target, told_apart
from devices.adb.server import ServerAddress, ensure_running
from devices.errors import PairingFailed, PhoneGone, PhoneTimeout
from devices.wording import words

ASK_TIMEOUT = 5.0
CONNECT_TIMEOUT = 15.0
"""Seconds for `host:connect`, which itself waits up to 10 s for a silent address."""


async def ask(address: ServerAddress, service: str, *, timeout: float = ASK_TIMEOUT) -> str:
    """Send one request to the adb server and return the text of its answer. The text of a refusal (FAIL) is returned
    likewise.

    Raises PhoneGone if the server is away, and PhoneTimeout.
    """
    try:
        async with asyncio.timeout(timeout), _open(address, service) as (reader, _):
            await reader.readexactly(4)
            return await _text(reader)
    except TimeoutError as late:
        raise PhoneTimeout(words("phone.error.server_silent", address=address), uncertain=False) from late
    except (OSError, EOFError, ValueError) as broken:
        raise PhoneGone(words("phone.error.server_away", address=address), uncertain=False) from broken


async def connect(address: ServerAddress, serial: str) -> bool:
    """Connect the server to a phone on the network (`host:port`), and return whether it reports success.

    A phone whose link was lost remains listed as offline, and the server would answer "already connected", so it is
    disconnected first. Whether the phone then works is reported by `track`. Raises PhoneGone, PhoneTimeout.
    """
    states = parse_states(await ask(address, "host:devices"))
    if states.get(serial) == "offline":
        await ask(address, f"host:disconnect:{serial}")
    if states.get(serial) == "device":
        return True
    answer = await ask(address, f"host:connect:{serial}", timeout=CONNECT_TIMEOUT)
    return answer.startswith(("connected to", "already connected"))


async def track(address: ServerAddress) -> AsyncGenerator[dict[str, str]]:
    """Yield the states of all phones by name (see `serials`), now and after every change. Raises PhoneGone when the
    server ends or does not answer, and PhoneTimeout if it does not answer a question about equal serials.
    """
    try:
        async with _open(address, "host:track-devices") as (reader, _):
            async with asyncio.timeout(ASK_TIMEOUT):
                if await reader.readexactly(4) != b"OKAY":
                    raise PhoneGone(words("phone.error.server_mute", address=address), uncertain=False)
            while True:
                yield await _named(address, await _text(reader))
    except (OSError, EOFError, ValueError) as broken:
        raise PhoneGone(words("phone.error.server_away", address=address), uncertain=False) from broken


async def states(address: ServerAddress) -> dict[str, str]:
    """Return the current states of all phones by name (see `serials`). Raises PhoneGone, PhoneTimeout."""
    return await _named(address, await ask(address, "host:devices"))


async def _named(address: ServerAddress, listed: str) -> dict[str, str]:
    """Parse the list of phones, asking for more details if serials alone do not distinguish them."""
    return parse_states(listed) if told_apart(listed) else parse_long(await ask(address, "host:devices-l"))


@contextlib.asynccontextmanager
async def _open(
    address: ServerAddress, service: str
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with asyncio.timeout(ASK_TIMEOUT):
        reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        writer.write(_request(service))
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def opened(connection: Connection, service: str) -> AsyncIterator[asyncio.StreamReader]:
    """Context manager: open a service of a phone, such as `exec:…`, and yield a reader of its output until the block
    ends.

    Raises PhoneError if adb or the phone refuses, and OSError or EOFError if the link breaks.
    """
    async with _open(connection.address, f"host:transport:{target(connection.serial)}") as (reader, writer):
        async with asyncio.timeout(ASK_TIMEOUT):
            await _accepted(reader, connection.serial)
            writer.write(_request(service))
            await _accepted(reader, connection.serial)
        yield reader


async def _accepted(reader: asyncio.StreamReader, serial: str) -> None:
    if await reader.readexactly(4) != b"OKAY":
        raise error_for(await _text(reader), serial)


def _request(service: str) -> bytes:
    return f"{len(service.encode()):04x}{service}".encode()


async def _text(reader: asyncio.StreamReader) -> str:
    length = await reader.readexactly(4)
    if length == b"FAIL":
        # `host:pair` is accepted first and then reports that it failed.
        length = await reader.readexactly(4)
    return (await reader.readexactly(int(length, 16))).decode(errors="replace")


PAIR_TIMEOUT: Final = 30.0
"""Seconds for pairing; adb itself waits about ten for a silent phone."""
_ADDRESS: Final = re.compile(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.%a-z]{2,60}\]):(?P<port>[0-9]{1,5})")
_CODE: Final = re.compile(r"[0-9]{6}")
_KINDS: Final[dict[str, Literal["pairing", "connect"]]] = {
    "_adb-tls-pairing._tcp": "pairing",
    "_adb-tls-connect._tcp": "connect",
}


@dataclass(frozen=True, slots=True)
class Announced:
    """A phone that announces on the network (mDNS) that it can be paired or, once paired, connected at this address."""

    name: str
    kind: Literal["pairing", "connect"]
    address: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """The content of a QR code for pairing: the name that the phone must announce, and the password."""

    name: str
    password: str = field(repr=False)

    @classmethod
    def new(cls) -> Invitation:
        """Create a new invitation with 80 random bits."""
        return cls(f"opengui-{secrets.token_hex(4)}", secrets.token_hex(10))

    @property
    def text(self) -> str:
        """The text of the QR code, in the form of Android's Wireless debugging."""
        return f"WIFI:T:ADB;S:{self.name};P:{self.password};;"


class WifiPhones:
    """Pairs and connects phones through one adb server. All methods raise PhoneGone or PhoneTimeout if the server is
    away, and PhoneGone or PhoneUnavailable if a local one cannot be started.
    """

    def __init__(self, server: ServerAddress) -> None:
        self._server = server

    async def pair(self, address: str, code: str) -> None:
        """Pair with the phone that shows this address (host:port) and code of six digits. Raises PairingFailed."""
        _check(address)
        if not _CODE.fullmatch(code):
            raise PairingFailed(words("phone.error.pair_code"))
        await self._pair(address, code)

    async def pair_invited(self, invitation: Invitation) -> str:
        """Pair with the phone that has read the invitation's QR code, and return its address; "" if none has. Raises
        PairingFailed.
        """
        for one in await self.announced():
            if one.kind == "pairing" and one.name == invitation.name:
                await self._pair(one.address, invitation.password)
                return one.address
        return ""

    async def connect(self, address: str) -> None:
        """Connect to a paired phone at this address (host:port); it is then attached like any other. Raises
        PairingFailed.
        """
        _check(address)
        await ensure_running(self._server)
        if not await connect(self._server, address):
            raise PairingFailed(words("phone.error.pair_unconnected", address=address))

    async def announced(self) -> tuple[Announced, ...]:
        """Return the phones that announce themselves now; none if the server cannot listen for them."""
        await ensure_running(self._server)
        found = []
        for line in (await ask(self._server, "host:mdns:services", timeout=CONNECT_TIMEOUT)).splitlines():
            name, _, rest = line.partition("\t")
            kind, _, address = rest.partition("\t")
            if (known := _KINDS.get(kind.rstrip("."))) is not None and _ADDRESS.fullmatch(address.strip()):
                found.append(Announced(name, known, address.strip()))
        return tuple(found)

    async def _pair(self, address: str, secret: str) -> None:
        await ensure_running(self._server)
        answer = await ask(self._server, f"host:pair:{secret}:{address}", timeout=PAIR_TIMEOUT)
        if not answer.startswith("Successfully paired"):
            raise PairingFailed(words("phone.error.pair_refused", address=address))


def _check(address: str) -> None:
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise PairingFailed(words("phone.error.pair_address"))
