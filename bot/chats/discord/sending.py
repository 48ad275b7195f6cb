"""Sends, edits and deletes Discord messages."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import discord

from bot.chats.discord import errors
from bot.chats.discord.formatting import Draft, card_of, drafts_of
from bot.chats.discord.permissions import Abilities, PermissionReports, Permissions
from bot.chats.discord.places import PLATFORM, channel_at, channel_id, parent_at
from bot.chats.plain_text import NOTHING
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatError, ChatGone, FloodWait
from bot.domain.outgoing import SEEN, Message, Turn, at_once

logger = logging.getLogger(__name__)

Online = Callable[[], Awaitable[discord.Client]]
"""Returns the client once it is logged in; raises ChatError if that takes too long."""


def nonce_of(name: str, part: int) -> str:
    """Return a nonce of 24 characters (Discord allows 25) for part number `part` of the sending called `name`."""
    return hashlib.blake2s(f"{name}/{part}".encode(), digest_size=12).hexdigest()


class Sender:
    """Sends, edits and deletes Discord messages. Raises FloodWait, ChatGone or ChatError."""

    def __init__(self, online: Online, permissions: Permissions, permission_reports: PermissionReports) -> None:
        self._online = online
        self._permissions = permissions
        self._permission_reports = permission_reports

    async def send(
        self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once, instead_of: Address | None = None
    ) -> MessageRef:
        """Send all parts of the message, and return the reference of the first. If the same nonce is used again within
        a few minutes, Discord returns the message that it already has.

        `instead_of` is where the message should have gone, if it is sent elsewhere: missing permissions are reported
        for that channel.
        """
        client = await self._online()
        channel = channel_at(client, place)
        parent = parent_at(client, place)
        abilities = self._permissions.abilities(parent)
        mention = message.mention.id if message.mention and message.mention.platform == PLATFORM else ""
        first: int | None = None
        plain = partial(drafts_of, message, mention=mention, files=abilities.files)
        for part, draft in enumerate(plain(embeds=abilities.embeds)):
            reference = _reference(place, message, abilities) if part == 0 else None
            silent = part > 0 or not message.notify
            post = _Post(
                channel,
                draft,
                reference,
                mention,
                silent,
                nonce_of(nonce, part),
                turn,
                bool(place.thread),
                partial(self._permissions.refused, parent),
                None if draft.embed is None else plain()[0],
            )
            needs = "Send Messages in Threads" if place.thread else "Send Messages"
            async with errors.translated("the message", needs=needs):
                sent = await post.send()
            first = first or sent.id
        await self._report_missing_permissions(post, parent_at(client, instead_of or place), nonce)
        return MessageRef(place, str(first))

    async def private(self, place: Address, person: Person) -> Address:
        """Return the one-to-one chat with a person. Whether the bot may write there shows only when it is tried."""
        client = await self._online()
        async with errors.translated("a private chat"):
            channel = await client.create_dm(discord.Object(int(person.id)))
        return Address(PLATFORM, place.account, str(channel.id))

    async def _report_missing_permissions(self, sent: _Post, parent: object, nonce: str) -> None:
        """Send a report of missing permissions below the message that was just sent. It is sent only once, so if that
        fails, only the report is lost.
        """
        news = await self._permission_reports.next_report(parent)
        if news is None:
            return
        name, refused = nonce_of(f"lacking/{nonce}", 0), partial(self._permissions.refused, parent)
        report = _Post(sent.channel, drafts_of(news)[0], None, "", True, name, sent.turn, sent.in_thread, refused)
        try:
            async with errors.translated("what is lacking"):
                await report.send()
        except (ChatError, FloodWait) as error:
            logger.warning("The message about the bot's missing permissions could not be sent: %s", error)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Replace text, picture and buttons of a message. Excess text is cut, because an edit cannot become two
        messages.
        """
        client = await self._online()
        abilities = self._permissions.abilities(parent_at(client, ref.address))
        draft = card_of(message, files=abilities.files, embeds=abilities.embeds)
        await turn()
        async with errors.translated("the change of the message"):
            await _partial(client, ref).edit(
                content=draft.content,
                attachments=draft.files(),
                embeds=[] if draft.embed is None else [draft.embed],
                view=draft.view(),
                allowed_mentions=discord.AllowedMentions.none(),
            )

    async def react(self, ref: MessageRef) -> None:
        """Add a reaction to a person's message to show that it was seen, if the bot may."""
        client = await self._online()
        parent = parent_at(client, ref.address)
        if not self._permissions.reacts(parent):
            return
        try:
            async with errors.translated("the reaction", needs="Add Reactions"):
                await _partial(client, ref).add_reaction(SEEN)
        except (ChatError, FloodWait) as refused:
            if isinstance(refused, ChatGone):
                self._permissions.refused(parent, "add_reactions")
            logger.info("A message keeps without a reaction: %s", refused)

    async def delete(self, ref: MessageRef) -> None:
        """Delete a message; does nothing if it is already gone."""
        client = await self._online()
        async with errors.translated("the deletion of the message", needs="Manage Messages"):
            try:
                await _partial(client, ref).delete()
            except discord.NotFound:
                logger.debug("message %s was deleted already", ref.message)


def _partial(client: discord.Client, ref: MessageRef) -> discord.PartialMessage:
    guild = int(ref.address.guild) if ref.address.guild else None
    return client.get_partial_messageable(channel_id(ref.address), guild_id=guild).get_partial_message(int(ref.message))


def _reference(place: Address, message: Message, abilities: Abilities) -> discord.MessageReference | None:
    """Return the reference for a native reply, if the message is in the same channel and the bot may read it."""
    target = message.reply_to
    if target is None or not abilities.history or channel_id(target.address) != channel_id(place):
        return None
    return discord.MessageReference(
        message_id=int(target.message), channel_id=channel_id(place), fail_if_not_exists=False
    )


@dataclass(frozen=True, slots=True)
class _Post:
    """One Discord message to send. discord.py sends `enforce_nonce` with every nonce."""

    channel: discord.abc.Messageable
    draft: Draft
    reference: discord.MessageReference | None
    mention: str
    silent: bool
    nonce: str
    turn: Turn
    in_thread: bool
    lacks: Callable[[str], None]
    """Called with every permission that turns out to be missing."""
    plain: Draft | None = None
    """The same message without an embed, if it has one."""

    async def send(self) -> discord.Message:
        """Send it; without the reply, the embed or the files where exactly those are refused."""
        try:
            return await self._send()
        except discord.HTTPException as refused:
            if refused.code == errors.NO_REPLY_WITHOUT_HISTORY and self.reference is not None:
                self.lacks("read_message_history")
                return await replace(self, reference=None).send()
            if refused.code == errors.MISSING_PERMISSIONS and self.plain is not None:
                sent = await replace(self, draft=self.plain, plain=None).send()
                self.lacks("embed_links")
                return sent
            if refused.code == errors.MISSING_PERMISSIONS and self.draft.pictures:
                bare = replace(self.draft, content=self.draft.content or NOTHING, pictures=())
                sent = await replace(self, draft=bare).send()
                self.lacks("attach_files")
                return sent
            if refused.code == errors.MISSING_PERMISSIONS:
                self.lacks("send_messages_in_threads" if self.in_thread else "send_messages")
            elif refused.code == errors.MISSING_ACCESS:
                self.lacks("view_channel")
            raise

    async def _send(self) -> discord.Message:
        await self.turn()
        users = [discord.Object(int(self.mention))] if self.mention else False
        options: dict[str, Any] = {}
        if self.reference is not None:
            options["reference"] = self.reference
        view = self.draft.view()
        if view is not None:
            options["view"] = view
        if self.draft.embed is not None:
            options["embed"] = self.draft.embed
        return await self.channel.send(
            self.draft.content,
            files=self.draft.files(),
            nonce=self.nonce,
            silent=self.silent,
            suppress_embeds=self.draft.previews,
            allowed_mentions=discord.AllowedMentions(everyone=False, roles=False, replied_user=False, users=users),
            **options,
        )
