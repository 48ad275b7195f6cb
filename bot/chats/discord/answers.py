"""Answers to slash commands and presses: seen by the person who asked, and by nobody else."""

from __future__ import annotations

from typing import Any

import discord

from bot.chats.discord.drafts import drafts_of
from bot.chats.outgoing import Message, Reply


async def whisper(interaction: discord.Interaction[Any], reply: Reply) -> None:
    """Show the reply to the person alone. With nothing to say, the interaction is only acknowledged."""
    message = reply.message or (Message(body=reply.toast) if reply.toast else None)
    if message is None:
        if not interaction.response.is_done():
            await interaction.response.defer()
        return
    for draft in drafts_of(message):
        view = draft.view() or discord.utils.MISSING
        send = interaction.followup.send if interaction.response.is_done() else interaction.response.send_message
        await send(
            draft.content,
            files=draft.files(),
            view=view,
            ephemeral=True,
            suppress_embeds=True,
            allowed_mentions=discord.AllowedMentions.none(),
        )
