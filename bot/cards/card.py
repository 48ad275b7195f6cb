"""Composes the card of a task: the one message that shows its progress and is edited in place, with a line per phone
if several work on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Required, TypedDict, Unpack

from agent.events import Todo
from agent.members.loading import EXECUTOR
from agent.ports.stores import Frames
from bot.cards.buttons import now_button, pause_button, resume_button, stop_button, take_over_button
from bot.cards.formatting import (
    about,
    duration,
    elapsed,
    outcome_line,
    shortened,
    step_words,
    title_of,
    tokens,
    tone_of,
)
from bot.cards.picture import screen_picture
from bot.domain.outgoing import Button, Message
from bot.domain.task import Ahead, PartNow, StepRow, Task, TaskState
from bot.texts import say

PARTS_ROOM = 640
"""Characters for all lines together: what a caption (1024 characters) leaves next to title and footer."""
PARTS_SHOWN = 16
LINE_LIMIT = 120
LINE_LEAST = 40
NEWEST = "▶ "
"""Marks the line of the phone whose screen is shown."""

_MAY_WAIT = frozenset({TaskState.QUEUED, TaskState.WORKING})
"""States in which a task may wait for a phone, also after working: it may have begun without one, or lost it."""


def part_lines(parts: Sequence[PartNow], notes: Mapping[str, str], *, newest: str = "") -> list[str]:
    """Return one line per phone of a task, for the first `PARTS_SHOWN` phones, and a line that says how many more there
    are. A line gives the phone's state or step, its app, and its last action or what it is waiting for.

    `notes` are words by the id of a part, shown instead of its last action; `newest` is the id of the part whose screen
    is shown.
    """
    shown = parts[:PARTS_SHOWN]
    room = max(LINE_LEAST, min(LINE_LIMIT, PARTS_ROOM // max(1, len(shown))))
    lines = []
    for number, part in enumerate(shown, 1):
        words = [f"{number}. {part.task.phone_name}", _standing(part)]
        if part.task.state is not TaskState.ENDED:
            words.append(notes.get(part.task.id, "") or (step_words(part.step) if part.step else ""))
        line = shortened(" · ".join(word for word in words if word), room)
        lines.append(f"{NEWEST}{line}" if part.task.id == newest and len(parts) > 1 else line)
    hidden = len(parts) - len(shown)
    return [*lines, say("todo.more", number=hidden)] if hidden else lines


def skill_line(task: Task) -> str:
    """Return a line that names the skill that the task follows, with its arguments; "" if it follows none."""
    if (skill := task.request.skill) is None:
        return ""
    values = ", ".join(f"{name}={value}" for name, value in skill.arguments.items())
    return say("card.skill_with", name=skill.name, values=values) if values else say("card.skill", name=skill.name)


def _standing(part: PartNow) -> str:
    task, step = part.task, part.step
    match task.state:
        case TaskState.ENDED:
            return say(f"outcome.{task.outcome}")
        case TaskState.QUEUED if part.place is not None:
            return say("card.queued_at", place=part.place)
        case TaskState.WORKING if step is not None:
            line = say("card.step", step=step.step)
            return f"{line} · {step.app_shown}" if step.app else line
        case _:
            return say(f"parts.state.{task.state}")


TODO_LINES = 8
"""So that a card stays within one caption (1024 characters) on every platform."""
TODO_LIMIT = 60
NOTE_LIMIT = 160
STEP_LIMIT = 120
"""Maximum characters of a step in a message about several."""
STEP_LEAST = 12
_TODO_SIGNS = {"pending": "○", "in progress": "▶", "completed": "✓", "failed": "✗", "declined": "✋", "refused": "–"}


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What a card shows of a task besides the stored task itself."""

    step: StepRow | None = None
    """The task's latest step."""
    place: int | None = None
    """The task's place in the queue, from 1; None if it is not waiting for a phone."""
    ahead: Ahead | None = None
    """The task that has the phone for which it waits."""
    ending: bool = False
    """Whether it was cancelled and its last action has not finished."""
    parts: Sequence[PartNow] = ()
    """The parts of a task for several phones."""

    def screen(self, task: Task) -> tuple[str | None, tuple[int, int] | None]:
        """Return the reference of the screenshot to show (None for none), and the pixel (x, y) that was touched on it
        (None if none was).
        """
        step = self.step
        return (step.frame, step.mark) if step is not None and step.frame else (task.frame, None)


class CardOptions(TypedDict, total=False):
    """The options of `card_text`."""

    now: Required[float]
    note: Callable[[str], str]
    counts_down: bool


async def render_card(task: Task, facts: CardFacts, *, frames: Frames, **options: Unpack[CardOptions]) -> Message:
    """Return the card as it should be now: the text of `card_text`, with a screenshot.

    There is no screenshot if the task has ended, or if the chat shows the screen by itself (`counts_down`).
    """
    message = card_text(task, facts, **options)
    if options.get("counts_down") or task.state is TaskState.ENDED:
        return message
    return replace(message, picture=await screen_picture(frames, *facts.screen(task)))


def card_text(
    task: Task,
    facts: CardFacts,
    *,
    now: float = 0.0,
    note: Callable[[str], str] = lambda _task: "",
    counts_down: bool = False,
) -> Message:
    """Return the card without its picture.

    - `now`: Unix seconds.
    - `note`: Returns extra words about a task or part by its id, such as that its phone is being waited for; "" for
      none.
    - `counts_down`: Whether the chat shows time, steps and plan of a task by itself.

    The card of an ended task is final: it shows the outcome and has no buttons; the final message says the rest.
    """
    notes = {part.task.id: note(part.task.id) for part in facts.parts}
    if task.state is TaskState.ENDED and task.outcome is not None:
        lines = [outcome_line(task.outcome), *part_lines(facts.parts, notes), *_todo_lines(task.todos)]
        return Message(heading=title_of(task), body="\n".join(lines), card=True, task=task.id, tone=tone_of(task))
    step = facts.step
    shown = None if task.parts else step
    if counts_down and shown is not None and task.state is TaskState.WORKING and not facts.ending:
        body = [shortened(shown.app_shown, TODO_LIMIT)] if shown.app else []
    else:
        body = [say("card.ending") if facts.ending else _live_line(task, shown, facts.place, facts.ahead)]
    if followed := skill_line(task):
        body.append(shortened(followed, NOTE_LIMIT))
    if facts.parts:
        body += part_lines(facts.parts, notes, newest=step.part if step is not None else "")
    elif step is not None and step.summary and not step.is_shown_elsewhere:
        body.append(step_words(step))
    if told := note(task.id):
        body.append(shortened(told, NOTE_LIMIT))
    if not counts_down:
        body += _todo_lines(task.todos)
    return Message(
        heading=title_of(task),
        body="\n".join(body),
        footer=tokens(task.usage) if counts_down else _meter(task, now),
        buttons=() if facts.ending else _buttons(task, facts.place),
        card=True,
        task=task.id,
        tone=tone_of(task),
    )


def _live_line(task: Task, step: StepRow | None, queue_place: int | None, ahead: Ahead | None) -> str:
    """Return the state of an unfinished task, and before its first step what is being done."""
    if task.state is TaskState.QUEUED and queue_place is None:
        return say("card.planning")
    if queue_place is not None and ahead is not None:
        line = say("card.queued_behind", place=queue_place, task=ahead.task.called)
        if ahead.task.state is TaskState.WAITING:  # for how long is up to a person
            return say("card.behind_question", line=line)
        return line if ahead.seconds is None else f"{line} · {say('card.about', time=about(ahead.seconds))}"
    if task.state is TaskState.WORKING and step is None and task.members_at_work and not task.holds_phone:
        return say("state.working")
    if task.state is TaskState.WORKING and step is None and queue_place is None and not task.parts:
        return say("card.looking" if task.frame is None else "card.deciding")
    return state_line(task, step, queue_place)


def render_step(step: StepRow) -> Message:
    """Return one step as a silent message. Its screenshot is on the card."""
    progress = f"{step.phone_name} · {_progress(step)}" if step.part else _progress(step)
    return Message(heading=say("card.step_of", task=step.task, progress=progress), body=step_words(step))


def render_steps(steps: Sequence[StepRow], *, limit: int) -> Message:
    """Return several steps of a task as one silent message of about `limit` characters at most.

    Their screenshots are shown on the card, one after the other, and in the recap.
    """
    first, last = steps[0], steps[-1]
    if last.part:
        heading = say("parts.steps", task=last.task)
    else:
        heading = say("card.steps_of", task=last.task, first=first.step, last=last.step)
    room = max(STEP_LEAST, (limit - len(heading)) // len(steps) - 1)
    lines = [shortened(f"{step.phone_name} {step.step}. {step_words(step)}", min(room, STEP_LIMIT)) for step in steps]
    return Message(heading=heading, body="\n".join(lines))


def state_line(task: Task, step: StepRow | None, queue_place: int | None = None) -> str:
    """Return the state of a task in one line. `queue_place` is its place in the queue, from 1; None if it is not
    waiting.
    """
    match task.state:
        case TaskState.ENDED:
            return say(f"outcome.{task.outcome}")
        case TaskState.QUEUED | TaskState.WORKING if queue_place is not None:
            return say("card.queued_at", place=queue_place)
        case TaskState.WORKING if step is not None:
            return _progress(step)
        case _:
            return say(f"state.{task.state}")


def _progress(step: StepRow) -> str:
    """Return the step's number and app, without the maximum number of steps, which few tasks need."""
    line = say("card.step", step=step.step)
    return f"{line} · {shortened(step.app_shown, TODO_LIMIT)}" if step.app_shown else line


def _meter(task: Task, now: float) -> str:
    return " · ".join(part for part in (duration(elapsed(task, now)), tokens(task.usage)) if part)


def _todo_lines(todos: Sequence[Todo]) -> list[str]:
    """Return the lines of the todo list; of a long list, those around the first entry in progress or pending, and how
    many are left out.
    """
    current = next((number for number, todo in enumerate(todos) if todo.state in {"in progress", "pending"}), 0)
    first = max(0, min(current - 1, len(todos) - TODO_LINES))
    shown = todos[first : first + TODO_LINES]
    lines = [f"{_TODO_SIGNS[todo.state]} {_who(todo)}{shortened(todo.title, TODO_LIMIT)}" for todo in shown]
    hidden = len(todos) - len(shown)
    return [*lines, say("todo.more", number=hidden)] if hidden else lines


def _who(todo: Todo) -> str:
    """Return the team member who does it as a prefix; "" if it is done on the phone."""
    return "" if todo.member == EXECUTOR else f"{todo.member}: "


def _buttons(task: Task, queue_place: int | None) -> tuple[tuple[Button, ...], ...]:
    match task.state:
        case TaskState.ENDED:
            return ()
        case TaskState.WORKING:
            hands = () if task.members_at_work and not task.holds_phone else (take_over_button(task.id),)
            return ((stop_button(task.id), pause_button(task.id), *hands),)
        case TaskState.PAUSED | TaskState.INTERRUPTED:
            return ((resume_button(task.id), stop_button(task.id)),)
        case TaskState.QUEUED if queue_place is not None and queue_place > 1:
            return ((stop_button(task.id), now_button(task.id)),)
        case _:
            return ((stop_button(task.id),),)


class KnowsTasks(Protocol):
    """The source of what a card shows besides the stored task; the task service implements it."""

    async def last_step(self, task: str) -> StepRow | None:
        """Return the task's latest step; None before the first one."""

    async def place_in_queue(self, task: str) -> int | None:
        """Return the task's place in the queue, from 1; None if it is not waiting for a phone."""

    async def ahead(self, task: Task) -> Ahead | None:
        """Return the task that has the phone for which this one waits, and the estimated wait; None if there is none,
        or if this one does not wait for a phone.
        """

    async def parts_now(self, task: str) -> Sequence[PartNow]:
        """Return the progress of each part of a task on several phones."""

    def ending(self, task: str) -> bool:
        """Return whether the task was cancelled and its last action has not finished."""


async def live_card(task: Task, known: KnowsTasks, *, frames: Frames, **options: Unpack[CardOptions]) -> Message:
    """Return the task's card as it is now; arguments as in `render_card`."""
    place = await known.place_in_queue(task.id) if task.state in _MAY_WAIT else None
    facts = CardFacts(
        await known.last_step(task.id),
        place,
        await known.ahead(task) if place is not None else None,
        known.ending(task.id),
        await known.parts_now(task.id) if task.parts else (),
    )
    return await render_card(task, facts, frames=frames, **options)
