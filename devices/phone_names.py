"""What may be the name of a phone."""

from __future__ import annotations

from devices.errors import NameUnfit

LONGEST = 40
"""Characters of a name: it stands in headings and on buttons beside other words."""


def fit_name(wish: str) -> str:
    """The name without blanks around and between. Raises NameUnfit."""
    name = " ".join(wish.split())
    if not name or len(name) > LONGEST or not name.isprintable() or name.startswith("-"):
        raise NameUnfit(f"A name has 1 to {LONGEST} printable characters and does not begin with a dash.")
    return name
