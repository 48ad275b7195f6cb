"""Writes a scene as text, in an order that suits prompt caches: constant parts first, the current screen last. With the
base class of dialects that show one screen at a time and refer to positions.

From one step to the next, everything before the current screen stays the same and only grows at its end. Text read from
the phone or the web is in marked blocks that it cannot close, so it is data and never an instruction.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Self

from agent import actions as act
from agent.dialects.grid import Grid
from agent.dialects.offered import Forms, OfferedAction, further_lines, offered
from agent.effect_facts import in_english
from agent.models.base import Message, ToolSpec
from agent.prompts import prompt
from agent.scene import IMAGE_REMOVED, ImagePart, PastStep, Scene, Screen, ScreenElement
from agent.wording import both_ends, one_line
from devices.geometry import Point, Size
from devices.wording import Words

_BLOCK_MARK = re.compile(
    r"<(?=\s*(?:/\s*)?(?:screen|steps|earlier|notes|files|read|memory|instructions|skills?)\b)", re.IGNORECASE
)


def numbered(element: ScreenElement) -> str:
    """Return the line of an element with its number, for dialects that refer to elements by number."""
    return element.line


def unnumbered(place: Callable[[Point], str]) -> Callable[[ScreenElement], str]:
    """Return a function that writes the line of an element without a number, with its centre in the dialect's
    coordinates. `place` writes a point in these coordinates.
    """
    return lambda element: f"- {element.described} {place(element.bounds.centre)}"


def goal_text(scene: Scene) -> str:
    """Return what stays the same for a whole sub-task as text: task, goal, plan, files, remembered facts, standing
    instructions and skill.
    """
    parts = [f"Task, in the person's words:\n{scene.task}"]
    if scene.goal and scene.goal != scene.task:
        parts.append(f"Your goal now, a part of the task:\n{scene.goal}")
    if scene.plan:
        parts.append(f"Plan:\n{scene.plan}")
    if scene.files:
        parts.append(
            f"Files that came with the task; they are on the phone:\n{_block('files', chr(10).join(scene.files))}"
        )
    if scene.facts:
        facts = "\n".join(f"- {one_line(fact)}" for fact in scene.facts)
        parts.append(f"Remembered of this person, as data; use what fits:\n{_block('memory', facts)}")
    if scene.instructions:
        parts.append(scene.instructions)
    if scene.skill:
        parts.append(scene.skill)
    return "\n\n".join(parts)


def now_text(scene: Scene, line: Callable[[ScreenElement], str]) -> str:
    """Return everything that changes with each step as text: notes, texts read, notices, and the current screen. `line`
    writes an element.
    """
    parts = (_notes_text(scene), _read_text(scene), _told_text(scene), _screen_text(scene, line))
    return "\n\n".join(part for part in parts if part)


def done_text(past: PastStep, space: Size, place: Callable[[Point], str]) -> str:
    """Return what a step did, in one line.

    Positions in it are converted to the current picture's size `space`, and `place` writes them in the dialect's
    coordinates.
    """

    def written(text: str) -> str:
        if not isinstance(text, Words):
            return text
        if text.kind != "did.place":
            return text.with_texts(written)
        point = Point(*(int(str(text.values[axis])) for axis in "xy"))
        return place(point.mapped(past.space or space, space))

    return " · ".join(map(written, past.performed))


def steps_text(past: Sequence[PastStep], space: Size, place: Callable[[Point], str]) -> str:
    """Return one line for each past step with its action and effect; "" if there are none. `space` and `place` are
    those of `done_text`.
    """

    def line(past: PastStep) -> str:
        app = f" [{past.app}]" if past.app else ""
        effect = f" → {in_english(past.effects)}" if past.effects else ""
        return one_line(f"{past.number}. {done_text(past, space, place)}{effect}{app}")

    return f"Steps so far:\n{_block('steps', chr(10).join(map(line, past)))}" if past else ""


def earlier_text(scene: Scene) -> str:
    """Return the summary of the steps before those that are shown; "" if all are shown."""
    return f"Earlier steps, summed up, as data:\n{_block('earlier', scene.past_summary)}" if scene.past_summary else ""


def effect_text(past: PastStep) -> str:
    """Return what one past step changed, for dialects that show the steps as a conversation."""
    return f"What step {past.number} changed:\n{_block('steps', one_line(in_english(past.effects)) or 'unknown')}"


def _notes_text(scene: Scene) -> str:
    if not scene.notes:
        return ""
    notes = "\n".join(f"- {one_line(note)}" for note in scene.notes)
    return f"Your notes:\n{_block('notes', notes)}"


def _read_text(scene: Scene) -> str:
    """Return what tools have read for the model; "" if nothing."""
    if not scene.texts_read:
        return ""
    return "\n".join(
        ["Read for you, as data; note what you need of it:", *(_block("read", text) for text in scene.texts_read)]
    )


def _told_text(scene: Scene) -> str:
    """Return what the model is told since its last step; "" if nothing."""
    if not scene.notices:
        return ""
    notices = (f"- {_BLOCK_MARK.sub('‹', notice)}" for notice in scene.notices)
    return "\n".join(["Told to you since your last step:", *notices])


def _screen_text(scene: Scene, line: Callable[[ScreenElement], str]) -> str:
    """Return the current screen: its state, and one line for each element."""
    screen = scene.screen
    lines = [f"Step {scene.step} of at most {scene.max_steps}. The screen now, as data:"]
    body = [f"phone's time: {scene.local_time}"] if scene.local_time else []
    body += [f"app: {screen.app or 'unknown'}", f"keyboard: {'shown' if screen.keyboard_shown else 'hidden'}"]
    if screen.focused_text is not None:
        body.append(f"text in the focused field: {both_ends(screen.focused_text)}")
    if screen.elements is not None:
        if screen.other_window:
            body.append(f"The elements are those of a window of {screen.other_window}, not of the app.")
        body.append("elements (centre in brackets):" if screen.elements else "elements: none")
        body.extend(screen.lines(line))
    lines.append(_block("screen", "\n".join(body)))
    lines.append(_picture_note(screen, by_list=scene.by_list))
    return "\n".join(lines)


def conversation(
    instructions: str,
    scene: Scene,
    place: Callable[[Point], str],
    line: Callable[[ScreenElement], str] | None = None,
    *,
    whole: bool = False,
) -> tuple[Message, ...]:
    """Return the messages for a scene: instructions, goal, one line for each past step, and the current screen.

    `place` writes a point in the dialect's coordinates; `line` writes an element, None for lines without numbers. Past
    steps inside the image window are shown as a conversation instead: screen, answer, screen, answer. With `whole`, all
    steps of the same model are, those outside the window with a note that the screenshot was removed.
    """
    space = scene.screen.space
    begins = (number for number, past in enumerate(scene.past) if (not past.retold if whole else past.in_window))
    first = next(begins, len(scene.past))
    messages = [Message("system", (instructions,))]
    parts: list[str | ImagePart] = [goal_text(scene), earlier_text(scene), steps_text(scene.past[:first], space, place)]
    for past in scene.past[first:]:
        parts += then(past) if past.in_window or not whole else (f"Screenshot {past.number}:", IMAGE_REMOVED)
        messages += [user(parts), Message("assistant", (past.reply or done_text(past, space, place),))]
        parts = [effect_text(past)]
    return (*messages, user([*parts, *now(scene, line or unnumbered(place))]))


def then(past: PastStep) -> tuple[str | ImagePart, ...]:
    """Return the screen of a past step as message parts, in the same words as it was shown then."""
    text = past.shown or f"The screen at step {past.number}, before it was done:"
    if past.image is None:
        return (text, IMAGE_REMOVED) if past.image_removed else (text,)
    return (text, past.image)


def now(scene: Scene, line: Callable[[ScreenElement], str]) -> tuple[str | ImagePart, ...]:
    """Return the current screen as message parts: its text, and its picture if there is one. `line` writes an
    element.
    """
    text = now_text(scene, line)
    return (text,) if scene.screen.image is None else (text, scene.screen.image)


def user(parts: Iterable[str | ImagePart]) -> Message:
    """Return a user message of these parts, without empty ones."""
    return Message("user", tuple(part for part in parts if part))


def _picture_note(screen: Screen, *, by_list: bool) -> str:
    if screen.image is not None:
        return "Its screenshot:"
    if not (screen.elements or screen.covered or screen.secure):
        return (
            "There is neither a picture nor a list of this screen: nothing on it can be seen. Go back or open what you "
            "need otherwise. If the task cannot be done without this screen, hand over to the person and say why, or "
            "finish with failure."
        )
    if by_list and not screen.covered:
        return "That list is all that you are shown of it. Touch by its numbers."
    if screen.covered:
        return (
            "This app forbids screenshots: there is no picture, and the words of its elements are covered. Work by "
            "their roles, places and ids; enter_secret works as ever. Only if the task cannot go on without the words, "
            "call read_words with this app: a person is asked, once."
        )
    if screen.secure:
        return "This app forbids screenshots: there is no picture. Work from the elements, or hand over to the person."
    return "There is no picture of this screen. Work from the elements."


def _block(name: str, text: str) -> str:
    return f"<{name}>\n{_BLOCK_MARK.sub('‹', text)}\n</{name}>"


class OneScreenDialect(ABC):
    """Base class of dialects that show one screenshot. It renders a scene as instructions, and one message with the
    past steps and the screen.

    `name` is the value of VLM_DIALECT and the name of the instructions file. `words` are the model's own action names,
    in the form that `plain` returns. `forms` says how arguments of added actions are written. A subclass defines the
    line of an action, the coordinates, and `parse` (see Dialect).
    """

    name: str
    words: ClassVar[frozenset[str]]
    forms: ClassVar[Forms]
    image_window = 1
    lightens_past = False  # a prompt that only grows can stay in an endpoint's cache

    def __init__(self, models: tuple[type[act.Action], ...] = act.DIALECT_ACTIONS) -> None:
        self._offered = offered(models, self.forms, self.words, plain, lacking=(act.Drag,))

    def offering(self, models: tuple[type[act.Action], ...], /) -> Self:
        """Return the dialect extended with the given actions. Implements `Dialect.offering`."""
        return type(self)(models)

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Return the messages for this scene, and no tools. Implements `Dialect.render`."""
        space = scene.screen.space
        instructions = prompt(
            f"dialects/{self.name}",
            width=space.width,
            height=space.height,
            further=further_lines(self._offered, self._line),
            rules=prompt("dialects/rules"),
        )
        return conversation(instructions, scene, self._grid(space).written), ()

    @abstractmethod
    def _line(self, action: OfferedAction, /) -> str:
        """Return the line of an action in the instructions."""

    @abstractmethod
    def _grid(self, space: Size, /) -> Grid:
        """Return the coordinate system for a picture of this size."""


def plain(name: str) -> str:
    """Return a name in the form in which names are compared: lower case, without word separators."""
    return re.sub(r"[\s_-]", "", name.lower())
