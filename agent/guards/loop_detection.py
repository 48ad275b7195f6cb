"""Detects that a run makes no progress: it repeats the same action on the same screen, or goes through a few screens in
a circle.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How stuck a run is. Each level stands for what is done about it."""

    MOVING = 0
    TOLD = 1
    """The model is told that its action had no effect."""
    REMINDED = 2
    """The model is shown the picture again, with a reminder of the goal."""
    REPLAN = 3
    """The supervisor makes a new plan or, if there is none, the model tries another way."""
    PERSON = 4
    """A person is asked."""


@dataclass(frozen=True, slots=True)
class Move:
    """One step, as the loop guard compares it: digests of the screen before, the action, and the screen after."""

    before: str
    action: str
    after: str


WAITING = "wait"
"""The `Move.action` of a step that only waited."""
PATIENT_WAITS = 3
"""How many waits in a row are not a loop. The next one counts like the second try of another action."""
WINDOW = 16
CYCLE_LENGTHS = (2, 3)
CYCLE_REPEATS = 2


def level(moves: list[Move]) -> Level:
    """Return how stuck a run is, judging by its last moves.

    Typing into different fields or scrolling a moving list never counts, because the action or the screen differs.
    """
    moves = moves[-WINDOW:]
    idle = _idle_repeats(moves)
    rounds = _rounds(moves)
    return max(_of_count(idle - 1), _of_count(rounds) if rounds >= CYCLE_REPEATS else Level.MOVING)


def _of_count(count: int) -> Level:
    return Level(min(max(count, Level.MOVING), Level.PERSON))


def _idle_repeats(moves: list[Move]) -> int:
    """Count how often in a row the last action left the same screen unchanged."""
    count = 0
    for move in reversed(moves):
        if move.before != move.after or move.action != moves[-1].action or move.before != moves[-1].before:
            break
        count += 1
    if moves and moves[-1].action == WAITING:
        return max(0, count - PATIENT_WAITS + 1)
    return count


def _rounds(moves: list[Move]) -> int:
    """Count how often in a row the last two or three moves were repeated (A-B-A-B is two rounds)."""
    best = 0
    for length in CYCLE_LENGTHS:
        if len(moves) < length * 2:
            continue
        pattern = moves[-length:]
        if len({(m.before, m.action) for m in pattern}) < length:
            continue
        count = 0
        while moves[len(moves) - length * (count + 1) : len(moves) - length * count] == pattern:
            count += 1
            if length * (count + 1) > len(moves):
                break
        best = max(best, count)
    return best
