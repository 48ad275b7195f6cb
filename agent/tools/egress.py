"""Fetches from the web for all tools: from public addresses, and from hosts that the operator named.

The IP address is checked at the moment of connecting, so no name can resolve to one address for the check and another
for the connection. If the operator configured a proxy, it resolves names and connects; a name outside the public
internet is not even requested from it.
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
"""How many seconds a fetch may take in total: resolving, connecting, every redirect and the body."""
MAX_BYTES: Final = 4_000_000
"""The maximum bytes of a body, both as it is sent and unpacked."""
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
"""A function that returns a host's IP addresses for a port. Raises OSError."""
Endpoint = tuple[str, int]


class FetchFailed(Exception):
    """Nothing was fetched; the message tells the model why and contains no words of the page."""


class _Closed(OSError):
    """The address is not part of the public internet."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetched resource. `url` is its address after redirects, `media` its media type, `charset` its character set as
    the server states it, and `body` its unpacked content.
    """

    url: str
    status: int
    media: str
    charset: str
    body: bytes


def _for_a_proxy(host: str) -> bool:
    """Whether a proxy may be asked for this host: an internet name or a public IP address, however written, because the
    proxy may parse it as a browser does.
    """
    try:
        return is_public_host(read_host(f"[{host}]" if ":" in host else host))
    except ValueError:
        return False


async def resolve_here(host: str, port: int) -> Sequence[str]:
    """Return the IP addresses of a host, using this machine's resolver. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for _family, _kind, _protocol, _name, address in found]


class Egress:
    """Fetches over http and https, limited in time and size, without cookies and without proxies from the environment.

    `named` are the exact hosts and ports that the operator configured; they may be in a private network and are reached
    directly. Everything else goes through `proxy`, an address with or without credentials, unless it is "".
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
        """Fetch a resource with GET or, if `send` is given, POST it: bytes as they are, anything else as JSON. Raises
        FetchFailed.

        A redirect is not followed if there are `headers` or something is sent. Without `reads`, the body is ignored.
        """
        place = _parsed(url)
        try:
            async with asyncio.timeout(self._seconds):
                for _ in range(MAX_REDIRECTS + 1):
                    got = await self._once(place, headers or {}, send, reads)
                    if isinstance(got, Fetched):
                        return got
                    if send is not None or headers:
                        raise FetchFailed("It leads to another address, which is not followed here.")
                    place = got
        except TimeoutError as error:
            raise FetchFailed(f"It took longer than {self._seconds:g} seconds.") from error
        raise FetchFailed("It leads from one address to the next without an end.")

    async def _once(
        self, url: yarl.URL, headers: Mapping[str, str], send: Mapping[str, Any] | bytes | None, reads: bool
    ) -> Fetched | yarl.URL:
        """Make one request, and return the result or the address it redirects to."""
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
        try:
            async with (
                aiohttp.ClientSession(
                    connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, trust_env=False
                ) as session,
                session.request(
                    "GET" if send is None else "POST",
                    url,
                    headers={**_HEAD, **headers},
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
            # Unchained behind a proxy: the connection in the exception chain contains the operator's password.
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
    """Unpacks gzip and deflate, never more than requested."""

    def __init__(self) -> None:
        self._unpack = zlib.decompressobj(32 + zlib.MAX_WBITS)
        self._begun = False

    def __call__(self, chunk: bytes, most: int) -> bytes:
        """Return the next unpacked bytes, at most `most`: reaching that number means that there is too much."""
        try:
            unpacked = self._unpack.decompress(chunk, most)
        except zlib.error:
            if self._begun:
                raise
            self._unpack = zlib.decompressobj(-zlib.MAX_WBITS)  # deflate without its required header
            unpacked = self._unpack.decompress(chunk, most)
        self._begun = True
        return unpacked


class _Once(AbstractResolver):
    """Passes lookups to the given resolver, for a single connection."""

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
        """Does nothing, because nothing is held."""


def _guarded(*, own: bool) -> Callable[[AddrInfoType], socket.socket]:
    """Return a function that creates a connection's socket after checking the IP address."""

    def made(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _name, address = info
        try:
            closed = not (is_public(ip_address(address[0])) or own)
        except ValueError:
            closed = True
        if closed:
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
