"""Types for messages that people wrote while the service was not running."""

from __future__ import annotations

from dataclasses import dataclass

from agent.ports.stores import GivenFile
from bot.domain.address import MessageRef, Person, Place
from bot.domain.incoming import CommandCall


@dataclass(frozen=True, slots=True)
class Late:
    """A command or text that was written while the service was not running. `written` is in Unix seconds."""

    person: Person
    place: Place
    event: str
    """The platform's id of the message, which makes sure that it is stored once and becomes one task at most."""
    message: MessageRef | None
    text: str
    """The text as typed."""
    prefix: str
    call: CommandCall
    """The command that the text was parsed into."""
    files: tuple[GivenFile, ...]
    written: float


@dataclass(frozen=True, slots=True)
class Missed:
    """A stored message that was written while the service was not running."""

    id: str
    """The number of the row, as text."""
    late: Late
    listed: MessageRef | None
    """The message in which the service lists it; None before it is listed."""
    done: bool
    """Whether it is being carried out, because its button was pressed."""
