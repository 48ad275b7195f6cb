"""The one way out to the web: pages of public addresses, and hosts that the operator named.

An address is checked where the connection is made, for the very number that is connected to: no name can point to one
address when it is looked at and to another when it is used. Where the operator has set a proxy, it is the proxy that
looks names up and connects; what is no name of the internet is not even asked of it.
"""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult
from multidict import CIMultiDictProxy

from agent.guards.web_address import is_public, is_public_host, read_host

if TYPE_CHECKING:
    from aiohappyeyeballs import AddrInfoType

MAX_SECONDS: Final = 15.0
"""For all of it: looking up, connecting, every redirect and the body."""
MAX_BYTES: Final = 4_000_000
"""Of a body as it is sent, and as it is after it was unpacked."""
MAX_REDIRECTS: Final = 5
_CHUNK: Final = 64 * 1024
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_HEAD: Final = {
    "User-Agent": "Mozilla/5.0 (compatible; opengui-bot)",
    "Accept-Encoding": "gzip, deflate",
    "Accept": "text/html,*/*;q=0.8",
}
NOT_PUBLIC: Final = "It is not a public address of the internet."
PROXY_REFUSED: Final = "The proxy of this service let nothing through"

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, for a port. Raises OSError."""
Endpoint = tuple[str, int]


class FetchFailed(Exception):
    """Nothing was fetched; the sentence says why, for the model. It has no words of the page."""


class _Closed(OSError):
    """An address that is not part of the public internet."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address has given: where it was in the end, its status and type, and its body, unpacked."""

    url: str
    status: int
    media: str
    charset: str
    body: bytes


def _for_a_proxy(host: str) -> bool:
    """Whether a proxy may be asked for this host: a name of the internet, or a number that is public, however it is
    written: who looks it up may read it as a browser does.
    """
    try:
        return is_public_host(read_host(f"[{host}]" if ":" in host else host))
    except ValueError:
        return False


async def resolve_here(host: str, port: int) -> Sequence[str]:
    """What this machine's resolver says."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for _family, _kind, _protocol, _name, address in found]


class Egress:
    """Fetches over http and https: no cookies, no proxies of the environment, bounded in time and size.

    `named` are the exact hosts and ports that the operator has set, which may stand in the operator's own network; they
    are reached directly. All else goes by `proxy`, an address with or without name and password, unless it is "".
    """

    def __init__(
        self,
        *,
        named: frozenset[Endpoint] = frozenset(),
        proxy: str = "",
        resolve: Resolve = resolve_here,
        seconds: float = MAX_SECONDS,
        most_bytes: int = MAX_BYTES,
    ) -> None:
        self._named = named
        self._proxy = proxy
        self._resolve = resolve
        self._seconds = seconds
        self._most_bytes = most_bytes

    async def fetch(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        send: Mapping[str, Any] | bytes | None = None,
        reads: bool = True,
    ) -> Fetched:
        """What stands there; with `send` it is posted as JSON, bytes as they are. `headers` go to the first address
        alone, and who sends something is not redirected. Unless it `reads`, the body is left, whatever it is. Raises
        FetchFailed.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(_parsed(url), headers or {}, send, reads)
        except TimeoutError as error:
            raise FetchFailed(f"It took longer than {self._seconds:g} seconds.") from error

    async def _follow(
        self, url: yarl.URL, headers: Mapping[str, str], send: Mapping[str, Any] | bytes | None, reads: bool
    ) -> Fetched:
        for _ in range(MAX_REDIRECTS + 1):
            got = await self._once(url, headers, send, reads)
            if isinstance(got, Fetched):
                return got
            if send is not None or headers:
                raise FetchFailed("It leads to another address, which is not followed here.")
            url = got
        raise FetchFailed("It leads from one address to the next without an end.")

    async def _once(
        self, url: yarl.URL, headers: Mapping[str, str], send: Mapping[str, Any] | bytes | None, reads: bool
    ) -> Fetched | yarl.URL:
        """One request: what came, or the address that it leads to."""
        host, port = url.raw_host or "", url.port or 0
        own = (host.lower(), port) in self._named
        proxy = None if own or not self._proxy else self._proxy
        if proxy is not None and not _for_a_proxy(host):
            raise FetchFailed(NOT_PUBLIC)
        connector = aiohttp.TCPConnector(
            resolver=_Once(self._resolve),
            use_dns_cache=False,
            force_close=True,
            socket_factory=_guarded(own=own or proxy is not None),
        )
        sent = {**_HEAD, **headers}
        try:
            async with (
                aiohttp.ClientSession(
                    connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, trust_env=False
                ) as session,
                session.request(
                    "GET" if send is None else "POST",
                    url,
                    headers=sent,
                    json=None if isinstance(send, bytes) else send,
                    data=send if isinstance(send, bytes) else None,
                    allow_redirects=False,
                    proxy=proxy,
                ) as response,
            ):
                if proxy is not None and response.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
                    raise FetchFailed(f"{PROXY_REFUSED} (error {response.status}).")
                to = response.headers.get("Location")
                if response.status in _REDIRECTS and to:
                    return _joined(url, to)
                return Fetched(
                    str(url),
                    response.status,
                    response.content_type,
                    response.charset or "",
                    await self._body(response.headers, response.content) if reads else b"",
                )
        except (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError) as error:
            status = f" (error {error.status})" if isinstance(error, aiohttp.ClientHttpProxyError) else ""
            raise FetchFailed(f"{PROXY_REFUSED}{status}.") from None
        except aiohttp.ClientConnectorError as error:
            # Cut off behind a proxy: the connection in the chain has the password that the operator set.
            cause = error if proxy is None else None
            if isinstance(error.os_error, _Closed):
                raise FetchFailed(NOT_PUBLIC) from cause
            raise FetchFailed("No connection came about.") from cause
        except (aiohttp.ClientError, _Closed, OSError, ValueError, zlib.error) as error:
            raise FetchFailed(f"It could not be fetched ({type(error).__name__}).") from (
                error if proxy is None else None
            )

    async def _body(self, headers: CIMultiDictProxy[str], content: aiohttp.StreamReader) -> bytes:
        packing = headers.get("Content-Encoding", "identity").strip().lower()
        if packing not in _PACKED and packing not in {"identity", ""}:
            raise FetchFailed("It is packed in a way that nobody asked for.")
        unpacked, taken = bytearray(), 0
        unpack = _Unpacking() if packing in _PACKED else None
        async for chunk in content.iter_chunked(_CHUNK):
            taken += len(chunk)
            room = self._most_bytes - len(unpacked)
            unpacked += chunk if unpack is None else unpack(chunk, room + 1)
            if taken > self._most_bytes or len(unpacked) > self._most_bytes:
                raise FetchFailed(f"It is larger than {self._most_bytes / 1_000_000:g} MB.")
        return bytes(unpacked)


class _Unpacking:
    """Unpacks gzip and deflate, never more than it is asked for."""

    def __init__(self) -> None:
        self._unpack = zlib.decompressobj(32 + zlib.MAX_WBITS)
        self._begun = False

    def __call__(self, chunk: bytes, most: int) -> bytes:
        """The next bytes, at most so many: who gets as many as that has too much already."""
        try:
            unpacked = self._unpack.decompress(chunk, most)
        except zlib.error:
            if self._begun:
                raise
            self._unpack = zlib.decompressobj(-zlib.MAX_WBITS)  # deflate without the header that it should have
            unpacked = self._unpack.decompress(chunk, most)
        self._begun = True
        return unpacked


class _Once(AbstractResolver):
    """Asks the given resolver, for the one connection that is made."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._resolve(host, port)
        if not found:
            raise OSError("no address")
        return [
            ResolveResult(
                hostname=host,
                host=each,
                port=port,
                family=socket.AF_INET6 if ":" in each else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for each in found
            if family in {socket.AF_UNSPEC, socket.AF_INET6 if ":" in each else socket.AF_INET}
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _guarded(*, own: bool) -> Callable[[AddrInfoType], socket.socket]:
    """Makes the socket of a connection, after a look at the number that it will connect to."""

    def made(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _name, address = info
        try:
            number = ip_address(address[0])
        except ValueError:
            number = None
        if number is None or not (own or is_public(number)):
            raise _Closed("not a public address")
        return socket.socket(family, kind, protocol)

    return made


def _parsed(url: str) -> yarl.URL:
    try:
        return _checked(yarl.URL(url))
    except ValueError as error:
        raise FetchFailed("It is no address of a page.") from error


def _joined(url: yarl.URL, to: str) -> yarl.URL:
    try:
        return _checked(url.join(yarl.URL(to)))
    except ValueError as error:
        raise FetchFailed("It leads to something that is no address of a page.") from error


def _checked(url: yarl.URL) -> yarl.URL:
    if url.scheme not in {"http", "https"} or not url.raw_host:
        raise FetchFailed("Only addresses of http and https are read.")
    if url.user is not None or url.password is not None:
        raise FetchFailed("An address with a name or password in it is not read.")
    return url
