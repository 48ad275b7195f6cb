"""The names of phones and apps: which names of phones are valid, and a readable name for an app whose label is
unknown.
"""

from __future__ import annotations

from typing import Final

from devices.errors import NameUnfit

LONGEST = 40
"""The maximum characters of a name, which appears in headings and on buttons next to other words."""


def fit_name(wish: str) -> str:
    """Return a phone's name with normalised blanks. Raises NameUnfit if it is not a valid name."""
    name = " ".join(wish.split())
    if not name or len(name) > LONGEST or not name.isprintable() or name.startswith("-"):
        raise NameUnfit(f"A name has 1 to {LONGEST} printable characters and does not begin with a dash.")
    return name


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
