"""How many connections there may be, and how long a request may take to arrive; on real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
import pytest
from yarl import URL

from bot.web.connections import Connections
from bot.web.exposure import Exposure
from bot.web.http import HEADERS
from tests.bot.web.test_sign_in import PASSWORD, quick
from tests.bot.web.world import World

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Opened = Callable[[Connections], AbstractAsyncContextManager[URL]]
SIGN_IN = (
    "POST /api/sign-in HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
)


@pytest.fixture
def opened(world: World) -> Opened:
    """Opens another console with these connections, and a password."""

    @asynccontextmanager
    async def open_console(connections: Connections) -> AsyncIterator[URL]:
        door = Exposure("127.0.0.1", None, quick(PASSWORD))
        console = world.another(door, connections=connections)
        try:
            async with asyncio.timeout(30):
                yield URL(await console.start())
        finally:
            await console.stop()

    return open_console


async def connected(address: URL, said: str = "") -> Stream:
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(said.format(host=address.authority, length=100).encode())
    await writer.drain()
    return reader, writer


async def is_answered(stream: Stream, address: URL) -> bool:
    """Whether a request is still answered on this connection."""
    reader, writer = stream
    writer.write(f"GET / HTTP/1.1\r\nHost: {address.authority}\r\n\r\n".encode())
    try:
        return (await reader.readline()).startswith(b"HTTP/1.1 200")
    except ConnectionResetError:
        return False


async def dripped(stream: Stream) -> bytes:
    """What is answered to somebody who sends a byte now and then, for ever; "" where the link is cut."""
    reader, writer = stream
    answer = asyncio.ensure_future(reader.read())
    try:
        while not answer.done():
            writer.write(b"x")
            await asyncio.wait({answer}, timeout=0.02)
    finally:
        writer.close()
    try:
        return await answer
    except ConnectionResetError:
        return b""


async def test_a_head_that_does_not_come_to_its_end_is_let_go(opened: Opened) -> None:
    """Seen failing before: a byte now and then kept it for ever."""
    async with opened(Connections(arrives_within=0.3)) as address:
        stream = await connected(address, "GET / HTTP/1.1\r\nHost: ")
        assert await dripped(stream) == b""


@pytest.mark.parametrize("token", [False, True], ids=["sign-in", "with the token"])
async def test_a_body_that_does_not_come_is_let_go(opened: Opened, token: bool) -> None:
    """Seen failing before: sign-in and all that takes a body waited for it for ever."""
    async with opened(Connections(arrives_within=0.3)) as address:
        said = SIGN_IN
        if token:
            bearer = f"Authorization: Bearer {address.query['token']}"
            said = SIGN_IN.replace("sign-in", "console/messages").replace(
                "\r\nContent-Type", f"\r\n{bearer}\r\nContent-Type"
            )
        reader, writer = await connected(address, said)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert head.startswith("HTTP/1.1 408")
        assert all(f"{name.lower()}: {value}\r\n" in head for name, value in HEADERS.items())
        assert await reader.readexactly(20)
        writer.close()


async def test_what_takes_long_to_be_answered_is_not_cut_off(opened: Opened) -> None:
    async with opened(Connections(arrives_within=0.4)) as address:
        headers = {"Authorization": f"Bearer {address.query['token']}"}
        async with aiohttp.ClientSession(address.origin(), headers=headers) as caller:
            async with caller.get("/api/events") as stream:
                await stream.content.readuntil(b"event: state")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.8):
                        await stream.content.read()
            async with caller.post("/api/sign-out", json={}) as response:
                assert response.status == 200


async def test_where_there_is_no_room_the_one_goes_that_was_idle_for_longest(opened: Opened) -> None:
    """Seen failing before: there was always room, until the service had no files left."""
    async with opened(Connections(most=4)) as address:
        first, second, third, body = [
            await connected(address, said) for said in ("", "GET / HTTP/1.1\r\n", "", SIGN_IN)
        ]
        assert await is_answered(first, address)
        fifth = await connected(address)
        assert await is_answered(fifth, address)
        assert await second[0].read() == b""
        sixth = await connected(address)
        assert await is_answered(sixth, address)
        assert await third[0].read() == b""
        seventh = await connected(address)
        assert await is_answered(seventh, address)
        assert await body[0].read() == b""
        assert not any(one[0].at_eof() for one in (first, fifth, sixth, seventh))
        for one in (first, second, third, body, fifth, sixth, seventh):
            one[1].close()


async def test_what_is_at_work_stays_and_no_more_are_taken_meanwhile(opened: Opened) -> None:
    async with opened(Connections(most=2)) as address:
        headers = {"Authorization": f"Bearer {address.query['token']}"}
        async with aiohttp.ClientSession(address.origin(), headers=headers) as caller:
            async with caller.get("/api/events") as one, caller.get("/api/events") as two:
                await one.content.readuntil(b"event: state")
                await two.content.readuntil(b"event: state")
                reader, writer = await connected(address)
                assert await reader.read() == b""
                writer.close()
                assert not one.content.at_eof()
            answered = False
            while not answered:  # once the console has heard that they are gone
                stream = await connected(address)
                answered = await is_answered(stream, address)
                stream[1].close()


HEAD = "POST / HTTP/1.1\r\nHost: {host}\r\n"
TWICE = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    "pieces",
    [
        (HEAD + TWICE,),
        (HEAD + "transfer-encoding: chunked\r\nX: y\r\nCONTENT-LENGTH: 0\r\n\r\n0\r\n\r\n",),
        (HEAD + "X-A: b\r\n c\r\n\r\n",),
        (HEAD + "X-A: b\r\n", "\tTransfer-Encoding: chunked\r\n\r\n"),
        (HEAD.replace("\r", "") + "X-A: b\n c\n\n",),
        ("\r\n\r\n" + HEAD + TWICE,),
    ],
    ids=["both lengths", "both, the other way round", "folded", "folded, in pieces", "bare line feeds", "blank lines"],
)
async def test_a_head_that_can_be_read_in_two_ways_is_refused(opened: Opened, pieces: tuple[str, ...]) -> None:
    """Seen failing: each was served, and a proxy that reads it otherwise takes the rest for another request."""
    async with opened(Connections()) as address:
        reader, writer = await connected(address, pieces[0])
        for piece in pieces[1:]:
            writer.write(piece.encode())
        answer = await reader.read()
        writer.close()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.count(b"HTTP/1.1") == 1
        assert b"not accepted" in answer


async def test_the_next_head_of_a_connection_is_looked_at_too_and_no_body_is(opened: Opened) -> None:
    """Seen failing as above, behind a request whose body looks like such a head."""
    async with opened(Connections()) as address:
        body = '{\n "content-length:": 1,\n "transfer-encoding:": 2\n}'
        first = SIGN_IN.format(host=address.authority, length=len(body)) + body
        reader, writer = await connected(address)
        writer.write((first + (HEAD + TWICE).format(host=address.authority)).encode())
        answer = await reader.read()
        writer.close()
        assert answer.count(b"HTTP/1.1 ") == 2
        first_answer, _, second_answer = answer[1:].partition(b"HTTP/1.1 ")
        assert b"password" in first_answer, "what stands in a body is none of its business"
        assert second_answer.startswith(b"400 ")
        assert b"not accepted" in second_answer
