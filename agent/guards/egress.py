"""An address that does more than show a page of the internet: what it leads to, before it is opened."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from agent.wording import words
from devices.wording import Words

WRITING: Final = frozenset({"mailto"})
"""Schemes that write to somebody, besides those that the policy names."""
PACKAGES: Final = (".apk", ".apks", ".xapk", ".apkm", ".aab")
HOME: Final = ("localhost", ".localhost", ".local", ".lan", ".internal", ".home.arpa")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
"""What follows the colon of a port is a number."""


def address_reason(url: str) -> Words | None:
    """Why a person is asked before this address is opened, None where its form is no reason to."""
    try:
        parts = _parts(url.strip())
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return words("reason.address_odd")
    if parts.scheme in WRITING:
        return words("reason.address", scheme=parts.scheme)
    if is_private(host):
        return words("reason.address_private", host=host)
    if any(unquote(part).casefold().endswith(PACKAGES) for part in (parts.path, *parts.query.split("&"))):
        return words("reason.address_app")
    return None


def _parts(url: str) -> SplitResult:
    """An address without a scheme is one too: browsers add it. A single word is looked up, and leads nowhere."""
    if _SCHEME.match(url):
        return urlsplit(url)
    parts = urlsplit(f"http://{url}")
    host = parts.hostname or ""
    return parts if "." in host or ":" in host or host == HOME[0] else urlsplit(url)


def is_private(host: str) -> bool:
    """Whether a host stands in the phone's own network or is the phone itself, by its name or number alone."""
    if host and ("." not in host and ":" not in host):
        return True
    if host.casefold().endswith(HOME):
        return True
    try:
        return not ip_address(host.partition("%")[0]).is_global
    except ValueError:
        return False
