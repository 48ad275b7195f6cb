"""Several phones on one card: a line for each, and their last screens side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.cards.words import action_line, shortened
from bot.tasks.model import PartNow, TaskState
from bot.texts import say

PARTS_ROOM = 640
"""Characters for all lines together: what one caption (1024 characters) leaves beside the title and the meter."""
PARTS_SHOWN = 16
LINE_LIMIT = 120
LINE_LEAST = 40
NEWEST = "▶ "
"""Stands before the phone whose screen is shown."""


def part_lines(parts: Sequence[PartNow], notes: Mapping[str, str], *, newest: str = "") -> list[str]:
    """A line for each phone: state or step, app, last action, or what it waits for.

    `notes` are by the id of the part; `newest` is the id of the part whose screen is shown.
    """
    shown = parts[:PARTS_SHOWN]
    room = max(LINE_LEAST, min(LINE_LIMIT, PARTS_ROOM // max(1, len(shown))))
    lines = []
    for number, part in enumerate(shown, 1):
        words = [f"{number}. {part.task.phone_name}", _standing(part)]
        if part.task.state is not TaskState.ENDED:
            words.append(notes.get(part.task.id, "") or (action_line(part.step.summary) if part.step else ""))
        line = shortened(" · ".join(word for word in words if word), room)
        lines.append(f"{NEWEST}{line}" if part.task.id == newest and len(parts) > 1 else line)
    hidden = len(parts) - len(shown)
    return [*lines, say("todo.more", number=hidden)] if hidden else lines


def _standing(part: PartNow) -> str:
    task, step = part.task, part.step
    match task.state:
        case TaskState.ENDED:
            return say(f"outcome.{task.outcome}")
        case TaskState.QUEUED if part.place is not None:
            return say("card.queued_at", place=part.place)
        case TaskState.WORKING if step is not None:
            line = say("card.step", step=step.step, max_steps=step.max_steps)
            return f"{line} · {step.app_shown}" if step.app else line
        case _:
            return say(f"parts.state.{task.state}")
