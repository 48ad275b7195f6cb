"""A command from a person: who gave it, where, and what they typed."""

from __future__ import annotations

from dataclasses import dataclass

from bot.application.access import Caller
from bot.domain.incoming import Attachment, CommandCall
from bot.domain.outgoing import Message, Reply


@dataclass(frozen=True, slots=True)
class Request(Caller):
    """One command from one person at one place. `prefix` is the typed prefix ("" if the command was not typed); `files`
    are the attachments.
    """

    call: CommandCall
    prefix: str = ""
    files: tuple[Attachment, ...] = ()
    stale: bool = False
    """Whether it was written (at `written`, in Unix seconds) while the service was away: it is then stored and
    listed, not carried out.
    """
    written: float = 0.0
    text: str = ""
    """The text as typed; "" if the command was not typed."""
    lead: str = ""
    """The prefix of commands there; "" if unknown."""
    carries: bool = False
    """Whether files came with it, downloaded or not."""
    device: str = ""
    """The phone that was picked outside the text; "" for none."""
    picked: bool = False
    """Whether the command was picked from a list with typed options instead of being typed."""

    def option(self, name: str) -> str:
        """Return the value of an option, "" if it was not given."""
        return self.call.option(name)

    def flag(self, name: str) -> bool:
        """Return whether a flag was given. Platforms with typed options send "false" for one that is off."""
        return self.call.flag(name)


class TooLate(Exception):
    """The `request` was written while the service was away. It must not be carried out unless a person confirms it."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.call.name)
        self.request = request


def refuse_late(request: Request) -> None:
    """Raise TooLate for a request that was written while the service was away."""
    if request.stale:
        raise TooLate(request)


def plain(text: str, *, heading: str = "") -> Reply:
    """Return a reply with a short text, visible to everybody at the place."""
    return Reply(Message(heading=heading, body=text))


def aside(text: str, *, heading: str = "", footer: str = "") -> Reply:
    """Return a reply that only the person who asked sees, where the platform can do that."""
    return Reply(Message(heading=heading, body=text, footer=footer, private=True))
