"""Sending and deleting messages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import telegram
from telegram.error import BadRequest

from bot.chats.address import Address, MessageRef
from bot.chats.outgoing import Message, Picture, Turn, at_once
from bot.chats.telegram import errors
from bot.chats.telegram.drafts import Draft, drafts_of
from bot.chats.telegram.places import PLATFORM, thread_id
from bot.chats.telegram.posting import Post, album_of
from bot.chats.telegram.shown import Shown
from bot.chats.telegram.silence import Silence

Online = Callable[[], Awaitable[telegram.Bot]]
"""Gives the bot once it is logged in; raises ChatError when that takes too long."""

_UNFINISHED: Final = 256
"""Sendings that broke off between two parts and are remembered; ours."""


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far a sending of several parts got: the first message's id, and the pieces that are there."""

    first: str = ""
    done: int = 0


class Sender:
    """What goes out new. Raises FloodWait, ChatGone or ChatError."""

    def __init__(self, online: Online, silence: Silence, shown: Shown) -> None:
        self._online = online
        self._silence = silence
        self._shown = shown
        self._unfinished: OrderedDict[str, _Progress] = OrderedDict()
        self._anchors: dict[Address, str] = {}

    def anchor(self, place: Address, message: str) -> None:
        """The next message to `place` that replies to nothing replies to this one: a task's first message shows
        what it is about.
        """
        self._anchors[place] = message

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send all pieces. A sending that broke off goes on where it stopped when it comes again with its nonce."""
        bot = await self._online()
        mention = message.mention if message.mention and message.mention.platform == PLATFORM else None
        drafts, files = drafts_of(message, mention=mention)
        post = Post(bot, int(place.chat), thread_id(place), not message.notify, self._above(message, place), turn)
        progress = self._unfinished.pop(nonce, _Progress())
        pieces: list[Callable[[Post], Awaitable[str]]] = [self._piece(draft) for draft in drafts]
        pieces += [_album(some) for some in album_of(files)]
        try:
            for index in range(progress.done, len(pieces)):
                async with self._silence.calling(place.chat, "the message"):
                    number = await pieces[index](post if index == 0 else replace(post, silent=True, reply_to=None))
                progress = _Progress(progress.first or number, index + 1)
        finally:
            if 0 < progress.done < len(pieces):
                self._remember(nonce, progress)
        if message.reply_to is None:
            self._anchors.pop(place, None)
        return MessageRef(place, progress.first)

    async def delete(self, ref: MessageRef) -> None:
        """Delete a message; one that is gone already is success."""
        bot = await self._online()
        async with errors.translated("the deletion of the message"):
            try:
                await bot.delete_message(int(ref.address.chat), int(ref.message))
            except BadRequest as refused:
                if not errors.says(refused, errors.ALREADY_DELETED):
                    raise

    def _piece(self, draft: Draft) -> Callable[[Post], Awaitable[str]]:
        async def send(post: Post) -> str:
            sent = await post.send(draft)
            self._shown.remember(sent.chat.id, sent.message_id, "" if sent.text else draft.digest)
            return str(sent.message_id)

        return send

    def _above(self, message: Message, place: Address) -> int | None:
        """The message to reply to; a reply cannot point into another chat."""
        above = message.reply_to
        target = self._anchors.get(place, "") if above is None else above.message
        here = above is None or above.address.chat == place.chat
        return int(target) if here and target.isdigit() else None

    def _remember(self, nonce: str, progress: _Progress) -> None:
        self._unfinished[nonce] = progress
        if len(self._unfinished) > _UNFINISHED:
            self._unfinished.popitem(last=False)


def _album(files: Sequence[Picture]) -> Callable[[Post], Awaitable[str]]:
    async def send(post: Post) -> str:
        return str(await post.send_files(files))

    return send
