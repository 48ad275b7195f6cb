from __future__ import annotations

import pytest

from agent.run import Outcome
from bot.domain.task import TRANSITIONS, Task, TaskState, WrongState, moved
from tests.bot.records import a_task

QUEUED, WORKING, WAITING, PAUSED, INTERRUPTED, ENDED = TaskState

TABLE = {
    (QUEUED, WORKING),
    (QUEUED, WAITING),
    (QUEUED, PAUSED),
    (QUEUED, INTERRUPTED),
    (QUEUED, ENDED),
    (WORKING, WAITING),
    (WORKING, PAUSED),
    (WORKING, INTERRUPTED),
    (WORKING, ENDED),
    (WAITING, WORKING),
    (WAITING, QUEUED),
    (WAITING, ENDED),
    (PAUSED, QUEUED),
    (PAUSED, WORKING),
    (PAUSED, WAITING),
    (PAUSED, ENDED),
    (INTERRUPTED, WORKING),
    (INTERRUPTED, QUEUED),
    (INTERRUPTED, ENDED),
}


def task_in(state: TaskState) -> Task:
    return a_task(id="1", state=state, phone="", steps=0, created=1.0, started=None)


def test_the_table_is_the_products() -> None:
    assert {(before, after) for before, following in TRANSITIONS.items() for after in following} == TABLE


@pytest.mark.parametrize("before", TaskState)
@pytest.mark.parametrize("after", TaskState)
def test_a_change_is_in_the_table_or_is_refused(before: TaskState, after: TaskState) -> None:
    outcome = Outcome.FAILED if after is ENDED else None
    if (before, after) not in TABLE:
        with pytest.raises(WrongState, match=r"Task 1 .* now"):
            moved(task_in(before), after, now=5.0, outcome=outcome)
        return
    task = moved(task_in(before), after, now=5.0, outcome=outcome)
    assert task.state is after
    assert task.outcome is outcome
    assert task.started == (5.0 if after is WORKING else None)
    assert task.ended == (5.0 if after is ENDED else None)


def test_the_first_start_counts() -> None:
    task = moved(moved(moved(task_in(QUEUED), WORKING, now=5.0), PAUSED, now=6.0), WORKING, now=7.0)
    assert task.started == 5.0
