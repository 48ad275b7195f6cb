"""A dict of limited size."""

from __future__ import annotations

from devices.recent import Recent


def test_the_oldest_goes_and_what_is_set_again_is_new() -> None:
    recent: Recent[str, int] = Recent(2)
    recent["a"] = 1
    recent["b"] = 2
    recent["a"] = 3
    recent["c"] = 4
    assert recent == {"a": 3, "c": 4}
    assert recent.get("a") == 3
    recent["d"] = 5
    assert recent == {"c": 4, "d": 5}, "reading made nothing newer"
