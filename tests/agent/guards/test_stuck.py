"""Standing still is noticed; working through a form or a list is not taken for it."""

from __future__ import annotations

import pytest

from agent.guards.loop_detection import Level, Move, level


def moves(*steps: str) -> list[Move]:
    """Each step as "before action after"."""
    return [Move(*step.split()) for step in steps]


@pytest.mark.parametrize(
    ("times", "expected"),
    [(1, Level.MOVING), (2, Level.TOLD), (3, Level.REMINDED), (4, Level.REPLAN), (5, Level.PERSON), (9, Level.PERSON)],
)
def test_the_same_without_effect(times: int, expected: Level) -> None:
    assert level(moves(*["A tap A"] * times)) is expected


def test_two_screens_in_a_circle() -> None:
    there_and_back = ["A open B", "B back A"]
    assert level(moves(*there_and_back)) is Level.MOVING
    assert level(moves(*there_and_back * 2)) is Level.REMINDED
    assert level(moves(*there_and_back * 3)) is Level.REPLAN
    assert level(moves(*there_and_back * 4)) is Level.PERSON


def test_three_screens_in_a_circle() -> None:
    assert level(moves(*["A x B", "B y C", "C z A"] * 2)) is Level.REMINDED


def test_no_false_alarm() -> None:
    assert level([]) is Level.MOVING
    assert level(moves("A type-1 B", "B type-2 C", "C type-3 D")) is Level.MOVING
    assert level(moves(*[f"{n} scroll {n + 1}" for n in range(8)])) is Level.MOVING
    assert level(moves("A tap A", "A scroll B", "B tap B")) is Level.MOVING
    assert level(moves("A tap-1 A", "A tap-2 A", "A tap-3 A")) is Level.MOVING
    assert level(moves("A on B", "B off A")) is Level.MOVING
    assert level(moves(*["A wait A"] * 3)) is Level.MOVING
    assert level(moves(*["A wait A"] * 4)) is Level.TOLD
