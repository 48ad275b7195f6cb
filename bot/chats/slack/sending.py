"""Sends messages, edits, files, and answers that only one person sees, on Slack."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from hashlib import blake2s
from typing import Any, Final, TypeVar

import aiohttp
import yarl
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.chats.answering import patiently
from bot.chats.slack import errors, limits
from bot.chats.slack.formatting import Block, Draft, card_of, drafts_of, without_buttons
from bot.chats.slack.places import PLATFORM, Hosts
from bot.chats.unfinished import Unfinished
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatError, FloodWait
from bot.domain.outgoing import Message, Picture, Turn, at_once
from devices.recent import Recent

logger = logging.getLogger(__name__)

Online = Callable[[], Awaitable[AsyncWebClient]]
"""Returns the client once it is logged in; raises ChatError if that takes too long."""

T = TypeVar("T")

_UPLOADED: Final = 256
"""Uploaded pictures that are remembered, so that a card with the same one does not upload it again; our choice."""

_EYES: Final = "eyes"
"""Slack's name of the reaction to a message that was seen."""


class Sender:
    """Sends messages, edits and files to Slack. Raises FloodWait, ChatGone or ChatError."""

    def __init__(self, online: Online, hosts: Hosts) -> None:
        self._online = online
        self._hosts = hosts
        self._unfinished = Unfinished()
        self._uploaded: Recent[str, str] = Recent(_UPLOADED)

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send all parts, and return the reference of the first. A reply goes into the thread of the message that it
        answers. Called again with the same nonce, an interrupted sending continues where it stopped.
        """
        client = await self._online()
        mention = message.mention.id if message.mention and message.mention.platform == PLATFORM else ""
        drafts, files = drafts_of(message, mention=mention)
        above = message.reply_to
        answered = above.message if above is not None and above.address.chat == place.chat and place.guild else ""

        async def piece(index: int) -> str:
            if index < len(drafts):
                return await self._post(client, place, drafts[index], answered, turn)
            await turn()
            async with errors.translated("the files"):
                shown: list[dict[str, str | None]] = [
                    {"id": await self._upload(client, file), "title": file.name} for file in files
                ]
                thread = place.thread or answered or None
                await client.files_completeUploadExternal(files=shown, channel_id=place.chat, thread_ts=thread)
            return ""

        first = await self._unfinished.send(nonce, len(drafts) + bool(files), piece)
        return MessageRef(replace(place, thread=place.thread or answered), first)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Replace text, picture and buttons of a message."""
        client, draft = await self._online(), card_of(message)
        await turn()

        async def change(blocks: list[Block]) -> None:
            await client.chat_update(channel=ref.address.chat, ts=ref.message, text=draft.text, blocks=blocks)

        await self._shown(client, draft, "the change of the message", change)

    async def without_buttons(self, ref: MessageRef, shown: dict[str, Any]) -> None:
        """Remove the buttons of a pressed message; `shown` is the message's content, which came with the press."""
        client = await self._online()
        text, blocks = str(shown.get("text", "")), without_buttons(shown.get("blocks") or [])
        async with errors.translated("the change of the message"):
            await client.chat_update(channel=ref.address.chat, ts=ref.message, text=text, blocks=blocks)

    async def private(self, place: Address, person: Person) -> Address:
        """Return the one-to-one chat with a person."""
        client = await self._online()
        async with errors.translated("a private chat"):
            opened = await client.conversations_open(users=person.id)
        return Address(PLATFORM, place.account, str(opened["channel"]["id"]))

    async def react(self, ref: MessageRef) -> None:
        """Add a reaction to the message to show that it was seen."""
        client = await self._online()
        try:
            async with errors.translated("the reaction"):
                await client.reactions_add(channel=ref.address.chat, timestamp=ref.message, name=_EYES)
        except (ChatError, FloodWait) as refused:
            logger.info("A message keeps without a reaction: %s", refused)

    async def whisper(self, url: str, message: Message, thread: str, *, replace_original: bool = False) -> None:
        """Answer a press or slash command at the URL that came with it, visible only to its sender. With
        `replace_original`, the answer replaces the message that only they saw and pressed. `thread` is the id of the
        thread, "" for none.
        """
        client = await self._online()
        drafts, _ = drafts_of(message)
        for draft in drafts:
            body: dict[str, Any] = {"response_type": "ephemeral", "replace_original": replace_original}
            body["text"] = draft.text
            body |= {"thread_ts": thread} if thread else {}

            async def show(blocks: list[Block], body: dict[str, Any] = body) -> None:
                await self._posted(client, url, json=body | {"blocks": blocks})

            await patiently(partial(self._shown, client, draft, "the answer", show))

    async def _post(self, client: AsyncWebClient, place: Address, draft: Draft, answered: str, turn: Turn) -> str:
        """Send one piece, without the reply if the message it answers is gone. Returns its id."""
        await turn()

        async def post(blocks: list[Block]) -> str:
            options: dict[str, Any] = {"channel": place.chat, "text": draft.text, "blocks": blocks, "mrkdwn": False}
            options |= {"unfurl_links": False, "unfurl_media": False}
            try:
                sent = await client.chat_postMessage(**options, thread_ts=place.thread or answered or None)
            except SlackApiError as refused:
                if place.thread or not answered or errors.code_of(refused) not in errors.NO_THREAD:
                    raise
                sent = await client.chat_postMessage(**options)
            return str(sent["ts"])

        return await self._shown(client, draft, "the message", post)

    async def _shown(
        self, client: AsyncWebClient, draft: Draft, doing: str, show: Callable[[list[Block]], Awaitable[T]]
    ) -> T:
        """Show a message with its picture, or without it if Slack does not accept that."""
        async with errors.translated(doing):
            file = "" if draft.picture is None else await self._picture(client, draft.picture)
            if file:
                try:
                    return await show(draft.with_picture(file))
                except (SlackApiError, aiohttp.ClientResponseError) as refused:
                    # A URL for answers to presses does not say why it refuses.
                    named = isinstance(refused, SlackApiError) and errors.code_of(refused) != errors.NO_BLOCKS
                    if named or errors.is_flood(refused):
                        raise
            return await show(draft.with_picture(""))

    async def _picture(self, client: AsyncWebClient, picture: Picture) -> str:
        """Upload a picture that belongs to no message yet and return its id; "" if Slack refuses it."""
        digest = blake2s(picture.data).hexdigest()
        if (known := self._uploaded.get(digest)) is not None:
            return known
        try:
            made = await self._upload(client, picture)
            await client.files_completeUploadExternal(files=[{"id": made, "title": picture.name}])
            for pause in limits.PICTURE_PAUSES:
                if (await client.files_info(file=made))["file"].get("mimetype"):
                    break
                await asyncio.sleep(pause)
        except (SlackApiError, aiohttp.ClientResponseError) as refused:
            if errors.is_flood(refused):
                raise
            logger.warning("A message is sent without its picture, which Slack refused (%s).", errors.code_of(refused))
            return ""
        self._uploaded[digest] = made
        return made

    async def _upload(self, client: AsyncWebClient, file: Picture) -> str:
        """Upload a file and return its id."""
        told = await client.files_getUploadURLExternal(filename=file.name, length=len(file.data))
        await self._posted(client, str(told["upload_url"]), data=file.data)
        return str(told["file_id"])

    async def _posted(self, client: AsyncWebClient, url: str, **body: object) -> None:
        """Post to a URL that Slack provided, without the token and without following redirects."""
        if not self._hosts.own(yarl.URL(url)) or client.session is None:
            raise ChatError("Slack named an address that is not its own, so nothing was sent there.")
        async with client.session.post(url, allow_redirects=False, **body) as answer:  # type: ignore[arg-type] # one of two
            if answer.status != 200:
                raise aiohttp.ClientResponseError(
                    answer.request_info, answer.history, status=answer.status, headers=answer.headers
                )
