"""Types for what the service sends to people: messages with pictures, buttons and menus, and replies to commands and
presses.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.address import MessageRef, Person

SEEN = "👀"
"""The reaction on a message that has become a task, added at once, before the card appears."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button below a message. `data` is sent back when it is pressed; it is at most 64 bytes (Telegram's limit for
    callback_data).
    """

    label: str
    data: str
    style: str = "secondary"
    """"primary", "secondary", "success" or "danger"."""


@dataclass(frozen=True, slots=True)
class Menu:
    """A list from which a person takes one choice, which comes back as a Press with that choice's data.

    If `Capabilities.menu_choices` is 0, menus cannot be sent.
    """

    choices: tuple[Button, ...]
    """The choices in order, at most `Capabilities.menu_choices`; their button styles are ignored."""
    prompt: str = ""
    """A few words that the closed menu shows."""
    turner: str = ""
    """The data of a press that asks for another page: `turner`, a colon and the page number from 0. The page is shown
    by an edit. "" shows all choices at once.
    """
    page: int = 0
    """The number of the page that is shown, from 0."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture or another file to send. The ending of `name` tells its type."""

    name: str
    data: bytes = field(repr=False)


class Tone(StrEnum):
    """The state of a task as a platform can show it at a glance, such as by a colour."""

    WORKING = "working"
    WAITING = "waiting"
    """A person has to do something before the task goes on."""
    DONE = "done"
    ANSWERED = "answered"
    UNVERIFIED = "unverified"
    DECLINED = "declined"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send, in plain text. Adapters escape it and disable mentions in it.

    They also split what is too long for the platform: picture, menu and buttons stay with the first part; very long
    text becomes a file.
    """

    heading: str = ""
    body: str = ""
    footer: str = ""
    picture: Picture | None = None
    files: tuple[Picture, ...] = ()
    buttons: tuple[tuple[Button, ...], ...] = ()
    menu: Menu | None = None
    """Shown above the buttons; an edit without a menu removes it."""
    notify: bool = False
    """Whether the platform should notify people; cards and steps are silent."""
    mention: Person | None = None
    """The person to mention; no other mention is ever sent."""
    reply_to: MessageRef | None = None
    card: bool = False
    """Whether this is the live card of its task, the one message that is edited while the task runs."""
    final: bool = False
    """Whether this message reports the end of its task."""
    tone: Tone | None = None
    """The state of its task; None unless the message is a card, a question or a final message."""
    task: str = ""
    """The number of the task whose event log contains the same, if the message is its card, a question, a file or its
    end.
    """
    private: bool = False
    """Whether only the person who asked should see it, where the platform can do that (an ephemeral reply)."""


Turn = Callable[[], Awaitable[None]]
"""Awaited before each call to the platform that sends or edits: it lets the call go when the budget allows it."""


async def at_once() -> None:
    """Return immediately: the `Turn` of a call that no rate limit counts."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command or a press. With no field set, nothing is said.

    `task` is the number of the task that was accepted, "" if none was. The task's card is sent separately, so a chat
    may leave `message` out if the card says enough.
    """

    message: Message | None = None
    task: str = ""
    told: bool = False
    """Whether a task's event log already shows the person's message, as an answer or a note."""
    toast: str = ""
    """A short notice in answer to a press, at most 200 characters, which disappears by itself."""
    turn: Turn = field(default=at_once, compare=False, repr=False)
    """Awaited before `message` is sent, so that it counts in the chat's budget."""
    mark_suffices: bool = False
    """Whether the chat already shows what `message` says, for instance in the answered question. Marking the
    person's message as seen is then enough.
    """
    shown: Message | None = None
    """The new contents of the pressed message; the adapter edits it at once, in answer to the press."""
    dead: bool = False
    """Whether the pressed message loses its buttons and keeps its text, because its question or task is over."""
    again: bool = False
    """Whether nothing was done because the database is unreachable. A message that its platform delivers again is then
    left unconfirmed; where it cannot come again, `message` says what happened.
    """
    change_turn: Turn = field(default=at_once, compare=False, repr=False)
    """Awaited before the pressed message is edited, where the platform counts such edits."""
