"""Web searches: with the operator's SearXNG, with Tavily (which needs a key), or with DuckDuckGo."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import urlencode

import yarl

from agent.tools.addresses import same
from agent.tools.call_values import in_a_line
from agent.tools.egress import Egress, Endpoint, Fetched, FetchFailed

MAX_FOUND: Final = 8
MAX_TITLE, MAX_TEXT, MAX_ADDRESS = 150, 300, 1000
DDGS_S: Final = 10
PAUSE_S: Final = 60.0
"""Seconds for which no request is sent after DuckDuckGo refused one."""
NO_SEARCH: Final = "Read addresses that the person gave, or search in the browser of the phone."
_BUSY: Final = frozenset({429, 432, 433, 503})
"""Statuses for too many requests; Tavily has two of its own for a used-up plan."""
TAVILY: Final = "https://api.tavily.com/search"


@dataclass(frozen=True, slots=True)
class Found:
    """One page that a web search found. `text` is an excerpt."""

    title: str
    url: str
    text: str


class Search(Protocol):
    """The interface of a web search."""

    async def search(self, query: str) -> tuple[Found, ...]:
        """Return the pages found, best first. Raises FetchFailed."""


def endpoint_of(url: str) -> Endpoint:
    """Return the host and port in an address that the operator configured."""
    parts = yarl.URL(url)
    return (parts.raw_host or "").lower(), parts.port or 0


class SearXng:
    """Searches with a SearXNG instance, whose setting `search.formats` must include JSON."""

    def __init__(self, base: str, egress: Egress) -> None:
        self._base = base.rstrip("/").removesuffix("/search")
        self._egress = egress

    async def search(self, query: str) -> tuple[Found, ...]:
        """Return the pages found, best first. Raises FetchFailed. Implements `Search.search`."""
        asked = urlencode({"q": query, "format": "json"})
        got = await self._egress.fetch(f"{self._base}/search?{asked}")
        if got.status == 403:
            raise FetchFailed("The SearXNG gives no JSON: its setting search.formats lacks it.")
        return _found(got)


class Tavily:
    """Searches with the Tavily service, which needs a key."""

    def __init__(self, key: str, egress: Egress, address: str = TAVILY) -> None:
        self._key = key
        self._egress = egress
        self._address = address

    async def search(self, query: str) -> tuple[Found, ...]:
        """Return the pages found, best first. Raises FetchFailed. Implements `Search.search`."""
        head = {"Authorization": f"Bearer {self._key}"}
        got = await self._egress.fetch(self._address, headers=head, send={"query": query, "max_results": MAX_FOUND})
        if got.status in {401, 403}:
            raise FetchFailed("Tavily does not take the key.")
        return _found(got)


class DuckDuckGo:
    """Searches DuckDuckGo with the scraper package ddgs: one query at a time, and none for a while after a refusal.

    It connects on its own, without `Egress`, because ddgs chooses the host and no model or page can influence it. It
    uses `proxy` if one is configured.
    """

    def __init__(self, ask: Callable[[str], Sequence[Mapping[str, Any]]] | None = None, *, proxy: str = "") -> None:
        self._ask = ask or partial(_ddgs, proxy=proxy)
        self._turn = asyncio.Lock()
        self._not_before = 0.0

    async def search(self, query: str) -> tuple[Found, ...]:
        """Return the pages found, best first. Raises FetchFailed. Implements `Search.search`."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            if (wait := self._not_before - clock()) > 0:
                raise FetchFailed(f"The search refuses for now; it is asked again in {wait:.0f} seconds. {NO_SEARCH}")
            try:
                async with asyncio.timeout(DDGS_S * 2):
                    rows = await asyncio.to_thread(self._ask, query)
            except TimeoutError as error:
                raise FetchFailed(f"The search took too long. {NO_SEARCH}") from error
            except _Refused as error:
                self._not_before = clock() + PAUSE_S
                raise FetchFailed(f"The search refuses, or cannot be reached. {NO_SEARCH}") from error
        return _pages(rows, "href", "body")


class _Refused(Exception):
    """The site returned no results, or did not answer."""


def _ddgs(query: str, *, proxy: str) -> Sequence[Mapping[str, Any]]:
    from ddgs import DDGS  # noqa: PLC0415 - only where it searches
    from ddgs.exceptions import DDGSException  # noqa: PLC0415 - the same

    try:
        found: Sequence[Mapping[str, Any]] = DDGS(proxy=proxy or None, timeout=DDGS_S).text(
            query, max_results=MAX_FOUND, backend="duckduckgo"
        )
    except DDGSException as error:
        if "No results" in str(error):
            return []
        raise _Refused from error
    return found


def _found(got: Fetched) -> tuple[Found, ...]:
    if got.status in _BUSY:
        raise FetchFailed(f"The search refuses for now (error {got.status}): do not ask again soon. {NO_SEARCH}")
    if got.status >= 400:
        raise FetchFailed(f"The search answered with error {got.status}. {NO_SEARCH}")
    try:
        data = json.loads(got.body)
    except (ValueError, RecursionError) as error:
        raise FetchFailed("The search gave an answer that cannot be read.") from error
    rows = data.get("results") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise FetchFailed("The search gave an answer that cannot be read.")
    return _pages((row for row in rows if isinstance(row, dict)), "url", "content")


def _pages(rows: Iterable[Mapping[str, Any]], url: str, text: str) -> tuple[Found, ...]:
    pages = (_one(row.get(url), row.get("title"), row.get(text)) for row in rows)
    return tuple({same(page.url): page for page in pages if page is not None}.values())[:MAX_FOUND]


def _one(url: object, title: object, text: object) -> Found | None:
    if not isinstance(url, str) or len(url) > MAX_ADDRESS or not same(url) or not url.isprintable() or " " in url:
        return None
    return Found(_short(title, MAX_TITLE), url, _short(text, MAX_TEXT))


def _short(value: object, most: int) -> str:
    return in_a_line(value, most) if isinstance(value, str) else ""
