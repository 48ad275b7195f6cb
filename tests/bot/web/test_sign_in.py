"""From elsewhere only with the password. Each refusal was seen failing with its guard taken out."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import Morsel
from pathlib import Path

import aiohttp
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from yarl import URL

from bot.domain.outgoing import Message
from bot.domain.right import Right
from bot.people.access import Policy
from bot.people.rights import Rights
from bot.people.tokens import DAY_S
from bot.web.chat import HOME, OPERATOR
from bot.web.exposure import ConsoleHostRefused, Exposure
from bot.web.http import get
from bot.web.passwords import Password
from bot.web.sign_in import WRONG_ALLOWED
from tests.bot.web.world import World, open_world
from tests.fixtures.databases import open_store

PASSWORD = "correct horse battery"
ORIGIN = "https://phones.example.org"
HOST = "phones.example.org"
QUICK = Password(10, 8, 1, b"s" * 16, b"", b"")


def quick(password: str) -> Password:
    """A hash that takes no time, which only a test should have."""
    key = hashlib.scrypt(password.encode(), salt=QUICK.salt, n=1 << QUICK.cost, r=QUICK.block, p=QUICK.lanes, dklen=32)
    return Password(QUICK.cost, QUICK.block, QUICK.lanes, QUICK.salt, key, password.encode())


async def told(_: Request) -> Response:
    return PlainTextResponse("numbers")


@pytest.fixture
async def opened(real_world: None, tmp_path: Path) -> AsyncIterator[World]:  # noqa: ARG001
    """A console behind a proxy with https, which here is a caller who names the proxy's host."""
    door = Exposure("127.0.0.1", URL(ORIGIN), quick(PASSWORD))
    async with open_world(tmp_path, door=door, beside=[get("/metrics", told, None)]) as world:
        yield world


@asynccontextmanager
async def elsewhere(world: World, **more: str) -> AsyncIterator[aiohttp.ClientSession]:
    """A browser that came through the proxy, without a jar: what it sends is said in each request."""
    headers = {"Host": HOST, "X-Forwarded-For": "203.0.113.7", **more}
    async with aiohttp.ClientSession(world.url, headers=headers, cookie_jar=aiohttp.DummyCookieJar()) as caller:
        yield caller


Answer = tuple[int, Morsel[str] | None]


async def sign_in(caller: aiohttp.ClientSession, password: str = PASSWORD, **headers: str) -> Answer:
    said = {"Origin": ORIGIN, **headers}
    async with caller.post("/api/sign-in", json={"password": password}, headers=said) as response:
        return response.status, next(iter(response.cookies.values()), None)


async def session_of(world: World) -> str:
    """The cookie of somebody who is signed in."""
    async with elsewhere(world) as caller:
        status, cookie = await sign_in(caller)
        assert status == 200
        assert cookie is not None
        return f"{cookie.key}={cookie.value}"


async def test_the_password_begins_a_session_that_scripts_and_other_pages_cannot_have(opened: World) -> None:
    async with elsewhere(opened) as caller:
        async with caller.get("/api/state") as response:
            assert (response.status, (await response.json())["details"]["sign_in"]) == (401, True)
        status, cookie = await sign_in(caller)
        assert status == 200
        assert cookie is not None
        assert cookie.key.startswith("__Host-")
        assert (cookie["httponly"], cookie["secure"], cookie["samesite"], cookie["path"], cookie["domain"]) == (
            True,
            True,
            "strict",
            "/",
            "",
        )
        async with caller.get("/api/state", headers={"Cookie": f"{cookie.key}={cookie.value}"}) as response:
            assert (response.status, (await response.json())["signed_in"]) == (200, True)
        assert PASSWORD not in repr(opened.console)


async def test_a_cookie_over_http_on_this_machine_is_not_bound_to_https(opened: World) -> None:
    said = {"Origin": opened.url}
    async with aiohttp.ClientSession(opened.url) as caller:
        status, cookie = await sign_in(caller, **said)
        assert status == 200
        assert cookie is not None
        assert not cookie["secure"]


@pytest.mark.parametrize("password", ["wrong", PASSWORD + "x", PASSWORD[:-1], "ü" * 400, "pass\0word"])
async def test_a_wrong_password_is_refused(opened: World, password: str) -> None:
    async with elsewhere(opened) as caller:
        assert await sign_in(caller, password) == (401, None)


@pytest.mark.parametrize("cookie", ["", "x", "x" * 5000])
async def test_a_made_up_session_is_refused(opened: World, cookie: str) -> None:
    name = (await session_of(opened)).partition("=")[0]
    async with elsewhere(opened, Cookie=f"{name}={cookie}") as caller, caller.get("/api/state") as response:
        assert response.status == 401


async def test_after_a_few_wrong_ones_even_the_right_one_waits(opened: World) -> None:
    async with elsewhere(opened) as caller:
        for _ in range(WRONG_ALLOWED):
            assert (await sign_in(caller, "wrong"))[0] == 401
        async with caller.post("/api/sign-in", json={"password": PASSWORD}, headers={"Origin": ORIGIN}) as response:
            assert response.status == 429
            assert int(response.headers["Retry-After"]) > 800
            assert "15 min" in (await response.json())["message"]
        # Others are not locked out, and a proxy's word about them is believed.
        assert (await sign_in(caller, **{"X-Forwarded-For": "198.51.100.9"}))[0] == 200
        # What the caller itself writes in front of the proxy's word is not.
        assert (await sign_in(caller, **{"X-Forwarded-For": "198.51.100.1, 203.0.113.7"}))[0] == 429


async def test_tries_at_the_same_time_count_too(opened: World) -> None:
    async with elsewhere(opened) as caller:
        statuses = [status for status, _ in await asyncio.gather(*(sign_in(caller, "wrong") for _ in range(12)))]
    assert statuses.count(401) == WRONG_ALLOWED
    assert statuses.count(429) == 12 - WRONG_ALLOWED


@pytest.mark.parametrize(
    "origin", ["http://phones.example.org", "https://evil.example", "null", "https://phones.example.org:444", ""]
)
async def test_another_page_cannot_use_a_session(opened: World, origin: str) -> None:
    cookie = await session_of(opened)
    said = {"text": "do harm", "event": "event-0001"}
    async with (
        elsewhere(opened, Cookie=cookie, Origin=origin) as caller,
        caller.post("/api/console/messages", json=said) as response,
    ):
        assert response.status == 403
    assert not opened.intake.messages


async def test_a_session_does_nothing_without_naming_its_page(opened: World) -> None:
    cookie = await session_of(opened)
    async with elsewhere(opened, Cookie=cookie) as caller:
        async with caller.post("/api/console/messages", json={"text": "do harm", "event": "event-0001"}) as response:
            assert response.status == 403
        async with caller.post(
            "/api/console/messages", json={"text": "help", "event": "event-0002"}, headers={"Origin": ORIGIN}
        ) as response:
            assert response.status == 200


@pytest.mark.parametrize("host", ["evil.example", "phones.example.org:8765", "phones.example.org.evil", "127.0.0.1"])
async def test_another_name_is_refused(opened: World, host: str) -> None:
    cookie = await session_of(opened)
    async with elsewhere(opened, Cookie=cookie, Host=host) as caller:
        for path in ("/", "/api/state", "/page/app.js"):
            async with caller.get(path) as response:
                assert response.status == 403


async def test_a_proxy_that_gives_its_callers_this_machines_name_is_refused(opened: World) -> None:
    """They would be neighbours: numbers without a token, and a cookie for whoever has the start token."""
    async with elsewhere(opened, Host=URL(opened.url).authority) as caller:
        for path in ("/", "/metrics", f"/?token={opened.token}"):
            async with caller.get(path, allow_redirects=False) as response:
                assert response.status == 403


PASSED_ON = [
    ("X-Real-IP", "203.0.113.7"),
    ("Via", "1.1 squid"),
    ("Forwarded", "for=203.0.113.7"),
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Server", "proxy"),
    ("CF-Connecting-IP", "203.0.113.7"),
    ("CF-Ray", "1"),
    ("True-Client-IP", "203.0.113.7"),
    ("X-Client-IP", "203.0.113.7"),
    ("X-Cluster-Client-IP", "203.0.113.7"),
    ("X-Original-Forwarded-For", "203.0.113.7"),
    ("Fastly-Client-IP", "203.0.113.7"),
]


@pytest.mark.parametrize("header", PASSED_ON, ids=[name for name, _ in PASSED_ON])
async def test_whatever_a_proxy_adds_its_callers_are_no_neighbours(opened: World, header: tuple[str, str]) -> None:
    """Under this machine's own name, with one header. Seen failing before (200 and 303) for all but `Forwarded`."""
    async with aiohttp.ClientSession(opened.url, headers=[header]) as caller:
        for path in ("/", "/metrics", f"/?token={opened.token}"):
            async with caller.get(path, allow_redirects=False) as response:
                assert response.status == 403
                assert not response.cookies


@pytest.mark.parametrize("through", [{"Host": HOST}, {"X-Forwarded-For": "203.0.113.7"}, {"Via": "1.1 squid"}])
async def test_the_start_token_opens_nothing_through_a_proxy(opened: World, through: dict[str, str]) -> None:
    """Seen failing before (200): the token was looked at, and not where it came from."""
    token = {"Authorization": f"Bearer {opened.token}"}
    async with aiohttp.ClientSession(opened.url, headers=token) as caller:
        async with caller.get("/api/state", headers=through) as response:
            assert response.status in {401, 403}
        async with caller.get("/api/state") as response:
            assert response.status == 200


async def test_the_start_token_is_for_this_machine_and_numbers_too(opened: World) -> None:
    async with elsewhere(opened) as caller:
        async with caller.get(f"/?token={opened.token}", allow_redirects=False) as response:
            assert not response.cookies
        async with aiohttp.ClientSession() as here, here.get(opened.entry, allow_redirects=False) as response:
            cookies = [f"{name}={cookie.value}" for name, cookie in response.cookies.items()]
        assert len(cookies) == 1
        async with caller.get("/api/state", headers={"Cookie": cookies[0]}) as response:
            assert response.status == 401
        async with caller.get("/metrics") as response:
            assert response.status == 403
    async with aiohttp.ClientSession(opened.url) as neighbour, neighbour.get("/metrics") as response:
        assert await response.text() == "numbers"


async def test_signing_out_ends_the_session_and_its_streams(opened: World) -> None:
    cookie = await session_of(opened)
    async with elsewhere(opened, Cookie=cookie, Origin=ORIGIN) as caller, asyncio.timeout(20):
        async with caller.get("/api/events") as stream:
            await stream.content.readuntil(b"event: state")
            async with caller.post("/api/sign-out", json={}) as response:
                assert response.status == 200
                assert next(iter(response.cookies.values())).value == ""
            await opened.chat.send(HOME, Message(body="not for you any more"), nonce="1")
            assert b"not for you" not in await stream.content.read()
        async with caller.get("/api/state") as response:
            assert response.status == 401


async def test_without_a_password_there_is_nothing_to_sign_in_to(world: World) -> None:
    async with aiohttp.ClientSession(world.url) as caller:
        async with caller.post("/api/sign-in", json={"password": "x"}) as response:
            assert response.status == 404
        async with caller.get("/api/state") as response:
            assert (await response.json())["details"]["sign_in"] is False


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", ""])
def test_an_open_host_without_a_password_is_refused(host: str) -> None:
    with pytest.raises(ConsoleHostRefused, match=r"CONSOLE_PASSWORD.*opengui password"):
        Exposure.of(host, ORIGIN if host == "0.0.0.0" else "")


async def test_a_sign_in_is_offered_while_somebody_can_sign_in(opened: World, tmp_path: Path) -> None:
    """Seen failing for the expired token: the form was there, and nobody's token was right."""
    now, directory = time.time(), tmp_path / "rights"
    directory.mkdir()
    store = await open_store(directory)
    rights = await Rights.open(Policy(), store)
    console = opened.another(Exposure("127.0.0.1"), rights=rights)
    url = await console.start()
    try:
        async with aiohttp.ClientSession(str(URL(url).origin()), cookie_jar=aiohttp.DummyCookieJar()) as caller:

            async def offered() -> bool:
                async with caller.get("/api/state") as response:
                    assert response.status == 401
                    return bool((await response.json())["details"]["sign_in"])

            assert not await offered()
            _, secret = await rights.add_token("anna", {Right.USE}, OPERATOR, days=1)
            assert await offered()
            rights.tokens._clock = lambda: now + 2 * DAY_S
            assert not await offered()
            async with caller.post("/api/sign-in", json={"password": secret}) as response:
                assert response.status == 404
            await rights.add_token("ben", {Right.USE}, OPERATOR, days=1)
            assert await offered()
    finally:
        await console.stop()
        await store.close()
