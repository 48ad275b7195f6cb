"""Edits Telegram messages: text, caption, picture, buttons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import telegram
from telegram.constants import ParseMode
from telegram.error import BadRequest

from bot.chats.telegram import errors
from bot.chats.telegram.drafts import Draft, card_of, digest_of, keyboard_of
from bot.chats.telegram.flood_control import Silence
from bot.chats.telegram.sending import NO_PREVIEW, Online, ShownPictures, media_of
from bot.domain.address import MessageRef
from bot.domain.outgoing import Message, Turn, at_once
from devices.recent import Recent

_REMEMBERED: Final = 256
"""Changed messages that are remembered; our choice."""


class Editor:
    """Edits Telegram messages. Raises FloodWait, ChatGone or ChatError."""

    def __init__(self, online: Online, silence: Silence, shown: ShownPictures) -> None:
        self._online = online
        self._silence = silence
        self._shown = shown
        self._reads: Recent[tuple[int, int], tuple[Message, str]] = Recent(_REMEMBERED)
        """What messages read since their last change, each with the digest of its picture."""

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Replace text, picture and buttons of a message. If the new message has no picture, the old one stays, because
        Telegram cannot remove it.
        """
        bot = await self._online()
        chat, number = int(ref.address.chat), int(ref.message)
        reads = replace(message, picture=None), "" if message.picture is None else digest_of(message.picture)
        if self._reads.get((chat, number)) == reads:
            return  # a press changed it before, or this is a repeat: the call would count and change nothing
        known = self._shown.picture(chat, number)
        async with self._silence.calling(ref.address.chat, "the change of the message"):
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
        async with self._silence.calling(ref.address.chat, "the change of the message"):
            await _Change(bot, int(ref.address.chat), int(ref.message), turn).keyboard()
        self._reads.pop((int(ref.address.chat), int(ref.message)), None)

    async def _change(self, change: _Change, message: Message, known: str | None) -> None:
        """Edit a message. `known` says what it shows: the digest of its picture, "" for a text, None if that is
        unknown.
        """
        draft = card_of(message, caption=bool(known) or message.picture is not None)
        if draft.picture is not None and draft.digest != known:
            await change.media(draft)
            self._shown.remember(change.chat, change.message, draft.digest)
        elif known:
            await change.caption(draft)
        else:
            try:
                await change.text(draft)
            except BadRequest as refused:
                if not errors.says(refused, errors.NO_TEXT):
                    raise
                await change.caption(card_of(message, caption=True))


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
        await self.turn()
        try:
            await self.bot.edit_message_media(
                media_of(draft, document=self.document, html=self.html),
                self.chat,
                self.message,
                reply_markup=keyboard_of(draft.rows),
            )
        except BadRequest as refused:
            if not self.document and errors.says(refused, *errors.BAD_PHOTO):
                await replace(self, document=True).media(draft)
            elif self._must_be_plain(refused):
                await replace(self, html=False).media(draft)

    async def caption(self, draft: Draft) -> None:
        await self.turn()
        try:
            await self.bot.edit_message_caption(
                self.chat,
                self.message,
                caption=draft.part.html if self.html else draft.part.plain,
                parse_mode=ParseMode.HTML if self.html else None,
                reply_markup=keyboard_of(draft.rows),
            )
        except BadRequest as refused:
            if self._must_be_plain(refused):
                await replace(self, html=False).caption(draft)

    async def text(self, draft: Draft) -> None:
        await self.turn()
        try:
            await self.bot.edit_message_text(
                draft.part.html if self.html else draft.part.plain,
                self.chat,
                self.message,
                parse_mode=ParseMode.HTML if self.html else None,
                reply_markup=keyboard_of(draft.rows),
                link_preview_options=NO_PREVIEW,
            )
        except BadRequest as refused:
            if self._must_be_plain(refused):
                await replace(self, html=False).text(draft)

    async def keyboard(self) -> None:
        await self.turn()
        try:
            await self.bot.edit_message_reply_markup(self.chat, self.message)
        except BadRequest as refused:
            if not errors.says(refused, errors.NOT_MODIFIED):
                raise

    def _must_be_plain(self, refused: BadRequest) -> bool:
        """Return whether to try once more without markup; False if nothing is left to do. Raises any other refusal."""
        if errors.says(refused, errors.NOT_MODIFIED):
            return False
        if self.html and errors.says(refused, errors.NOT_PARSED):
            return True
        raise refused
