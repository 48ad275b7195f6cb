"""Finds web addresses in texts, and brings them into a form in which they can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit, urlunsplit

_ADDRESS: Final = re.compile(
    r"(?<![\w@./-])(?:https?://[!-~]+|(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?(?:[/?#][!-~]*)?(?![\w@]))",
    re.IGNORECASE | re.ASCII,
)
_AROUND: Final = "<>\"'`()[]{}.,;:!?*"
"""Punctuation around an address in a sentence, removed from its end."""
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


def with_scheme(address: str) -> str:
    """Return the address with its scheme, https by default."""
    address = address.strip()
    return address if "://" in address else f"https://{address}"


def same(address: str) -> str:
    """Return the address in the form in which addresses are compared: without scheme, fragment and final slash. "" if
    it is not a web address.
    """
    try:
        parts = urlsplit(with_scheme(address))
        if parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
            return ""
        port = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    except ValueError:
        return ""
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    host = f"{user}{parts.hostname.lower().rstrip('.')}{port}"
    return urlunsplit(("", host, parts.path, parts.query, "")).removeprefix("//").rstrip("/")


def addresses_in(texts: Iterable[str]) -> frozenset[str]:
    """Return all web addresses in these texts, in the form of `same`."""
    found = (same(_bare(each)) for text in texts for each in _ADDRESS.findall(text))
    return frozenset(each for each in found if each)


def _bare(address: str) -> str:
    """Return the address without punctuation of the sentence; a bracket that it opened belongs to it."""
    while address and address[-1] in _AROUND:
        opening = _BRACKETS.get(address[-1])
        if opening is not None and address.count(opening) >= address.count(address[-1]):
            break
        address = address[:-1]
    return address
