"""The data behind buttons: versioned, opaque, and nothing that a person or a model wrote.

A button only says where to look; who pressed it, and whether the question is still open, is checked at the press.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """What a button does."""

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
    """Below a task that takes a model: the choice is one of what can be done without, from 0."""
    NOW = "now"
    SCHEDULE = "plan"
    MISSED = "late"
    PAGE = "page"
    TRY = "try"
    HAND = "hand"
    """Below a phone's screen that somebody holds: `subject` is the hold, the choice a picture's number and a place."""
    TOUCH = "touch"
    """Shows the screen of the phone of a task that waits for a person there."""
    SAVE = "save"


@dataclass(frozen=True, slots=True)
class ButtonData:
    """What a pressed button means: `subject` is a task, a question's locator or an offer."""

    action: ButtonAction
    subject: str
    choice: str = ""


def button(action: ButtonAction, subject: str, label: str, *, choice: str = "", style: str = "secondary") -> Button:
    """A button. Raises ValueError when its data would not fit."""
    data = ":".join((VERSION, action.value, subject, choice) if choice else (VERSION, action.value, subject))
    if len(data.encode()) > MAX_BYTES:
        raise ValueError(f"button data of {len(data.encode())} bytes")
    return Button(label if len(label) <= LABEL_LIMIT else label[: LABEL_LIMIT - 1] + "…", data, style)


def stop_button(task: str) -> Button:
    """A button that ends the task."""
    return button(ButtonAction.STOP, task, say("button.stop"), style="danger")


def stop_phone_button(task: str, phone: str) -> Button:
    """A button that ends one phone's part of a task; the other phones continue."""
    return button(ButtonAction.STOP, task, say("button.stop_phone", phone=phone), style="danger")


def pause_button(task: str) -> Button:
    """A button that pauses the task."""
    return button(ButtonAction.PAUSE, task, say("button.pause"))


def take_over_button(task: str) -> Button:
    """A button that pauses the task while a person does something on the phone."""
    return button(ButtonAction.TAKE, task, say("button.take_over"))


def resume_button(task: str) -> Button:
    """A button that resumes the task."""
    return button(ButtonAction.RESUME, task, say("button.resume"), style="primary")


def again_button(task: str) -> Button:
    """A button that repeats the task."""
    return button(ButtonAction.AGAIN, task, say("button.again"))


def instead_buttons(task: str, choices: Sequence[str]) -> tuple[Button, ...]:
    """Each gives what can be done instead of the task as a new one."""
    return tuple(button(ButtonAction.INSTEAD, task, text, choice=str(number)) for number, text in enumerate(choices))


def now_button(task: str) -> Button:
    """A button that moves a waiting task to the head of its queue."""
    return button(ButtonAction.NOW, task, say("button.now"))


def read_button(data: str) -> ButtonData | None:
    """The meaning of a button's data; None for data that this version never made."""
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
