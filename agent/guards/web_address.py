"""Parses web addresses as browsers do (https://url.spec.whatwg.org/#url-parsing)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final
from urllib.parse import unquote, unquote_to_bytes

import idna

Number = IPv4Address | IPv6Address
PAGES: Final = frozenset({"http", "https"})
MAX_PORT: Final = 0xFFFF
OWN_NAMES: Final = (
    "localhost", "local", "localdomain", "lan", "internal", "intranet", "private", "corp", "home", "home.arpa",
    "localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "metadata.goog",
)  # fmt: skip
"""Suffixes of host names that are not on the public internet: those of private networks (RFC 6761, 6762, 8375, and
those that routers use), public names that lead to the phone itself, and the address where clouds provide their keys.
"""
_CLOSED: Final = tuple(
    map(
        ip_network, ("::/96", "fec0::/10", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "192.88.99.0/24")
    )
)
"""IPv6 ranges that embed IPv4 addresses and could reach any of them, and the former site-local range."""
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*(?=:)", re.IGNORECASE | re.ASCII)
_PORT_FOLLOWS: Final = re.compile(r"\d{1,5}(?:[/\\?#]|\Z)", re.ASCII)
_ENDS: Final = "".join(map(chr, range(0x21)))
"""Characters stripped from both ends: control characters and the space."""
_BREAKS: Final = dict.fromkeys(map(ord, "\t\n\r"))
"""Characters removed anywhere."""
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_IN_A_NAME: Final = re.compile(r"(?<![0-9])(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?![0-9])", re.ASCII)
_DEPTH: Final = 3
"""How often percent signs are decoded, because servers and apps decode again what browsers pass on."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """The parts of an address.

    `host` is the name that is looked up, without a final dot, or an IP address as text, which is then in `number` too.
    If the scheme is not in `PAGES`, `host` is "" and `path` is everything after the scheme. `user` holds the name and
    password.
    """

    scheme: str
    host: str = ""
    number: Number | None = None
    user: str = ""
    path: str = ""
    query: str = ""
    fragment: str = ""


def read_address(text: str) -> WebAddress:
    """Parse a text that is opened or typed as an address. Without a scheme it is http, as in browsers.

    A single word is a search term, which is returned as a path alone. Raises ValueError for a text that no browser
    opens.
    """
    text = text.strip(_ENDS).translate(_BREAKS)
    found = _SCHEME.match(text)
    scheme, rest = (found[0].lower(), text[found.end() + 1 :]) if found else ("", text)
    if ("." in scheme or scheme == "localhost") and _PORT_FOLLOWS.match(rest):
        scheme, rest = "", text  # a host and its port
    if not scheme and re.fullmatch(r"[^\W\d_][\w-]*", rest) and rest.lower() != "localhost":
        return WebAddress("", path=rest)
    scheme = scheme or "http"
    if scheme not in PAGES:
        return WebAddress(scheme, path=rest)
    front, *asked = re.split(r"(?=[?#])", rest, maxsplit=1)
    authority, slash, path = front.replace("\\", "/").lstrip("/").partition("/")
    query, _, fragment = "".join(asked).partition("#")
    user, _, place = authority.rpartition("@")
    host = read_host(_without_port(place))
    number, name = (None, host.rstrip(".")) if isinstance(host, str) else (host, str(host))
    return WebAddress(scheme, name, number, user, slash + path, query.removeprefix("?"), fragment)


def _without_port(place: str) -> str:
    host, _, port = place.rpartition(":") if ":" in place[place.rfind("]") + 1 :] else (place, "", "")
    if port and not (re.fullmatch(r"[0-9]+", port) and int(port) <= MAX_PORT):
        raise ValueError("no port")
    return host


def read_host(host: str) -> str | Number:
    """Return a host name in the form in which it is looked up, or its IP address however it is written. Raises
    ValueError.
    """
    if host.startswith("["):
        if not host.endswith("]") or "%" in host:
            raise ValueError("no host")
        return IPv6Address(host[1:-1])
    name = unquote_to_bytes(host).decode("utf-8", "replace")
    name = name.lower() if name.isascii() else _in_ascii(name)
    if not name.rstrip(".") or _FORBIDDEN.search(name):  # only dots are the DNS root, not a site
        raise ValueError("no host")
    return _ipv4(name) if _ends_in_number(name) else name


def _in_ascii(name: str) -> str:
    mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)  # its IDNAError is a ValueError
    return ".".join(part if part.isascii() else f"xn--{part.encode('punycode').decode()}" for part in mapped.split("."))


def _ends_in_number(name: str) -> bool:
    last = name.removesuffix(".").rpartition(".")[2]
    return bool(re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last))


def _ipv4(name: str) -> IPv4Address:
    numbers = [_part(part) for part in name.removesuffix(".").split(".")]
    last = numbers.pop()
    if len(numbers) > 3 or any(number > 255 for number in numbers) or last >= 256 ** (4 - len(numbers)):
        raise ValueError("no number of a host")
    return IPv4Address(sum(number << 8 * (3 - at) for at, number in enumerate(numbers)) + last)


def _part(text: str) -> int:
    """Return one part of an IPv4 address: base 16 after 0x, base 8 after 0, otherwise base 10."""
    base, digits = (16, text[2:]) if text.startswith("0x") else (8, text[1:]) if text[:1] == "0" else (10, text)
    if not text or not re.fullmatch(r"[0-9a-f]*", digits):
        raise ValueError("no number of a host")
    return int(digits or "0", base)


def is_public(number: Number) -> bool:
    """Whether an IP address is on the public internet and cannot lead to any other network."""
    if isinstance(number, IPv6Address):
        if number.ipv4_mapped is not None:
            return is_public(number.ipv4_mapped)
        if number.scope_id:
            return False
    if any(number in network for network in _CLOSED if network.version == number.version):
        return False
    return number.is_global and not (number.is_multicast or number.is_reserved or number.is_unspecified)


def is_public_host(host: str | Number) -> bool:
    """Whether a host is a public IP address or internet name, without looking the name up."""
    if not isinstance(host, str):
        return is_public(host)
    name = host.rstrip(".")
    if "." not in name or any(name == own or name.endswith(f".{own}") for own in OWN_NAMES):
        return False
    return all(_is_public_in_a_name(*found.groups()) for found in _IN_A_NAME.finditer(name))


def _is_public_in_a_name(*parts: str) -> bool:
    """Whether the IP address in a name such as 10.0.0.1.example is public: some services resolve to it."""
    return any(int(part) > 255 for part in parts) or is_public(IPv4Address(".".join(str(int(part)) for part in parts)))


def decoded(text: str) -> str:
    """Return a text with its percent escapes decoded, up to three times if decoding reveals more."""
    for _ in range(_DEPTH):
        text = unquote(text)
    return text
