"""What was approved is held against what is done: every letter of it counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.guards.facts import facts_of
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation


def screen(text: str, total: str = "$12.90", person: str = "Anna", clock: str = "12:00") -> Observation:
    return Observation(
        Size(1000, 2000),
        None,
        (
            Element(Bounds(0, 0, 100, 40), text=clock),
            Element(Bounds(100, 120, 500, 180), text=person),
            Element(Bounds(0, 900, 200, 950), text="Total"),
            Element(Bounds(800, 900, 990, 950), text=total),
            Element(Bounds(0, 1800, 800, 1900), text=text, hint="Text message", editable=True),
            Element(Bounds(0, 1500, 800, 1600), text="hunter2", password=True, editable=True),
        ),
        package="com.example",
    )


def test_a_person_reads_text_amount_and_recipient() -> None:
    assert facts_of(screen("hello")).lines == ["Screen: Anna", "Text message: hello", "Amount: Total $12.90"]
    assert facts_of(screen("Text message")).fields == ()
    assert "¥ 1,299" in facts_of(screen("x", total="实付 ¥ 1,299")).amounts[0]


@given(st.text(min_size=1), st.text(min_size=1))
def test_another_text_is_another_digest(one: str, other: str) -> None:
    """Seen failing with the fields left out of `Facts.digest`."""
    same = facts_of(screen(one)).digest == facts_of(screen(other)).digest
    assert same == (one == other)


def test_what_counts_and_what_does_not() -> None:
    digest = facts_of(screen("hello")).digest
    assert facts_of(screen("hello", clock="12:01")).digest == digest
    assert facts_of(screen("hello", total="$129.00")).digest != digest
    assert facts_of(screen("hello", person="Bob")).digest != digest
