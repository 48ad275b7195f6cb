"""Answers slash commands and button presses within Discord's time limit, visible only to the person who acted."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import discord

from bot.chats.answering import message_of
from bot.chats.discord import limits
from bot.chats.discord.buttons import pressed_data
from bot.chats.discord.formatting import card_of, drafts_of
from bot.chats.discord.permissions import Abilities, Permissions
from bot.chats.discord.places import parent_at, person_of, place_of
from bot.domain.address import MessageRef
from bot.domain.chat import Intake
from bot.domain.incoming import Press
from bot.domain.outgoing import Reply

logger = logging.getLogger(__name__)


async def whisper(interaction: discord.Interaction[Any], reply: Reply) -> None:
    """Show the reply to this person only. If there is nothing to say, the interaction is only acknowledged."""
    message = message_of(reply)
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


async def change(interaction: discord.Interaction[Any], reply: Reply, abilities: Abilities) -> bool:
    """Edit the pressed message as the reply says. Returns whether Discord accepted the edit. It is sent as the answer
    to the press, so no rate limit counts it.
    """
    options: dict[str, Any] = {"view": None}
    if reply.shown is not None:
        draft = card_of(reply.shown, files=abilities.files, embeds=abilities.embeds)
        options = {
            "content": draft.content,
            "attachments": draft.files(),
            "embeds": [] if draft.embed is None else [draft.embed],
            "view": draft.view(),
            "allowed_mentions": discord.AllowedMentions.none(),
        }
    edit = interaction.edit_original_response if interaction.response.is_done() else interaction.response.edit_message
    try:
        await edit(**options)
    except discord.HTTPException as refused:
        logger.info("A pressed message stays as it is for now: %s", refused)
        return False
    return True


class Presses:
    """Answers every press of every button, known or not, within Discord's limit of three seconds."""

    def __init__(self, intake: Intake, permissions: Permissions) -> None:
        self._intake = intake
        self._permissions = permissions

    async def handle(self, interaction: discord.Interaction[Any]) -> None:
        """Pass a press to the intake (the handler of everything that people do in chats), update the pressed message,
        and show the person what the message does not say. If the intake takes long, the press is acknowledged silently
        first.
        """
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
            reply = await work
            changes = reply.shown is not None or reply.dead
            if changes:
                parent = parent_at(interaction.client, place.address)
                changes = await change(interaction, reply, self._permissions.abilities(parent))
            if not changes or reply.dead:
                await whisper(interaction, reply)
        finally:
            work.cancel()
