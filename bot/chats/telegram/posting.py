"""One message on its way to Telegram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import telegram
from telegram.constants import ParseMode
from telegram.error import BadRequest

from bot.chats.outgoing import Picture, Turn, at_once
from bot.chats.telegram import errors, limits
from bot.chats.telegram.buttons import keyboard_of
from bot.chats.telegram.drafts import Draft
from bot.chats.telegram.formatting import visible

NO_PREVIEW = telegram.LinkPreviewOptions(is_disabled=True)


def album_of(files: Sequence[Picture]) -> Iterator[Sequence[Picture]]:
    """Files in groups of at most ten."""
    for start in range(0, len(files), limits.ALBUM):
        yield files[start : start + limits.ALBUM]


def media_of(draft: Draft, *, document: bool, html: bool) -> telegram.InputMedia:
    """The picture with the text as its caption, as an edit takes it."""
    picture = draft.picture
    assert picture is not None
    options: dict[str, Any] = {
        "caption": draft.part.html if html else draft.part.plain,
        "parse_mode": ParseMode.HTML if html else None,
        "filename": picture.name,
    }
    if document or draft.kind == "document":
        return telegram.InputMediaDocument(picture.data, **options)
    if draft.kind == "animation":
        return telegram.InputMediaAnimation(picture.data, **options)
    return telegram.InputMediaPhoto(picture.data, **options)


@dataclass(frozen=True, slots=True)
class Post:
    """Where a message goes, and how."""

    bot: telegram.Bot
    chat: int
    thread: int | None
    silent: bool
    reply_to: int | None
    turn: Turn = at_once
    html: bool = True
    document: bool = False
    """Whether the picture goes as a file, as it is."""

    async def send(self, draft: Draft) -> telegram.Message:
        """Send it; as plain text where the HTML is refused, as a document where the photo is, and without the picture
        where the chat takes none.
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

    async def send_files(self, files: Sequence[Picture]) -> int:
        """Send files without text, two or more as an album. Returns the id of the first message."""
        for _ in files:
            await self.turn()  # an album counts as many messages as it has files
        if len(files) == 1 and files[0].name.lower().endswith((".gif", ".mp4")):
            moving = await self.bot.send_animation(self.chat, files[0].data, filename=files[0].name, **self._options())
            return moving.message_id
        if len(files) == 1:
            sent = await self.bot.send_document(self.chat, files[0].data, filename=files[0].name, **self._options())
            return sent.message_id
        media = [telegram.InputMediaDocument(file.data, filename=file.name) for file in files]
        return (await self.bot.send_media_group(self.chat, media, **self._options()))[0].message_id

    async def _send(self, draft: Draft) -> telegram.Message:
        await self.turn()
        options = self._options() | {
            "parse_mode": ParseMode.HTML if self.html else None,
            "reply_markup": keyboard_of(draft.rows),
        }
        text = draft.part.html if self.html else draft.part.plain
        picture = draft.picture
        if picture is None:
            return await self.bot.send_message(self.chat, text, link_preview_options=NO_PREVIEW, **options)
        options |= {"caption": text, "filename": picture.name}
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
