"""Which language somebody reads: Discord tells it with interactions, and never with messages."""

from __future__ import annotations

from typing import Any, Final

import discord

from devices.recent import Recent

REMEMBERED: Final = 4096
"""People whose language is kept in memory; ours."""


class Locales:
    """Remembers the language of each person's client since their last slash command or press."""

    def __init__(self) -> None:
        self._known: Recent[int, discord.Locale] = Recent(REMEMBERED)

    def of_interaction(self, interaction: discord.Interaction[Any]) -> discord.Locale:
        """The person's own."""
        self._known[interaction.user.id] = interaction.locale
        return interaction.locale

    def of_message(self, message: discord.Message) -> discord.Locale | None:
        """The person's own where it is known, else the server's; None in private."""
        server = message.guild.preferred_locale if message.guild is not None else None
        return self._known.get(message.author.id, server)
