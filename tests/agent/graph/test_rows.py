"""The rows of a list that is seen piece by piece."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.graph.executor.long_lists import Row, Rows

TOP, BOTTOM = 200, 1000
"""The edges of the list on the screen."""


def page(rows: Sequence[tuple[str, int]], offset: int, *, heading: str = "") -> list[Row]:
    """What is to be seen of rows with these heights once the list has gone on by `offset` pixels."""
    found, at = [Row(heading, TOP, TOP + 60)] if heading else [], TOP + (60 if heading else 0) - offset
    above = TOP + (60 if heading else 0)
    for words, height in rows:
        start, end = max(at, above), min(at + height, BOTTOM)
        if end - start > 4:
            found.append(Row(words, start, end))
        at += height
    return found


def read(rows: Sequence[tuple[str, int]], steps: Sequence[int], *, heading: str = "") -> list[str]:
    length, made, offset = sum(height for _, height in rows), Rows("down"), 0
    most = max(0, length - (BOTTOM - TOP - (60 if heading else 0)))
    made.add(page(rows, 0, heading=heading), 0)
    for step in [*steps, *[BOTTOM] * 400]:
        if offset == most:
            break
        before, offset = offset, min(most, offset + min(step, 480))
        made.add(page(rows, offset, heading=heading), round(0.9 * (offset - before)))
    return made.words


HEIGHTS = st.integers(min_value=90, max_value=300)


@given(
    st.lists(HEIGHTS, min_size=1, max_size=60),
    st.lists(st.integers(min_value=100, max_value=480), max_size=20),
    st.sampled_from(["", "Contacts"]),
)
def test_each_row_is_told_once_and_in_order(heights: list[int], steps: list[int], heading: str) -> None:
    rows = [(f"Row {n}", height) for n, height in enumerate(heights)]
    assert read(rows, steps, heading=heading) == [*[heading] * bool(heading), *(words for words, _ in rows)]


@example(
    [("Missed call", 90), ("Missed call", 90), ("Anna", 90), ("Missed call", 164), ("Missed call", 300), ("Anna", 186)],
    "Recent calls",
)
@given(
    st.lists(st.tuples(st.sampled_from(["Missed call", "Anna", "Bob", "Today"]), HEIGHTS), min_size=1, max_size=60),
    st.sampled_from(["", "Recent calls"]),
)
def test_equal_rows_are_all_there(calls: list[tuple[str, int]], heading: str) -> None:
    rows = [(f"{words} · {n}" if n % 3 == 0 else words, height) for n, (words, height) in enumerate(calls)]
    assert read(rows, [], heading=heading) == [*[heading] * bool(heading), *(words for words, _ in rows)], rows


def test_three_hundred_rows() -> None:
    rows = [(f"Entry {n}", 120) for n in range(300)]
    assert read(rows, []) == [words for words, _ in rows]


def test_a_button_that_floats_above_the_rows_is_in_none_of_them() -> None:
    rows, button = [(f"Note {n}", 120) for n in range(40)], Row("New note", 880, 980, 300, 400)
    made = Rows("down")
    for offset in range(0, 40 * 120 - 800 + 1, 400):
        looked = [Row(row.words, row.start, row.end, 0, 400) for row in page(rows, offset)]
        made.add(sorted([*looked, button], key=lambda cell: (cell.start, cell.end)), 400)
    assert made.words == [words for words, _ in rows]


@pytest.mark.parametrize("direction", ["up", "left"])
def test_a_list_that_is_read_backwards_is_told_forwards(direction: str) -> None:
    made = Rows(direction)  # type: ignore[arg-type]  # a parameter
    made.add([Row("c", -300, -200), Row("b", -200, -100)], 0)
    made.add([Row("b", -300, -200), Row("a", -200, -100)], 100)
    assert made.words == ["a", "b", "c"]
