"""A command on its way: who asks, where, and what they typed."""

from __future__ import annotations

from dataclasses import dataclass

from bot.application.access import Caller
from bot.domain.incoming import Attachment, CommandCall
from bot.domain.outgoing import Message, Reply


@dataclass(frozen=True, slots=True)
class Request(Caller):
    """One command from one person at one place.

    `prefix` is what stood before the command ("" when it was not typed), `files` what is attached.
    """

    call: CommandCall
    prefix: str = ""
    files: tuple[Attachment, ...] = ()
    stale: bool = False
    """Written while the service was away, at `written` (Unix seconds): kept and listed, not done."""
    written: float = 0.0
    text: str = ""
    """What was typed, as it was; "" when it was not."""
    lead: str = ""
    """What commands begin with there; "" where it is not known."""
    carries: bool = False
    """Whether files came with it, fetched or not."""
    device: str = ""
    """The phone that was picked beside the words; "" for none."""
    picked: bool = False
    """Picked from a list, with typed options: nothing was typed."""

    def option(self, name: str) -> str:
        """The option's value, "" when it is not given."""
        return self.call.option(name)

    def flag(self, name: str) -> bool:
        """Whether a flag is given; typed surfaces send "false" for one that is off."""
        return self.call.flag(name)


class TooLate(Exception):
    """What `request` asks for was written while the service was away and must not be done by itself."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.call.name)
        self.request = request


def refuse_late(request: Request) -> None:
    """Raise TooLate for what was written while the service was away."""
    if request.stale:
        raise TooLate(request)


def plain(text: str, *, heading: str = "") -> Reply:
    """A short answer."""
    return Reply(Message(heading=heading, body=text))


def aside(text: str, *, heading: str = "", footer: str = "") -> Reply:
    """An answer or a refusal that only the person who asked sees, where the platform can do that."""
    return Reply(Message(heading=heading, body=text, footer=footer, private=True))
