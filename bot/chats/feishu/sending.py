"""Sends and edits cards, sends files, adds reactions and recalls messages."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import blake2s
from typing import Any, Final

from bot.chats.feishu import limits
from bot.chats.feishu.api import RECALLED, Api, Refused, meaning
from bot.chats.feishu.cards import PERSON, PLATFORM, card_of, cards_of, text_of
from bot.chats.plain_text import NOTHING
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatError, FloodWait
from bot.domain.outgoing import Message, Picture, Turn, at_once
from bot.texts import words
from devices.recent import Recent

logger = logging.getLogger(__name__)

Online = Callable[[], Awaitable[Api]]
"""Returns the API once the app is logged in; raises ChatError if that takes too long."""

_SEEN_EMOJI: Final = "OnIt"
"""The reaction used for "seen" (Emoji list), because Feishu has no eyes."""
_REMEMBERED: Final = 256


@asynccontextmanager
async def refusals(doing: str) -> AsyncIterator[None]:
    """Turn a refusal raised in the block into FloodWait, ChatGone, ChatRefused or ChatError; `doing` is a text key
    below `feishu.doing`.
    """
    try:
        yield
    except Refused as refused:
        logger.info("Feishu refused to %s with code %d.", doing, refused.code)
        raise meaning(refused, doing) from None


class Sender:
    """Sends and edits Feishu messages. Raises FloodWait, ChatGone or ChatError."""

    def __init__(self, online: Online) -> None:
        self._online = online
        self._images: Recent[bytes, str] = Recent(_REMEMBERED)
        """Keys of uploaded pictures, by the digest of their bytes."""
        self._contents: Recent[str, str] = Recent(_REMEMBERED)
        """The current content of cards."""
        self._anchors: Recent[Address, str] = Recent(_REMEMBERED)
        self.own: Recent[str, None] = Recent(4 * _REMEMBERED)
        """Messages that the bot has sent."""

    def anchor(self, place: Address, message: str) -> None:
        """Make the next message to `place` a reply to this message, unless it replies to another one."""
        self._anchors[place] = message

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send all parts, and return the reference of the first. Sending again with the same nonce within an hour shows
        no part twice, because each part has an id made from it.
        """
        api = await self._online()
        cards, files = cards_of(message)
        reply_to = self._anchors.get(place, "") if message.reply_to is None else _here(message.reply_to, place)
        first = ""
        async with refusals("send"):
            for index, card in enumerate(cards):
                content = card_of(card, place, await self._image(api, card.picture))
                await turn()
                uuid = _uuid(nonce, index)
                sent = await self._post(api, place, "interactive", content, uuid, "" if first else reply_to)
                self._contents[sent] = content
                first = first or sent
            for index, file in enumerate(files, len(cards)):
                kind, content = await self._upload(api, file)
                await turn()
                await self._post(api, place, kind, content, _uuid(nonce, index), "")
        if message.reply_to is None:
            self._anchors.pop(place, None)
        return MessageRef(place, first)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Replace the whole card. Excess text is cut, because an edit cannot become two messages."""
        api, picture = await self._online(), message.picture
        if picture is not None and len(picture.data) > limits.IMAGE_BYTES:
            picture = None
        async with refusals("edit"):
            content = card_of(replace(message, mention=None), ref.address, await self._image(api, picture))
        await self._change(api, ref, content, turn)

    async def without_buttons(self, ref: MessageRef, *, turn: Turn = at_once) -> None:
        """Remove menu and buttons of a card. Raises ChatError for a card of an earlier process, because Feishu does not
        reveal a card's content.
        """
        api, known = await self._online(), self._contents.get(ref.message)
        if known is None:
            raise ChatError(words("feishu.forgotten"))
        card = json.loads(known)
        card["elements"] = [one for one in card["elements"] if one["tag"] != "action"] or [text_of(NOTHING)]
        await self._change(api, ref, json.dumps(card, ensure_ascii=False), turn)

    async def _change(self, api: Api, ref: MessageRef, content: str, turn: Turn) -> None:
        if self._contents.get(ref.message) == content:
            return  # a press changed it before, or this is a repeat
        async with refusals("edit"):
            await turn()
            await api.call("PATCH", f"im/v1/messages/{ref.message}", {"content": content})
        self._contents[ref.message] = content

    async def delete(self, ref: MessageRef) -> None:
        """Recall a message; does nothing if it is already gone."""
        api = await self._online()
        async with refusals("delete"):
            try:
                await api.call("DELETE", f"im/v1/messages/{ref.message}")
            except Refused as refused:
                if refused.code not in RECALLED:
                    raise

    async def react(self, ref: MessageRef) -> None:
        """Add a reaction to a person's message to show that it was seen, if the bot may."""
        api = await self._online()
        try:
            async with refusals("react"):
                body = {"reaction_type": {"emoji_type": _SEEN_EMOJI}}
                await api.call("POST", f"im/v1/messages/{ref.message}/reactions", body)
        except (ChatError, FloodWait) as refused:
            logger.info("A message keeps without a reaction: %s", refused)

    async def private(self, place: Address, person: Person) -> Address:
        """Return the private chat with a person. Its id is the person's id."""
        return Address(PLATFORM, place.account, person.id)

    async def _post(self, api: Api, place: Address, kind: str, content: str, uuid: str, reply_to: str) -> str:
        """Send one message, as a reply to `reply_to` or in its thread. A message for a thread is never sent to the
        whole chat instead: if its root is gone, so is the thread.
        """
        body: dict[str, Any] = {"msg_type": kind, "content": content, "uuid": uuid}
        for target in dict.fromkeys(filter(None, (reply_to, place.thread))):
            try:
                answer = await api.call(
                    "POST", f"im/v1/messages/{target}/reply", {**body, "reply_in_thread": bool(place.thread)}
                )
                break
            except Refused as refused:
                if refused.code not in RECALLED or target == place.thread:
                    raise
        else:
            to = "open_id" if PERSON.fullmatch(place.chat) else "chat_id"
            answer = await api.call("POST", f"im/v1/messages?receive_id_type={to}", {**body, "receive_id": place.chat})
        sent = str(answer["data"]["message_id"])
        self.own[sent] = None
        return sent

    async def _image(self, api: Api, picture: Picture | None) -> str:
        """Return the key of a picture, which is uploaded only once."""
        if picture is None:
            return ""
        digest = blake2s(picture.data).digest()
        key = self._images.get(digest)
        if key is None:
            answer = await api.call("POST", "im/v1/images", form={"image_type": "message", "image": picture.data})
            key = self._images[digest] = str(answer["data"]["image_key"])
        return key

    async def _upload(self, api: Api, file: Picture) -> tuple[str, str]:
        """Upload a file and return the kind and content of a message with it. Animated pictures are sent as images;
        other files keep every byte and their name.
        """
        if file.name.lower().endswith(".gif") and len(file.data) <= limits.IMAGE_BYTES:
            return "image", json.dumps({"image_key": await self._image(api, file)})
        form: dict[str, str | bytes] = {"file_type": "stream", "file_name": file.name, "file": file.data}
        answer = await api.call("POST", "im/v1/files", form=form)
        return "file", json.dumps({"file_key": answer["data"]["file_key"]})


def _here(ref: MessageRef, place: Address) -> str:
    """Return the message to reply to; a reply cannot refer to another chat."""
    return ref.message if ref.address.chat == place.chat else ""


def _uuid(nonce: str, part: int) -> str:
    """Return the id by which Feishu recognises a repeated sending for an hour; at most 50 characters (Send a
    message).
    """
    return blake2s(f"{nonce}/{part}".encode(), digest_size=16).hexdigest()
