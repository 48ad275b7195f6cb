"""Makes and reads the data behind buttons. It is versioned and contains nothing that a person or a model wrote.

A button only identifies what it is about. Who pressed it, and whether the question is still open, is checked when it
is pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.outgoing import Button
from bot.texts import say

VERSION = "1"
MAX_BYTES = 64
"""Telegram's limit of callback_data; Discord's custom_id takes 100 characters."""
LABEL_LIMIT = 80
"""Discord's limit of a button's label."""


class ButtonAction(StrEnum):
    """The action of a button; the values are stored in the data of buttons that were sent."""

    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    ANSWER = "ans"
    RUN = "run"
    STEER = "steer"
    OLDER = "older"
    TAKE = "take"
    AGAIN = "again"
    INSTEAD = "instead"
    """Below a task that needs a model: `choice` is the index of an instruction that works without one."""
    NOW = "now"
    SCHEDULE = "plan"
    MISSED = "late"
    PAGE = "page"
    TRY = "try"
    HAND = "hand"
    """Below the screen of a phone that a person operates: `subject` is the session, `choice` a picture and a place."""
    TOUCH = "touch"
    """Shows the phone's screen when its task waits for a person to do something there."""
    SAVE = "save"


@dataclass(frozen=True, slots=True)
class ButtonData:
    """The meaning of a pressed button.

    - `subject`: What it is about, such as the id of a task, a question's locator, or the id of an offer.
    - `choice`: Which of several choices it stands for; "" if there is only one.
    """

    action: ButtonAction
    subject: str
    choice: str = ""


def button(action: ButtonAction, subject: str, label: str, *, choice: str = "", style: str = "secondary") -> Button:
    """Return a button with this action, subject and choice. A long label is shortened; raises ValueError when the data
    exceeds `MAX_BYTES`.
    """
    data = ":".join((VERSION, action.value, subject, choice) if choice else (VERSION, action.value, subject))
    if len(data.encode()) > MAX_BYTES:
        raise ValueError(f"button data of {len(data.encode())} bytes")
    return Button(label if len(label) <= LABEL_LIMIT else label[: LABEL_LIMIT - 1] + "…", data, style)


def _of_task(action: ButtonAction, label: Callable[[], str], style: str = "secondary") -> Callable[[str], Button]:
    return lambda task: button(action, task, label(), style=style)


stop_button = _of_task(ButtonAction.STOP, lambda: say("button.stop"), "danger")
"""Returns a button that ends the task."""
pause_button = _of_task(ButtonAction.PAUSE, lambda: say("button.pause"))
"""Returns a button that pauses the task."""
take_over_button = _of_task(ButtonAction.TAKE, lambda: say("button.take_over"))
"""Returns a button that pauses the task while a person does something on the phone."""
resume_button = _of_task(ButtonAction.RESUME, lambda: say("button.resume"), "primary")
"""Returns a button that resumes the task."""
again_button = _of_task(ButtonAction.AGAIN, lambda: say("button.again"))
"""Returns a button that gives the task again as a new one."""
now_button = _of_task(ButtonAction.NOW, lambda: say("button.now"))
"""Returns a button that moves a waiting task to the head of its queue."""


def stop_phone_button(task: str, phone: str) -> Button:
    """Return a button that ends one phone's part of a task; the other phones continue."""
    return button(ButtonAction.STOP, task, say("button.stop_phone", phone=phone), style="danger")


def instead_buttons(task: str, choices: Sequence[str]) -> tuple[Button, ...]:
    """Return one button per choice; each gives that text as a new task, in place of `task`, which needs a model."""
    return tuple(button(ButtonAction.INSTEAD, task, text, choice=str(number)) for number, text in enumerate(choices))


def read_button(data: str) -> ButtonData | None:
    """Return the meaning of a button's data; None if this version of the program cannot have made it."""
    parts = data.split(":")
    if len(parts) not in {3, 4} or parts[0] != VERSION or not all(parts):
        return None
    if not data.isascii() or len(data) > MAX_BYTES:
        return None
    try:
        action = ButtonAction(parts[1])
    except ValueError:
        return None
    return ButtonData(action, parts[2], parts[3] if len(parts) == 4 else "")
