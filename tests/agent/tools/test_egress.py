"""The way out to the web: what it refuses, at the first address and behind every redirect, and its limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_address

import pytest

from agent.guards.web_address import is_public
from agent.tools.egress import Egress, FetchFailed
from tests.agent.tools.site import PAGE, Site, hostile_site, to_here


@pytest.fixture
async def site(real_world: None) -> AsyncIterator[Site]:  # noqa: ARG001
    async with hostile_site() as site:
        yield site


async def why(egress: Egress, url: str) -> str:
    with pytest.raises(FetchFailed) as failed:
        await egress.fetch(url)
    return str(failed.value)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "240.0.0.1", "192.0.2.1", "::", "::1", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "2001::1", "2001:db8::1", "fec0::1", "fe80::1%eth0",
    ],
)  # fmt: skip
def test_addresses_that_are_not_of_the_internet(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_addresses_of_the_internet(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("path", ["/page", "/gzip", "/deflate", "/raw-deflate"])
async def test_a_page_comes_as_it_is(site: Site, path: str) -> None:
    got = await site.egress().fetch(site.url(path))
    assert (got.status, got.media, got.body.decode()) == (200, "text/html", PAGE)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "other.test", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "0"],
)
async def test_nothing_of_the_own_network_is_connected_to(site: Site, host: str) -> None:
    """Seen failing without the look at the socket's address: this machine was connected to by three of them."""
    egress = Egress(resolve=to_here)
    assert await why(egress, f"http://{host}:{site.port}/page")
    assert site.asked == []


@pytest.mark.parametrize("to", ["http://127.0.0.1:{port}/page", "http://other.test:{port}/page", "//[::1]:{port}/"])
async def test_nothing_of_the_own_network_behind_a_redirect(site: Site, to: str) -> None:
    """Seen failing without the guard: a page could have the service ask its own network."""
    told = await why(site.egress(), site.url(f"/to?url={to.format(port=site.port)}"))
    assert "not a public address" in told
    assert len(site.asked) == 1


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://site.test/", "javascript:alert(1)", "data:text/html,x"])
async def test_only_web_addresses_are_followed(site: Site, to: str) -> None:
    assert "Only addresses of http and https" in await why(site.egress(), site.url(f"/to?url={to}"))


async def test_a_name_that_changes_its_address_between_a_look_and_the_connection(site: Site) -> None:
    """It is asked once, and what it said is looked at where the connection is made: there is no time between."""
    answers = iter([["127.0.0.1"]])

    async def changing(_host: str, _port: int) -> Sequence[str]:
        return next(answers)

    assert (await site.egress(resolve=changing).fetch(site.url("/page"))).status == 200
    assert next(answers, None) is None


@pytest.mark.parametrize("answers", [["::ffff:127.0.0.1", "127.0.0.1"], ["127.0.0.1", "::1", "10.0.0.1"], ["site"], []])
async def test_a_name_with_several_addresses(site: Site, answers: list[str]) -> None:
    async def several(_host: str, _port: int) -> Sequence[str]:
        return answers

    assert await why(Egress(resolve=several), f"http://many.test:{site.port}/page")
    assert site.asked == []


async def test_a_named_host_is_exact(site: Site) -> None:
    egress = Egress(named=frozenset({("site.test", site.port + 1)}), resolve=to_here)
    assert "not a public address" in await why(egress, site.url("/page"))
    assert site.asked == []


async def test_no_name_or_password_in_an_address(site: Site) -> None:
    assert "name or password" in await why(site.egress(), f"http://me:secret@site.test:{site.port}/page")


async def test_no_cookie_and_no_proxy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    got = await site.egress().fetch(site.url("/cookie"))
    assert got.url == site.url("/page")
    assert [head.get("cookie") for head in site.heads] == [None, None]


async def test_a_round_without_an_end(site: Site) -> None:
    assert "without an end" in await why(site.egress(), site.url("/round"))
    assert len(site.asked) == 6


@pytest.mark.parametrize("path", ["/endless", "/bomb"])
async def test_no_more_than_the_limit(site: Site, path: str) -> None:
    assert "larger than 4 MB" in await why(site.egress(), site.url(path))


async def test_a_site_that_promises_a_gigabyte_or_says_nothing_is_given_up(site: Site) -> None:
    for path in ("/huge", "/silent"):
        assert await why(site.egress(seconds=0.3), site.url(path))


@pytest.mark.parametrize(("path", "told"), [("/br", "packed in a way"), ("/broken", "could not be fetched")])
async def test_bodies_that_cannot_be_unpacked(site: Site, path: str, told: str) -> None:
    assert told in await why(site.egress(), site.url(path))


async def test_a_name_that_there_is_not(site: Site) -> None:
    assert await why(site.egress(), "https://nowhere.example/") == "No connection came about."


async def test_who_sends_a_key_is_not_redirected(site: Site) -> None:
    with pytest.raises(FetchFailed, match="another address"):
        await site.egress().fetch(site.url("/to?url=/page"), headers={"Authorization": "Bearer k"})
    assert len(site.asked) == 1


async def test_it_can_be_cancelled(site: Site) -> None:
    work = asyncio.create_task(site.egress().fetch(site.url("/silent")))
    async with asyncio.timeout(10):
        while not site.asked:
            await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
