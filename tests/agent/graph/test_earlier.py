"""The tasks before this one, as whoever plans and works is told of them."""

from __future__ import annotations

from agent.graph.main.state import begun
from agent.ports.agent import EarlierTask, TaskOrder


def test_what_is_long_ago_is_told_in_short_and_what_has_not_ended_as_it_is() -> None:
    earlier = [
        EarlierTask(text=f"question {number}", outcome="succeeded", summary=f"{number}" * 5_000) for number in range(7)
    ]
    earlier.append(EarlierTask(text="the last one", outcome="", summary=""))
    notes = begun(TaskOrder(task="9", text="and now?", earlier=tuple(earlier)))["findings"]["notes"]
    assert [note.count(f"{number}") >= 1_000 for number, note in enumerate(notes[:7])] == [False] * 5 + [True] * 2
    assert all(f"question {number}" in note for number, note in enumerate(notes[:7]))
    assert notes[7] == "Before this the person asked: the last one. That has not ended yet."
    assert sum(map(len, notes)) < 6_500
