"""What to call an app where its label is not known."""

from __future__ import annotations

from typing import Final

_EMPTY: Final = frozenset(
    {"com", "org", "net", "io", "cn", "app", "apps", "android", "google", "client", "mobile", "main", "ui"}
)
"""Parts of package names that say nothing about the app."""


def readable(package: str) -> str:
    """The last word of a package name that tells something: "Browser" for com.android.browser, "" for none."""
    parts = [part for part in package.split(".") if part]
    told = [part for part in parts if part.casefold() not in _EMPTY]
    word = (told or parts or [""])[-1].replace("_", " ").rstrip("0123456789") or package
    return word[:1].upper() + word[1:]
