"""Notices that a run does not move: the same action on the same screen, or the same few screens in a circle."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How stuck a run is, and so what is done about it."""

    MOVING = 0
    TOLD = 1
    """Told that it had no effect."""
    REMINDED = 2
    """Shown the picture again, with a reminder of the goal."""
    REPLAN = 3
    """Another way: the supervisor makes a new plan, or, where there is none, the model does."""
    PERSON = 4
    """A person is asked."""


@dataclass(frozen=True, slots=True)
class Move:
    """One step as the guard sees it: the screen before, what was done there, and the screen after."""

    before: str
    action: str
    after: str


WAITING = "wait"
"""The action of a step that only waited."""
PATIENT_WAITS = 3
"""That many in a row are no loop; the fourth counts as the second of something else."""
WINDOW = 16
CYCLE_LENGTHS = (2, 3)
CYCLE_REPEATS = 2


def level(moves: list[Move]) -> Level:
    """How stuck the last moves are.

    Typing other texts into other fields or scrolling a list that moves is none of it: the action or the screen
    differs then.
    """
    moves = moves[-WINDOW:]
    idle = _idle_repeats(moves)
    rounds = _rounds(moves)
    return max(_of_count(idle - 1), _of_count(rounds) if rounds >= CYCLE_REPEATS else Level.MOVING)


def _of_count(count: int) -> Level:
    return Level(min(max(count, Level.MOVING), Level.PERSON))


def _idle_repeats(moves: list[Move]) -> int:
    """How often the last action was done on a screen that it did not change, in a row."""
    count = 0
    for move in reversed(moves):
        if move.before != move.after or move.action != moves[-1].action or move.before != moves[-1].before:
            break
        count += 1
    if moves and moves[-1].action == WAITING:
        return max(0, count - PATIENT_WAITS + 1)
    return count


def _rounds(moves: list[Move]) -> int:
    """How often the last two or three moves were gone through, in a row (A-B-A-B is two rounds)."""
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
