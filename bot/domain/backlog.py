"""What was written while the service was away."""

from __future__ import annotations

from dataclasses import dataclass

from agent.files import GivenFile
from bot.domain.address import MessageRef, Person, Place
from bot.domain.incoming import CommandCall


@dataclass(frozen=True, slots=True)
class Late:
    """A command or text that came too late, before it was kept. `written` is Unix seconds."""

    person: Person
    place: Place
    event: str
    """The platform's id of the message: the same one is kept once, and gives one task."""
    message: MessageRef | None
    text: str
    """As it was typed."""
    prefix: str
    call: CommandCall
    """What it means."""
    files: tuple[GivenFile, ...]
    written: float


@dataclass(frozen=True, slots=True)
class Missed:
    """One that is kept."""

    id: str
    """A number as text."""
    late: Late
    listed: MessageRef | None
    """The message that lists it; None before."""
    done: bool
    """Whether somebody has pressed for it."""
