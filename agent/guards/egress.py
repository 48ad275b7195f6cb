"""Judges by its form what opening an address would start, besides showing a web page."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import parse_qsl

from agent.guards.rules import Urls
from agent.guards.web_address import PAGES, WebAddress, decoded, is_public_host, read_address
from agent.wording import words
from devices.wording import Words

EFFECTS: Final = ("pay", "sign_in", "send", "call", "download")
"""The policy's lists of addresses, by effect; each has its own reason to ask."""


def address_reason(url: str, rules: Urls) -> Words | None:
    """Return why a person must be asked before this address is opened; None if its form gives no reason."""
    try:
        address = read_address(url)
    except ValueError:
        return words("reason.address_odd")
    for effect in EFFECTS:
        if any(_is_one(address, entry) for entry in getattr(rules, effect)):
            return words(f"reason.address_{effect}", place=address.host or f"{address.scheme}:")
    if address.scheme and address.scheme not in PAGES:
        return None if address.scheme in rules.shows else words("reason.address", scheme=address.scheme)
    if address.scheme and not is_public_host(address.number or address.host):
        return words("reason.address_private", host=address.host)
    return words("reason.address_user", host=address.host) if address.user else None


def _is_one(address: WebAddress, entry: str) -> bool:
    """Whether an address matches a policy entry: `scheme:`, a filename's `.ending`, or `host/path?key=value`. The path
    may continue, the host may have subdomains, and * matches anything.
    """
    entry = entry.casefold()
    if entry.endswith(":"):
        return address.scheme == entry[:-1]
    if address.scheme not in PAGES:
        return False
    if entry.startswith("."):
        return _has_file(address, entry)
    place, _, query = entry.partition("?")
    host, _, path = place.partition("/")
    labels, wanted, have = address.host.split("."), path.split("/") if path else [], _segments(address.path)
    return (
        any(fnmatchcase(".".join(labels[at:]), host) for at in range(len(labels)))
        and len(have) >= len(wanted)
        and all(map(fnmatchcase, have, wanted))
        and all(any(fnmatchcase(given, each) for given in _pairs(address.query)) for each in _pairs(query))
    )


def _segments(path: str) -> list[str]:
    """Return the segments of a path as a browser requests them, with . and .. resolved."""
    found: list[str] = []
    for part in decoded(path).casefold().replace("\\", "/").split("/"):
        if part == "..":
            del found[-1:]
        elif part not in {"", "."}:
            found.append(part)
    return found


def _pairs(query: str) -> list[str]:
    return [f"{key}={value}".casefold() for key, value in parse_qsl(query, keep_blank_values=True)]


def _has_file(address: WebAddress, ending: str) -> bool:
    """Whether a filename with this ending is in the path or is a query value; values with spaces are search terms."""
    values = [value for _, value in parse_qsl(address.query, keep_blank_values=True) if " " not in value.strip()]
    name = re.compile(rf"{re.escape(ending)}\.*(?![\w.-])")
    return any(name.search(decoded(each).casefold()) for each in (address.path, *values))
