"""The rules for valid names of phones."""

from __future__ import annotations

from devices.errors import NameUnfit

LONGEST = 40
"""The maximum characters of a name, which appears in headings and on buttons next to other words."""


def fit_name(wish: str) -> str:
    """Return a phone's name with normalised blanks. Raises NameUnfit if it is not a valid name."""
    name = " ".join(wish.split())
    if not name or len(name) > LONGEST or not name.isprintable() or name.startswith("-"):
        raise NameUnfit(f"A name has 1 to {LONGEST} printable characters and does not begin with a dash.")
    return name
