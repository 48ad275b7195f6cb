"""What the bot may do in a channel, said in the words of Discord's own settings."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

import discord

logger = logging.getLogger(__name__)

_WANTED: Final = {
    "view_channel": "View Channel (it sees nothing there)",
    "send_messages": "Send Messages (it cannot answer there)",
    "send_messages_in_threads": "Send Messages in Threads (cards go to the channel itself)",
    "create_public_threads": "Create Public Threads (tasks get no thread of their own)",
    "attach_files": "Attach Files (screenshots and long texts are left out)",
    "read_message_history": "Read Message History (no replies and no threads on messages)",
    "manage_messages": "Manage Messages (a code that somebody types as an answer stays visible)",
}


@dataclass(frozen=True, slots=True)
class Abilities:
    """What goes in a channel. Where nothing is known, everything is assumed and Discord's answer counts."""

    threads: bool = True
    files: bool = True
    history: bool = True


class Permissions:
    """Looks before sending, and tells the operator once per channel what is missing."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[str, ...]] = {}

    def abilities(self, channel: object) -> Abilities:
        """What the bot may do in `channel`, from the cache."""
        granted = _granted(channel)
        if granted is None:
            return Abilities()
        return Abilities(
            threads=granted.create_public_threads and granted.send_messages_in_threads and granted.read_message_history,
            files=granted.attach_files,
            history=granted.read_message_history,
        )

    def report(self, channel: object) -> None:
        """Log each missing permission by name, again only when the list changes."""
        channel = channel.parent if isinstance(channel, discord.Thread) else channel
        granted = _granted(channel)
        if granted is None or not isinstance(channel, discord.abc.GuildChannel):
            return
        missing = tuple(said for name, said in _WANTED.items() if not getattr(granted, name))
        if self._told.get(channel.id, ()) != missing:
            self._told[channel.id] = missing
            if missing:
                logger.warning(
                    "In channel #%s (%d) of %s the bot lacks: %s. Grant them in the channel's settings.",
                    channel.name,
                    channel.id,
                    channel.guild.name,
                    "; ".join(missing),
                )


def _granted(channel: object) -> discord.Permissions | None:
    if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
        return None
    me: discord.Member | None = channel.guild.me  # None until the server's data arrived
    unknown = me is None or (isinstance(channel, discord.Thread) and channel.parent is None)
    return None if me is None or unknown else channel.permissions_for(me)
