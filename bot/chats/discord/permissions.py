"""What the bot may do in a channel, from what Discord tells beforehand and from what it refuses."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import discord

WANTED: Final = (
    "view_channel",
    "send_messages",
    "send_messages_in_threads",
    "create_public_threads",
    "attach_files",
    "read_message_history",
    "manage_messages",
)
"""Discord's names of the permissions that are used (developer docs, Permissions), what is worst to miss first."""

REMEMBERED_SECONDS: Final = 600.0
"""After this a permission that Discord refused is tried again; ours. Refused requests count: 10,000 in ten minutes and
Discord shuts the address out (developer docs, Invalid Request Limit).
"""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What goes in a channel and its threads. Where nothing is known, all is assumed and Discord's answer counts."""

    writes: bool = True
    threads: bool = True
    files: bool = True
    history: bool = True


class Permissions:
    """Looks before sending. Everything is about a channel, which is where threads have their permissions from.

    `clock` counts seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._refused: dict[tuple[int, str], float] = {}

    def abilities(self, channel: object) -> Abilities:
        """What the bot may do in `channel`."""
        lacks = frozenset(self.missing(channel))
        return Abilities(
            writes="send_messages" not in lacks,
            threads=not lacks & {"create_public_threads", "send_messages_in_threads"},
            files="attach_files" not in lacks,
            history="read_message_history" not in lacks,
        )

    def missing(self, channel: object) -> tuple[str, ...]:
        """The permissions that the bot lacks there, by Discord's names. Empty where nothing is known, as in private."""
        number = _number(channel)
        granted = _granted(channel)
        known = () if granted is None else missing_of(granted)
        return tuple(name for name in WANTED if name in known or self._was_refused(number, name))

    def refused(self, channel: object, name: str) -> None:
        """Discord did not allow what needs this permission, whatever was known."""
        self._refused[_number(channel), name] = self._clock() + REMEMBERED_SECONDS

    def _was_refused(self, number: int, name: str) -> bool:
        until = self._refused.get((number, name))
        if until is not None and until <= self._clock():
            del self._refused[number, name]
            return False
        return until is not None


def missing_of(granted: discord.Permissions) -> tuple[str, ...]:
    """What is lacking of what is used.

    discord.py takes Attach Files away together with Send Messages, though it goes on counting in threads.
    """
    implied = {"attach_files"} if not granted.send_messages else set()
    return tuple(name for name in WANTED if not getattr(granted, name) and name not in implied)


def _number(channel: object) -> int:
    return int(getattr(channel, "id", 0))


def _granted(channel: object) -> discord.Permissions | None:
    if not isinstance(channel, discord.abc.GuildChannel):
        return None
    me: discord.Member | None = channel.guild.me  # None until the server's data arrived
    return None if me is None else channel.permissions_for(me)
