"""Derives a readable name for an app whose label is unknown."""

from __future__ import annotations

from typing import Final

_EMPTY: Final = frozenset(
    {"com", "org", "net", "io", "cn", "app", "apps", "android", "google", "client", "mobile", "main", "ui"}
)
"""Parts of package names that say nothing about the app."""


def readable(package: str) -> str:
    """Return a readable name for an app, made from the last meaningful word of its package: "Browser" for
    com.android.browser, "" for "".
    """
    parts = [part for part in package.split(".") if part]
    told = [part for part in parts if part.casefold() not in _EMPTY]
    word = (told or parts or [""])[-1].replace("_", " ").rstrip("0123456789") or package
    return word[:1].upper() + word[1:]
