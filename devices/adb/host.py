"""Requests to an adb server itself: connecting phones on the network, and tracking which phones there are.

They are short texts or a long wait, so they run on the event loop and not in threads. Protocol: adb's OVERVIEW.TXT and
SERVICES.TXT (four hexadecimal digits of length, then the text; OKAY or FAIL before an answer).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

from devices.adb.connection import Connection
from devices.adb.link_state import error_for
from devices.adb.serials import parse_long, parse_states, target, told_apart
from devices.adb.server import ServerAddress
from devices.errors import PhoneGone, PhoneTimeout
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
