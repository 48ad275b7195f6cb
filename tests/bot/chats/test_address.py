"""Names of people on one line, in reading order."""

from __future__ import annotations

import pytest

from bot.domain.address import on_one_line


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Anna", "Anna"),
        ("  Anna \n Bell ", "Anna Bell"),
        ("\u202eannA", "annA"),
        ("A\u2066B\u2069\u200fC", "AB\u200fC"),
        ("line\u2028break\x07", "linebreak"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("يوسف", "يوسف"),
        ("\u202e", ""),
    ],
)
def test_names_that_reorder_or_break_lines(name: str, shown: str) -> None:
    """Seen failing without `_TURNING`: "Answered by …" was read from its end."""
    assert on_one_line(name) == shown
