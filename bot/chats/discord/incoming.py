"""Handles messages from people: recognises commands, downloads files, and answers below the message."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import discord

from bot.chats.discord.hosts import Fetcher
from bot.chats.discord.places import Channel, person_of, place_of
from bot.chats.discord.sending import Sender
from bot.chats.fetching import Attached
from bot.chats.incoming import Lateness, answer, as_reply
from bot.domain.address import MessageRef, Person
from bot.domain.chat import ChatGone, Intake
from bot.domain.incoming import ForeignText, Incoming, orders_work
from bot.domain.outgoing import Message, Turn
from devices.recent import Recent

_REMEMBERED: Final = 2048
"""Message ids that are remembered to recognise repeated deliveries after a reconnect."""

_TYPES = (discord.MessageType.default, discord.MessageType.reply)


def command_in(text: str, prefix: str, bot: int, roles: Iterable[int] = ()) -> str | None:
    """Return the text after the prefix, or after a mention of the bot at the start; None if the text is not a command.

    `bot` is the bot's user id. `roles` are the ids of the roles that Discord made for the bot: they have its name, so
    people sometimes mention one instead of the bot.
    """
    names = "|".join([f"<@!?{bot}>", *(f"<@&{role}>" for role in roles)])
    lead = re.match(rf"\s*(?:{re.escape(prefix)}(?=\s|$)|{names})", text, re.IGNORECASE)
    return None if lead is None else text[lead.end() :].strip()


def _own_roles(guild: discord.Guild | None) -> list[int]:
    me = None if guild is None else guild.me
    return [] if me is None else [role.id for role in me.roles if role.managed]


def _above(message: discord.Message, bot: int) -> list[Attached]:
    """Return the files of the message that a person replies to, but not those of the bot's own messages, such as cards.
    Only messages of the same channel count, because everybody who replies there sees them; a forwarded message is no
    reply.
    """
    reference = message.reference
    if message.type is not discord.MessageType.reply or reference is None:
        return []
    above = reference.resolved
    if reference.channel_id != message.channel.id or not isinstance(above, discord.Message) or above.author.id == bot:
        return []
    return _files(above)


def _files(message: discord.Message) -> list[Attached]:
    """Return the files of the message, and of the message that it forwards."""
    found = [*message.attachments, *(file for one in message.message_snapshots for file in one.attachments)]
    return [Attached(file.filename, file.size, file.url) for file in found]


def _passed_on(message: discord.Message) -> str | None:
    """Return the text that somebody forwards; None for a message of their own. Discord does not tell who wrote it, and
    a comment on it is a separate message (developer docs, Message Snapshot).
    """
    reference = message.reference
    forwards = reference is not None and reference.type is discord.MessageReferenceType.forward
    if not forwards and not message.message_snapshots:
        return None
    return "\n".join(filter(None, [message.content, *(one.content for one in message.message_snapshots)]))


class Messages:
    """Turns each Discord message into an Incoming, once, and sends the reply below the message."""

    def __init__(self, intake: Intake, prefix: str, fetcher: Fetcher, sender: Sender) -> None:
        self._intake = intake
        self._prefix = prefix
        self._sender = sender
        self._seen: Recent[int, None] = Recent(_REMEMBERED)
        self._fetcher = fetcher
        # Discord tells a new process nothing of what the one before was told.
        self._lateness = Lateness()

    async def handle(self, message: discord.Message, channel: Channel, locale: discord.Locale | None, bot: int) -> None:
        """Pass a person's message to the intake (the handler of everything that people do in chats). Messages of bots,
        our own messages, notices and repeated deliveries are ignored. `locale` is the language of the author's client;
        `bot` is the bot's user id.
        """
        ours = message.author.bot or message.webhook_id is not None
        if ours or message.type not in _TYPES or not self._first_time(message.id):
            return
        place = place_of(bot, channel, message.guild.id if message.guild else None)
        own = MessageRef(place.address, str(message.id))
        passed_on = _passed_on(message)
        text, foreign, command = message.content, None, None
        if passed_on is None:
            command = command_in(text, self._prefix, bot, _own_roles(message.guild))
        else:
            text, foreign = passed_on, ForeignText()
        reply_to, to_bot, reference = None, False, message.reference
        if message.type is discord.MessageType.reply and reference is not None and reference.message_id is not None:
            reply_to = MessageRef(place.address, str(reference.message_id))
            to_bot = isinstance(reference.resolved, discord.Message) and reference.resolved.author.id == bot
        person = person_of(message.author, locale)
        spoken = self._fetcher.voice_of(message)
        given = _files(message)
        wordless = bool(given) and not text.strip() and spoken is None
        if foreign is not None and not text.strip() and not wordless:
            return  # a forwarded sticker or embed
        # A text in private may become a task by a press, and its files go along.
        wanted = (command is not None or place.private) and not wordless and spoken is None
        meant = given if wanted else []
        if orders_work(command):
            meant += _above(message, bot)
        files, lost = await self._fetcher.fetch(person, place, meant)
        reply = await self._intake.message(
            Incoming(
                person=person,
                place=place,
                event=str(message.id),
                text=text,
                command=command,
                reply_to=reply_to,
                to_bot=to_bot,
                message=own,
                attachments=files,
                stale=self._lateness.is_late(message.created_at.timestamp()),
                written=message.created_at.timestamp(),
                voice=spoken,
                lead=f"{self._prefix} ",
                carries=bool(given) and spoken is None,
                foreign=foreign,
                wordless=f"{self._prefix} do" if wordless else "",
            )
        )
        await answer(_Below(self._sender, person), own, reply, lost)

    def _first_time(self, number: int) -> bool:
        if number in self._seen:
            return False
        self._seen[number] = None
        return True


@dataclass(frozen=True, slots=True)
class _Below:
    """Answers a person below their message, or in their private chat if the bot may only read where they wrote."""

    sender: Sender
    person: Person

    async def react(self, ref: MessageRef) -> None:
        await self.sender.react(ref)

    async def tell(self, own: MessageRef, message: Message, nonce: str, turn: Turn) -> None:
        reply = as_reply(own, message)
        try:
            await self.sender.send(own.address, reply, nonce=nonce, turn=turn)
        except ChatGone:
            if not own.address.guild:
                raise
            private = await self.sender.private(own.address, self.person)
            await self.sender.send(private, reply, nonce=nonce, turn=turn, instead_of=own.address)
