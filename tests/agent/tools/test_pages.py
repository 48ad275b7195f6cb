"""What a page says: its words alone, in its own charset, and what to do with what is no page."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agent.tools.egress import Egress, Fetched, FetchFailed
from agent.tools.pages import decoded, read_page
from agent.tools.searching import SearXng, Tavily, endpoint_of
from tests.agent.tools.site import NAME, Site, hostile_site


@pytest.fixture
async def site(real_world: None) -> AsyncIterator[Site]:  # noqa: ARG001
    async with hostile_site() as site:
        yield site


@pytest.mark.parametrize("path", ["/page", "/gzip", "/no-such-charset"])
async def test_the_words_of_a_page(site: Site, path: str) -> None:
    page = await read_page(site.url(path), site.egress())
    assert page.title == "Prices of pumps"
    assert "The pump A costs 120 euros" in page.text
    assert "var a" not in page.text
    assert "Home About" not in page.text


async def test_a_page_that_says_the_wrong_charset(site: Site) -> None:
    assert "安静" in (await read_page(site.url("/gb"), site.egress())).text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/pdf", "PDF cannot be read"),
        ("/pdf-as-page", "PDF cannot be read"),
        ("/picture", "no page with text"),
        ("/scripts", "made by its scripts"),
        ("/nowhere", "error 404"),
    ],
)
async def test_what_is_no_page(site: Site, path: str, told: str) -> None:
    with pytest.raises(FetchFailed, match=told):
        await read_page(site.url(path), site.egress())


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("é".encode(), "latin-1"),
        ("é".encode("utf-16"), ""),
        ("é".encode("latin-1"), "latin-1"),
        (b"\xef\xbb\xbf" + "é".encode(), "ascii"),
    ],
)
def test_charsets(body: bytes, charset: str) -> None:
    assert decoded(Fetched("", 200, "text/html", charset, body)) == "é"


def test_broken_signs_do_not_fail() -> None:
    assert decoded(Fetched("", 200, "text/html", "", b"a\xff")) == "a\ufffd"


async def test_searxng(site: Site) -> None:
    found = await SearXng(site.url("/"), site.egress()).search("pumps & prices")
    assert [page.url for page in found] == [site.url("/page"), site.url("/gzip")]
    assert len(found[0].text) == 300
    assert site.asked == ["/search?q=pumps+%26+prices&format=json"]


async def test_tavily(site: Site) -> None:
    found = await Tavily("key-1", site.egress(), site.url("/search")).search("pumps")
    assert len(found) == 2
    assert site.heads[0]["authorization"] == "Bearer key-1"
    assert site.sent[0]["query"] == "pumps"


async def test_a_search_that_does_not_work(site: Site) -> None:
    with pytest.raises(FetchFailed, match="cannot be read"):
        await SearXng(site.url("/to?url=/page#"), site.egress()).search("pumps")
    with pytest.raises(FetchFailed, match="error 404"):
        await SearXng(site.url("/elsewhere"), site.egress()).search("pumps")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/status/429", "refuses for now .* do not ask again soon. Read addresses"),
        ("/status/503", "refuses for now"),
        ("/status/403", "does not take the key"),
        ("/status/500", "error 500. Read addresses"),
    ],
)
async def test_a_search_that_refuses(site: Site, path: str, told: str) -> None:
    with pytest.raises(FetchFailed, match=told):
        await Tavily("key-1", site.egress(), site.url(path)).search("pumps")
    assert len(site.asked) == 1


async def test_a_searxng_without_json(site: Site) -> None:
    with pytest.raises(FetchFailed, match="gives no JSON"):
        await SearXng(site.url("/status/403"), site.egress()).search("pumps")


async def test_no_network_at_all() -> None:
    """Each is a sentence at once, with what can be done instead."""

    async def nothing(_host: str, _port: int) -> list[str]:
        raise OSError("Network is unreachable")

    away = Egress(resolve=nothing)
    with pytest.raises(FetchFailed, match="No connection came about"):
        await read_page("https://pumps.example/", away)
    with pytest.raises(FetchFailed, match="No connection came about"):
        await Tavily("key-1", away).search("pumps")


def test_the_endpoint_that_an_operator_named() -> None:
    assert endpoint_of(f"http://{NAME.upper()}:8080/search") == (NAME, 8080)
    assert endpoint_of("https://search.example") == ("search.example", 443)
