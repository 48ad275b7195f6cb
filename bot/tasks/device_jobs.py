"""Derives the state, outcome and result of a task for several phones from its parts. Each part is a task for
one phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.events import Source
from agent.models.base import Usage
from agent.run import Outcome
from bot.domain.task import TRANSITIONS, Task, TaskState, moved
from bot.texts import say, speaking

_WORST_LAST = (
    Outcome.SUCCEEDED,
    Outcome.ANSWERED,
    Outcome.UNVERIFIED,
    Outcome.CANCELLED,
    Outcome.DECLINED,
    Outcome.BLOCKED,
    Outcome.FAILED,
)


def standing(parts: Sequence[Task]) -> TaskState:
    """Return the state of a task with these parts.

    A part that needs a person comes first: if one is interrupted, the whole task is, because that part waits to be
    resumed. Once a part has begun, the task is working as long as any part is working or queued. After that it is
    waiting if any part waits for an answer, otherwise paused.
    """
    states = {part.state for part in parts}
    live = states - {TaskState.ENDED}
    if not live:
        return TaskState.ENDED
    if TaskState.INTERRUPTED in live:
        return TaskState.INTERRUPTED
    if states == {TaskState.QUEUED}:
        return TaskState.QUEUED
    if live & {TaskState.WORKING, TaskState.QUEUED}:
        return TaskState.WORKING
    return TaskState.WAITING if TaskState.WAITING in live else TaskState.PAUSED


def outcome_of(parts: Sequence[Task]) -> Outcome:
    """Return the outcome of the whole task: success if all parts succeeded, otherwise the worst outcome among them."""
    return max((part.outcome or Outcome.FAILED for part in parts), key=_WORST_LAST.index)


def followed(task: Task, parts: Sequence[Task], *, now: float, frame: str | None = None) -> Task:
    """Return the task with its state, step count and usage updated from its parts. `frame` is the newest screenshot's
    id; `now` is in Unix seconds.
    """
    usage = sum((part.usage for part in parts), Usage())
    task = replace(task, steps=sum(part.steps for part in parts), usage=usage, frame=frame or task.frame)
    to = standing(parts)
    if to is TaskState.QUEUED and task.started is not None:
        # After a restart all parts wait for their phones again, but the task has already begun.
        to = TaskState.WORKING
    if to is task.state:
        return task
    if to is TaskState.ENDED:
        ended = moved(task, to, now=now, outcome=outcome_of(parts))
        with speaking(task.person.language):
            lacks = next((part.needs_model for part in parts if part.needs_model is not None), None)
            return replace(
                ended,
                summary=summary_of(parts),
                data=data_of(parts),
                sources=sources_of(parts),
                needs_model=lacks,
            )
    # What one part does after another may need two moves of the table for all of them: waiting, working, paused.
    if to not in TRANSITIONS[task.state]:
        task = moved(task, TaskState.WORKING, now=now)
    return moved(task, to, now=now)


def summary_of(parts: Sequence[Task]) -> str:
    """Return a text that says how many parts are done, followed by each phone's outcome and summary."""
    done = sum(part.outcome is Outcome.SUCCEEDED for part in parts)
    lines = [say("parts.done", done=done, total=len(parts))]
    for number, part in enumerate(parts, 1):
        outcome = say(f"outcome.{part.outcome}")
        lines.append(say("parts.ended", number=number, phone=part.phone_name, outcome=outcome, summary=part.summary))
    return "\n".join(lines)


def data_of(parts: Sequence[Task]) -> str | None:
    """Return the data that the phones found, as text under each phone's name; None if none found any."""
    return "\n".join(f"{part.phone_name}: {part.data}" for part in parts if part.data) or None


def sources_of(parts: Sequence[Task]) -> tuple[Source, ...]:
    """Return the web pages that were read for any of the parts, without duplicates."""
    return tuple({page.url: page for part in parts for page in part.sources}.values())
