"""The way out by a proxy that the operator has set: it looks names up, and nobody else gets its password."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from agent.tools.egress import Egress, FetchFailed, Resolve
from tests.agent.tools.site import NAME, PAGE, Site, hostile_site

PASSWORD = "blue-otter-4711"


@dataclass
class Proxy:
    """A forward proxy that knows one site, and what it was asked."""

    site: Site
    port: int = 0
    asked: list[str] = field(default_factory=list)
    sent_on: list[str] = field(default_factory=list)

    def address(self, password: str = PASSWORD) -> str:
        return f"http://me:{password}@127.0.0.1:{self.port}"

    def egress(self, *, password: str = PASSWORD, resolve: Resolve | None = None) -> Egress:
        return Egress(proxy=self.address(password), resolve=resolve or _only_numbers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target, _ = head.split("\r\n", 1)[0].split(" ")
            self.asked.append(f"{method} {target}")
            writer.write(await self._answer(head, method, target))
            await writer.drain()
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, head: str, method: str, target: str) -> bytes:
        allowed = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
        if f"Proxy-Authorization: Basic {allowed}" not in head:
            return b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
        if method == "CONNECT" or urlsplit(target).hostname != NAME:
            return b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
        path = target.split(f"{NAME}:{self.site.port}", 1)[1]
        lines = [line for line in head.split("\r\n")[1:] if line and not line.lower().startswith("proxy-")]
        self.sent_on += lines
        there, onward = await asyncio.open_connection("127.0.0.1", self.site.port)
        onward.write("\r\n".join([f"GET {path} HTTP/1.1", *lines, "Connection: close", "", ""]).encode())
        answer = await there.read()
        onward.close()
        return answer


async def _only_numbers(host: str, _port: int) -> list[str]:
    """The service's own resolver, which knows no name."""
    if host != "127.0.0.1":
        raise OSError(f"{host} was looked up here and not by the proxy")
    return [host]


@asynccontextmanager
async def small_proxy(site: Site) -> AsyncIterator[Proxy]:
    proxy = Proxy(site)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    async with server:
        yield proxy


@pytest.fixture
async def proxy(real_world: None) -> AsyncIterator[Proxy]:  # noqa: ARG001
    async with hostile_site() as site, small_proxy(site) as made:
        yield made


async def why(egress: Egress, url: str) -> str:
    with pytest.raises(FetchFailed) as failed:
        await egress.fetch(url)
    return str(failed.value)


async def test_the_proxy_looks_the_name_up_and_its_password_stays_with_it(proxy: Proxy) -> None:
    got = await proxy.egress().fetch(proxy.site.url("/page"))
    assert got.body.decode() == PAGE
    assert proxy.asked == [f"GET {proxy.site.url('/page')}"]
    assert PASSWORD not in str(proxy.site.heads)
    assert not any("proxy" in name for head in proxy.site.heads for name in head)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "2130706433", "0x7f.1", "127.1", "0",
        "localhost", "LOCALHOST.", "wiki", "a.localhost", "nas.local", "metadata.google.internal", "router.lan.",
        "127.0.0.1.", "169.254.169.254.", "127.1.", "0177.0.0.1", "①②⑦.0.0.1", "127。0。0。1", "ＬＯＣＡＬＨＯＳＴ",
        "127%2e0.0.1", "0xa9fea9fe", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::7f00:1]", "metadata.goog",
        "10.0.0.1.nip.io", "app-192-168-1-1.sslip.io", "localtest.me", "nas.localdomain", "256.256.256.256",
    ],
)  # fmt: skip
async def test_a_proxy_is_not_asked_for_what_is_no_address_of_the_internet(proxy: Proxy, host: str) -> None:
    """Seen failing without the look before: the proxy was asked for each of them; and for `127.0.0.1.` and nine others
    with a look that knows the form of four decimal numbers and that of `inet_aton`.
    """
    told = await why(proxy.egress(), f"http://{host}:{proxy.site.port}/page")
    assert "not a public address" in told or "no address of a page" in told
    assert proxy.asked == []


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "169.254.169.254.", "0xa9.254.169.254", "[::ffff:a9fe:a9fe]", "metadata.google.internal."],
)
async def test_nor_behind_a_redirect(proxy: Proxy, host: str) -> None:
    told = await why(proxy.egress(), proxy.site.url(f"/to?url=http://{host}/latest"))
    assert "not a public address" in told
    assert len(proxy.asked) == 1


async def test_a_host_that_the_operator_named_is_reached_directly(proxy: Proxy) -> None:
    egress = Egress(named=frozenset({("127.0.0.1", proxy.site.port)}), proxy=proxy.address())
    assert (await egress.fetch(f"http://127.0.0.1:{proxy.site.port}/page")).status == 200
    assert proxy.asked == []


async def test_a_proxy_that_refuses_or_is_away_is_told_without_its_password(
    proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    refused = await why(proxy.egress(), "https://elsewhere.test/page")
    assert refused == "The proxy of this service let nothing through (error 403)."
    assert proxy.asked == ["CONNECT elsewhere.test:443"]
    assert "error 407" in await why(proxy.egress(password="wrong-otter"), proxy.site.url("/page"))
    gone = Egress(proxy=f"http://me:{PASSWORD}@127.0.0.1:9", resolve=_only_numbers)
    with pytest.raises(FetchFailed) as failed:
        await gone.fetch(proxy.site.url("/page"))
    assert str(failed.value) == "The proxy of this service let nothing through."
    assert (failed.value.__cause__, failed.value.__suppress_context__) == (None, True)
    assert PASSWORD not in caplog.text
