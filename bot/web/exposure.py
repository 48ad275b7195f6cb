"""Decides where the console can be reached: from this machine with the start token, from elsewhere only with a sign-in.
The errors for a console that cannot be opened have texts for the person who runs the service.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from yarl import URL

from bot.web.passwords import Password, UnfitPassword


class ConsoleError(Exception):
    """The console could not be opened. The service runs without it."""


class ConsoleHostRefused(ConsoleError):
    """CONSOLE_HOST or CONSOLE_URL would open the console to other machines without a sign-in."""

    def __init__(self, host: str, url: str = "") -> None:
        setting = f"CONSOLE_URL={url}" if url else f"CONSOLE_HOST={host}"
        super().__init__(
            f"{setting} would open the console to other machines, and no password is set for them: it was not "
            "started. Set CONSOLE_PASSWORD to what `opengui password` prints. Or set CONSOLE_HOST=127.0.0.1 without "
            "CONSOLE_URL, and reach it from elsewhere through an SSH tunnel."
        )


class ConsoleAddressMissing(ConsoleError):
    """The settings name no usable address at which people open the console."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The console was not started: {why}. Set CONSOLE_URL to the address that people open, such as "
            "https://phones.example.org."
        )


class ConsolePasswordUnfit(ConsoleError):
    """CONSOLE_PASSWORD is neither a usable password nor a valid hash of one."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The console was not started: CONSOLE_PASSWORD cannot be used, {why}. Set it to what `opengui password` "
            "prints."
        )


class ConsolePortInUse(ConsoleError):
    """Another program listens on CONSOLE_PORT."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            f"The console was not started: port {port} on {host} is in use by another program. "
            "Set CONSOLE_PORT to a free port (0 takes any) and start the service again."
        )


LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Exposure:
    """Where the console listens, and the address at which people open it.

    `url` is the origin for people on other machines, such as `https://phones.example.org`; None if it is
    `http://host:port`, or if only this machine can connect. Without `password` the operator cannot sign in.
    """

    host: str
    url: URL | None = None
    password: Password | None = None

    @classmethod
    def of(cls, host: str, url: str = "", password: str = "") -> Exposure:
        """Create it from the settings for host, URL and password. Raises ConsoleHostRefused, ConsoleAddressMissing or
        ConsolePasswordUnfit.
        """
        name = host.strip().strip("[]")
        local = is_loopback(name)
        if not password and (not name or not local or url):
            raise ConsoleHostRefused(host, url)
        try:
            kept = Password.of(password) if password else None
        except UnfitPassword as error:
            raise ConsolePasswordUnfit(str(error)) from None
        if not url and _is_any(name):
            raise ConsoleAddressMissing(f"CONSOLE_HOST={host} is no address that anybody could open")
        return cls(name, _origin(url) if url else None, kept)

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the address on which the console listens."""
        return is_loopback(self.host)

    def own_url(self, port: int) -> str:
        """Return the URL for the command line and the operator on this machine."""
        host = "127.0.0.1" if _is_any(self.host) else self.host
        return f"http://{url_host(host)}:{port}"

    def origin(self, port: int) -> str:
        """Return the origin (scheme, host and port) of pages opened on other machines; "" if none can be."""
        if self.url is not None:
            return str(self.url).rstrip("/")
        return "" if self.local else f"http://{url_host(self.host)}:{port}"

    @property
    def covered(self) -> bool:
        """Whether people on other machines use HTTPS, through a proxy in front of the console."""
        return self.url is not None and self.url.scheme == "https"


def _origin(url: str) -> URL:
    """Parse the address, which must not have a path. Raises ConsoleAddressMissing."""
    try:
        address = URL(url)
        more = address.query_string or address.fragment or address.user or address.path not in {"", "/"}
        if address.host and address.scheme in DEFAULT_PORTS and not more:
            return address.origin()
    except ValueError:
        pass
    raise ConsoleAddressMissing("CONSOLE_URL is not just scheme, name and port")


def is_loopback(name: str) -> bool:
    """Return whether this host name or IP address can be reached only from this machine."""
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name.split("%", maxsplit=1)[0])
    except ValueError:
        return False
    # A dual-stack socket reports an IPv4 client as ::ffff:127.0.0.1.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _is_any(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return False


def url_host(host: str) -> str:
    """Return the host as it is written in a URL: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def hosts(origin: str) -> frozenset[str]:
    """Return the Host headers valid for this origin; the scheme's default port may be omitted."""
    url = URL(origin)
    name = url_host(url.host or "")
    port = url.port or DEFAULT_PORTS[url.scheme]
    both = {f"{name}:{port}"}
    return frozenset(both | {name} if port == DEFAULT_PORTS[url.scheme] else both)
