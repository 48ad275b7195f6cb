"""Sends, edits and deletes Telegram messages, one request at a time per sending. Nothing is sent to a chat while
Telegram's flood limit applies to it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import telegram
from telegram.constants import ParseMode
from telegram.error import BadRequest

from bot.chats.incoming import as_reply, send_with_retry
from bot.chats.sending import SendProgress
from bot.chats.telegram import errors, limits
from bot.chats.telegram.formatting import Draft, card_of, digest_of, drafts_of, keyboard_of, visible
from bot.chats.telegram.places import PLATFORM, thread_id
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatError, FloodWait
from bot.domain.outgoing import SEEN, Message, Picture, Turn, at_once
from devices.recent import Recent

logger = logging.getLogger(__name__)


Moved = Callable[[str, str], Awaitable[None]]
"""Called with a chat's old and new id."""


class FloodLimits:
    """Records until when nothing may be sent to each chat. Calling during a flood limit would prolong it, up
    to hours.
    """

    def __init__(self, clock: Callable[[], float], moved: Moved) -> None:
        self._clock = clock
        self._on_moved = moved
        self._until: dict[str, float] = {}

    @asynccontextmanager
    async def guard(self, chat: str, doing: str) -> AsyncIterator[None]:
        """Wrap a call that sends or edits in `chat`. Raises FloodWait at once while a flood limit applies; also
        ChatGone and ChatError, see `errors.translated`, which explains `doing`.

        If the chat has a new id, `moved` is called with both ids before ChatMoved is raised.
        """
        left = self._until.get(chat, 0.0) - self._clock()
        if left > 0:
            raise FloodWait(left)
        self._until.pop(chat, None)
        try:
            async with errors.translated(doing):
                yield
        except FloodWait as flood:
            self._until[chat] = self._clock() + flood.seconds
            raise
        except errors.ChatMoved as away:
            await self._on_moved(chat, away.chat)
            raise


NO_PREVIEW = telegram.LinkPreviewOptions(is_disabled=True)


def media_of(draft: Draft, *, document: bool, html: bool) -> telegram.InputMedia:
    """Return the draft's picture, with the text as its caption, in the form that an edit takes. `document` sends the
    picture as a file; `html` uses the HTML form of the text.
    """
    picture = draft.picture
    assert picture is not None
    options = _worded("caption", draft, html=html) | {"filename": picture.name}
    if document or draft.kind == "document":
        return telegram.InputMediaDocument(picture.data, **options)
    if draft.kind == "animation":
        return telegram.InputMediaAnimation(picture.data, **options)
    return telegram.InputMediaPhoto(picture.data, **options)


def _worded(name: str, draft: Draft, *, html: bool) -> dict[str, Any]:
    """Return the draft's text, as the argument `name`, and its form."""
    return {name: draft.part.html if html else draft.part.plain, "parse_mode": ParseMode.HTML if html else None}


@dataclass(frozen=True, slots=True)
class Post:
    """Where and how a message is sent: the chat, the topic, the message it replies to, and its form."""

    bot: telegram.Bot
    chat: int
    thread: int | None
    silent: bool
    reply_to: int | None
    turn: Turn = at_once
    html: bool = True
    document: bool = False
    """Whether the picture is sent as a file, unchanged."""

    async def send(self, draft: Draft) -> telegram.Message:
        """Send the draft. If Telegram refuses the HTML, it is sent as plain text; if it refuses the photo, as a
        document; if the chat takes no pictures, without it.
        """
        try:
            return await self._send(draft)
        except BadRequest as refused:
            if self.html and errors.says(refused, errors.NOT_PARSED):
                return await replace(self, html=False).send(draft)
            if not self.document and draft.picture and errors.says(refused, *errors.BAD_PHOTO):
                return await replace(self, document=True).send(draft)
            if draft.picture and errors.says(refused, *errors.NO_PICTURES):
                return await self.send(Draft(visible(draft.part), rows=draft.rows))
            raise

    async def send_files(self, files: Sequence[Picture]) -> str:
        """Send files without text, two or more as an album. Returns the id of the first message."""
        for _ in files:
            await self.turn()  # an album counts as many messages as it has files
        if len(files) == 1:
            (file,) = files
            moves = file.name.lower().endswith((".gif", ".mp4"))
            send = self.bot.send_animation if moves else self.bot.send_document
            return str((await send(self.chat, file.data, filename=file.name, **self._options())).message_id)
        media = [telegram.InputMediaDocument(file.data, filename=file.name) for file in files]
        return str((await self.bot.send_media_group(self.chat, media, **self._options()))[0].message_id)

    async def _send(self, draft: Draft) -> telegram.Message:
        await self.turn()
        options, picture = self._options() | {"reply_markup": keyboard_of(draft.rows)}, draft.picture
        if picture is None:
            options |= _worded("text", draft, html=self.html)
            return await self.bot.send_message(self.chat, link_preview_options=NO_PREVIEW, **options)
        options |= _worded("caption", draft, html=self.html) | {"filename": picture.name}
        if self.document or draft.kind == "document":
            return await self.bot.send_document(self.chat, picture.data, **options)
        if draft.kind == "animation":
            return await self.bot.send_animation(self.chat, picture.data, **options)
        return await self.bot.send_photo(self.chat, picture.data, **options)

    def _options(self) -> dict[str, Any]:
        reply = None
        if self.reply_to is not None:
            reply = telegram.ReplyParameters(self.reply_to, allow_sending_without_reply=True)
        return {
            "message_thread_id": self.thread,
            "disable_notification": self.silent,
            "reply_parameters": reply,
        }


_REMEMBERED: Final = 1024
"""Messages whose picture is remembered; our choice. For others an edit finds out."""

_CHANGES_REMEMBERED: Final = 256
"""Changed messages that are remembered; our choice."""

Online = Callable[[], Awaitable[telegram.Bot]]
"""Returns the bot once it is logged in; raises ChatError if that takes too long."""


class Sender:
    """Sends, edits and deletes Telegram messages. Raises FloodWait, ChatGone or ChatError."""

    def __init__(self, online: Online, flood_limits: FloodLimits) -> None:
        self._online = online
        self._flood_limits = flood_limits
        self._shown: Recent[tuple[int, int], str] = Recent(_REMEMBERED)
        """The digest of the picture that each of the bot's messages shows, "" for none."""
        self._reads: Recent[tuple[int, int], tuple[Message, str]] = Recent(_CHANGES_REMEMBERED)
        """What messages read since their last change, each with the digest of its picture."""
        self._send_progress = SendProgress()
        self._anchors: dict[Address, str] = {}

    def anchor(self, place: Address, message: str) -> None:
        """Make the next message to `place` a reply to this message, unless it replies to another one. A task's first
        message thereby shows which request it is about.
        """
        self._anchors[place] = message

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send all parts, and return the reference of the first. Telegram has no nonces: called again with the same
        one, an interrupted sending continues where it stopped.
        """
        bot = await self._online()
        mention = message.mention if message.mention and message.mention.platform == PLATFORM else None
        drafts, files = drafts_of(message, mention=mention)
        post = Post(bot, int(place.chat), thread_id(place), not message.notify, self._above(message, place), turn)
        pieces: list[Callable[[Post], Awaitable[str]]] = [partial(self._post, draft) for draft in drafts]
        albums = (files[start : start + limits.ALBUM] for start in range(0, len(files), limits.ALBUM))
        pieces += [partial(Post.send_files, files=some) for some in albums]

        async def piece(index: int) -> str:
            async with self._flood_limits.guard(place.chat, "the message"):
                return await pieces[index](post if index == 0 else replace(post, silent=True, reply_to=None))

        first = await self._send_progress.send(nonce, len(pieces), piece)
        if message.reply_to is None:
            self._anchors.pop(place, None)
        return MessageRef(place, first)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Replace text, picture and buttons of a message. If the new message has no picture, the old one stays, because
        Telegram cannot remove it.
        """
        bot = await self._online()
        chat, number = int(ref.address.chat), int(ref.message)
        reads = replace(message, picture=None), digest_of(message.picture)
        if self._reads.get((chat, number)) == reads:
            return  # a press changed it before, or this is a repeat: the call would count and change nothing
        known = self._shown.get((chat, number))
        async with self._flood_limits.guard(ref.address.chat, "the change of the message"):
            change = _Change(bot, chat, number, turn)
            try:
                await self._change(change, message, known)
            except BadRequest as refused:
                if message.picture is None or not errors.says(refused, *errors.NO_PICTURES):
                    raise
                await self._change(change, replace(message, picture=None), known)
        self._reads[chat, number] = reads

    async def without_buttons(self, ref: MessageRef, *, turn: Turn = at_once) -> None:
        """Remove the buttons of a message and leave the rest unchanged."""
        bot = await self._online()
        async with self._flood_limits.guard(ref.address.chat, "the change of the message"):
            await _Change(bot, int(ref.address.chat), int(ref.message), turn).keyboard()
        self._reads.pop((int(ref.address.chat), int(ref.message)), None)

    async def _change(self, change: _Change, message: Message, known: str | None) -> None:
        """Edit a message. `known` says what it shows: the digest of its picture, "" for a text, None if that is
        unknown.
        """
        draft = card_of(message, caption=bool(known) or message.picture is not None)
        if draft.picture is not None and digest_of(draft.picture) != known:
            await change.media(draft)
            self._shown[change.chat, change.message] = digest_of(draft.picture)
        elif known:
            await change.caption(draft)
        else:
            try:
                await change.text(draft)
            except BadRequest as refused:
                if not errors.says(refused, errors.NO_TEXT):
                    raise
                await change.caption(card_of(message, caption=True))

    async def react(self, ref: MessageRef) -> None:
        """Add a reaction to a person's message to show that it was seen, if the chat allows it."""
        bot = await self._online()
        try:
            async with errors.translated("the reaction"):
                await bot.set_message_reaction(int(ref.address.chat), int(ref.message), SEEN)
        except (BadRequest, ChatError, FloodWait) as refused:
            logger.info("A message keeps without a reaction: %s", refused)

    async def tell(self, own: MessageRef, message: Message, nonce: str, turn: Turn) -> None:
        """Send `message` as a silent reply to `own`. A short flood limit is waited out, and the message follows a chat
        that has a new id, because nothing would send it later. Raises what `send` raises.
        """
        reply = as_reply(own, message)
        try:
            await send_with_retry(lambda: self.send(own.address, reply, nonce=nonce, turn=turn))
        except errors.ChatMoved as away:
            there = replace(own.address, chat=away.chat, thread="")
            await self.send(there, replace(reply, reply_to=None), nonce=nonce, turn=turn)

    async def private(self, place: Address, person: Person) -> Address:
        """Return the private chat with a person. Its id is the person's id."""
        return Address(PLATFORM, place.account, person.id)

    async def delete(self, ref: MessageRef) -> None:
        """Delete a message; does nothing if it is already gone."""
        bot = await self._online()
        async with errors.translated("the deletion of the message"):
            try:
                await bot.delete_message(int(ref.address.chat), int(ref.message))
            except BadRequest as refused:
                if not errors.says(refused, errors.ALREADY_DELETED):
                    raise

    async def _post(self, draft: Draft, post: Post) -> str:
        sent = await post.send(draft)
        self._shown[sent.chat.id, sent.message_id] = "" if sent.text else digest_of(draft.picture)
        return str(sent.message_id)

    def _above(self, message: Message, place: Address) -> int | None:
        """Return the id of the message to reply to; a reply cannot refer to another chat."""
        above = message.reply_to
        target = self._anchors.get(place, "") if above is None else above.message
        here = above is None or above.address.chat == place.chat
        return int(target) if here and target.isdigit() else None


@dataclass(frozen=True, slots=True)
class _Change:
    """One change of a message. Telegram's refusal "not modified" counts as success."""

    bot: telegram.Bot
    chat: int
    message: int
    turn: Turn = at_once
    html: bool = True
    document: bool = False

    async def media(self, draft: Draft) -> None:
        await self.make(
            lambda one: one.bot.edit_message_media(
                media_of(draft, document=one.document, html=one.html),
                one.chat,
                one.message,
                reply_markup=keyboard_of(draft.rows),
            )
        )

    async def caption(self, draft: Draft) -> None:
        await self.make(lambda one: one.bot.edit_message_caption(**one.options("caption", draft)))

    async def text(self, draft: Draft) -> None:
        await self.make(
            lambda one: one.bot.edit_message_text(link_preview_options=NO_PREVIEW, **one.options("text", draft))
        )

    async def keyboard(self) -> None:
        await self.make(lambda one: one.bot.edit_message_reply_markup(one.chat, one.message))

    def options(self, name: str, draft: Draft) -> dict[str, Any]:
        where = {"chat_id": self.chat, "message_id": self.message, "reply_markup": keyboard_of(draft.rows)}
        return where | _worded(name, draft, html=self.html)

    async def make(self, edit: Callable[[_Change], Awaitable[object]]) -> None:
        """Make the edit; with the picture as a file or without markup, where exactly those are refused."""
        await self.turn()
        try:
            await edit(self)
        except BadRequest as refused:
            if not self.document and errors.says(refused, *errors.BAD_PHOTO):
                await replace(self, document=True).make(edit)
            elif self.html and errors.says(refused, errors.NOT_PARSED):
                await replace(self, html=False).make(edit)
            elif not errors.says(refused, errors.NOT_MODIFIED):
                raise
