"""Presses of buttons, each answered in time."""

from __future__ import annotations

import asyncio
from typing import Any

import discord

from bot.chats.address import MessageRef
from bot.chats.base import Intake
from bot.chats.discord import limits
from bot.chats.discord.answers import whisper
from bot.chats.discord.buttons import pressed_data
from bot.chats.discord.places import person_of, place_of
from bot.chats.incoming import Press


class Presses:
    """Every press of every button, known or not, is answered within Discord's three seconds."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    async def handle(self, interaction: discord.Interaction[Any]) -> None:
        """Ask the intake; acknowledge silently when that takes long, and whisper what there is to say."""
        channel, message = interaction.channel, interaction.message
        if channel is None or message is None:
            await interaction.response.defer()
            return
        place = place_of(interaction.client.user.id, channel, interaction.guild_id)
        press = Press(
            person_of(interaction.user, interaction.locale),
            place,
            str(interaction.id),
            pressed_data(interaction),
            MessageRef(place.address, str(message.id)),
        )
        work = asyncio.ensure_future(self._intake.press(press))
        try:
            done, _ = await asyncio.wait({work}, timeout=limits.ACKNOWLEDGE_SECONDS)
            if not done:
                await interaction.response.defer()
            await whisper(interaction, await work)
        finally:
            work.cancel()
