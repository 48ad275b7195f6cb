"""What goes out to people: messages with their pictures, buttons and menus, and the answers to what they did."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.address import MessageRef, Person

SEEN = "👀"
"""The reaction to a message that has become a task, at once and before its card."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button. `data` is at most 64 bytes (Telegram's callback_data), opaque and versioned."""

    label: str
    data: str
    style: str = "secondary"
    """"primary", "secondary", "success" or "danger"."""


@dataclass(frozen=True, slots=True)
class Menu:
    """A list of which one choice is taken: it comes back as a Press with that choice's data.

    The data are as opaque and as durable as a button's. Where `Capabilities.menu_choices` is 0 there are no menus.
    """

    choices: tuple[Button, ...]
    """In their order; at most `Capabilities.menu_choices`. Their styles have no meaning here."""
    prompt: str = ""
    """What stands in the closed menu, a few words."""
    turner: str = ""
    """Where a menu is shown in pages: a press with these data and a page's number behind a colon (from 0) asks for
    that page, which comes as an edit. "" shows all choices at once."""
    page: int = 0
    """The page that is shown, where there are any."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture or file to show; `name` ends as its type does."""

    name: str
    data: bytes = field(repr=False)


class Tone(StrEnum):
    """How a task stands, where a platform can show that at a glance, such as by a colour."""

    WORKING = "working"
    WAITING = "waiting"
    """A person has to do something before it goes on."""
    DONE = "done"
    ANSWERED = "answered"
    UNVERIFIED = "unverified"
    DECLINED = "declined"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Message:
    """What goes out: plain text throughout. Adapters escape all of it, switch mentions off, and split what is too
    long for the platform (picture, menu and buttons stay with the first part; very long text becomes a file).
    """

    heading: str = ""
    body: str = ""
    footer: str = ""
    picture: Picture | None = None
    files: tuple[Picture, ...] = ()
    buttons: tuple[tuple[Button, ...], ...] = ()
    menu: Menu | None = None
    """Shown above the buttons; an edit without it takes it away."""
    notify: bool = False
    """Whether the platform should ring. Cards and steps are silent."""
    mention: Person | None = None
    """Who is meant; the only mention that ever goes out."""
    reply_to: MessageRef | None = None
    card: bool = False
    """Whether it is the live card of its task: the one message that is edited while the work goes on."""
    final: bool = False
    """Whether it tells how its task ended."""
    tone: Tone | None = None
    """How its task stands; None for what is no card, question or final."""
    task: str = ""
    """The number of the task whose log and state say the same: where it is its card, a question, a file or its end."""
    private: bool = False
    """Only for the person who asked, where the platform can (an ephemeral reply)."""


Turn = Callable[[], Awaitable[None]]
"""Awaited before each call to the platform that sends or edits: it lets the call go when the budget allows it."""


async def at_once() -> None:
    """No budget."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command or a press. None of the fields set: say nothing.

    `task` is set when a task was accepted: its card appears by itself, so that a surface where the card is
    answer enough may leave the message out.
    """

    message: Message | None = None
    task: str = ""
    told: bool = False
    """Whether the log of a task says what the person's words became: an answer, or a note."""
    toast: str = ""
    """A short answer to a press (shown as a notice that goes away), at most 200 characters."""
    turn: Turn = field(default=at_once, compare=False, repr=False)
    """What sending it as a message waits for: it counts in the chat's budget as all that goes there."""
    mark_suffices: bool = False
    """What `message` says shows beside it as well, such as in the question that was answered: where the person's own
    message can be marked as seen, that is answer enough.
    """
    shown: Message | None = None
    """What the pressed message reads from now on: the adapter changes it in answer to the press, at once."""
    dead: bool = False
    """The pressed message keeps its words and loses its buttons: they are for what is over."""
    change_turn: Turn = field(default=at_once, compare=False, repr=False)
    """What that change waits for and counts in, where the platform counts it."""
