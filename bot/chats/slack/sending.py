"""Converts messages to Slack blocks, and sends messages, edits, files, and answers that only one person sees. Texts are
sent as rich text, which has no markup, so they cannot be misread as such.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2s
from itertools import groupby
from typing import Any, Final, TypeVar

import aiohttp
import yarl
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.chats.incoming import send_with_retry
from bot.chats.plain_text import FOOTER, HEADING, NOTHING, WHOLE_TEXT, Line, cut, pack, short, size
from bot.chats.sending import SendProgress
from bot.chats.slack import errors, limits
from bot.chats.slack.places import PLATFORM
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatError, FloodWait
from bot.domain.outgoing import Button, Menu, Message, Picture, Turn, at_once
from bot.texts import say
from devices.recent import Recent

logger = logging.getLogger(__name__)


Block = dict[str, Any]

_ADDRESS: Final = re.compile(r"https?://(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d{1,5})?(?:/[^\s<>\"]*)?", re.IGNORECASE)
"""Addresses that Slack accepts as links. Others stay text, or Slack would refuse the whole message."""
_ADDRESS_END: Final = ".,:;!?'\")"
"""Characters at the end that rarely belong to an address."""
_STYLES: Final = {"primary": "primary", "success": "primary", "danger": "danger"}
_SURROGATE: Final = re.compile("[\ud800-\udfff\0]")
"""Unpaired surrogates and NUL, which cannot be sent."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One Slack message, ready to be sent. The picture is placed between text and footer once it has been uploaded."""

    text: str
    """The text where blocks are not shown, such as in a notification; escaped."""
    blocks: tuple[Block, ...]
    below: tuple[Block, ...] = ()
    picture: Picture | None = None

    def with_picture(self, file: str) -> list[Block]:
        """Return all blocks, with the uploaded picture whose file id is `file`; "" leaves it out."""
        shown = []
        if file and self.picture is not None:
            shown = [{"type": "image", "slack_file": {"id": file}, "alt_text": self.picture.name}]
        return [*self.blocks, *shown, *self.below]


def escape(text: str) -> str:
    """Escape the text for a mrkdwn field, so that it cannot produce a mention or a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def drafts_of(message: Message, *, mention: str = "") -> tuple[list[Draft], tuple[Picture, ...]]:
    """Split the message into one or more Slack messages, and the files that are sent after them. Picture, menu and
    buttons stay with the first. `mention` is the id of the only person to mention, "" for nobody.
    """
    parts = _parts(message)
    files = message.files
    if len(parts) > limits.PARTS:
        files = (*files, Picture(WHOLE_TEXT, message.body.encode(errors="replace")))
        parts = _parts(_shortened(message, say("chats.whole_text", name=WHOLE_TEXT)))
    return _drafts(message, parts, mention), files


def card_of(message: Message) -> Draft:
    """Return the message as one draft for an edit, cut if it is too long, because an edit cannot become two."""
    parts = _parts(message)
    if len(parts) > 1:
        parts = _parts(_shortened(message, say("chats.cut")))
    return _drafts(message, parts, "")[0]


def without_buttons(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks of a received message without its controls, in a form that can be sent again: Slack adds fields
    that it does not accept.
    """
    return [one for block in blocks if block.get("type") != "actions" for one in _as_sent(block)]


def _as_sent(block: Block) -> list[Block]:
    """Convert a received block; empty for a picture whose file id Slack does not reveal."""
    if block.get("type") != "image":
        return [{key: value for key, value in block.items() if key != "block_id"}]
    file = (block.get("slack_file") or {}).get("id")
    return [{"type": "image", "slack_file": {"id": file}, "alt_text": block.get("alt_text") or NOTHING}] if file else []


def _parts(message: Message) -> list[list[Line]]:
    return pack(_clean(message.body), limits.TEXT - HEADING, limits.TEXT) or [[]]


def _clean(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _shortened(message: Message, note: str) -> Message:
    """Shorten the body so that it fits into one piece together with the note."""
    room = limits.TEXT - HEADING - size(note) - 2
    return replace(message, body=f"{cut(message.body, room).rstrip()}\n{note}")


def _drafts(message: Message, parts: Sequence[list[Line]], mention: str) -> list[Draft]:
    heading, footer = short(_clean(message.heading), HEADING), short(_clean(message.footer), FOOTER)
    controls = tuple(_controls(message.menu, message.buttons))
    drafts = []
    for index, lines in enumerate(parts):
        first, last = index == 0, index == len(parts) - 1
        text = "\n".join(filter(None, [heading if first else "", "\n".join(line for line, _ in lines)]))
        above = _rich(heading if first else "", lines, mention if first else "")
        small = {"type": "context", "elements": [_plain(footer)]} if footer and last else None
        below = (*([small] if small else []), *(controls if first else ()))
        picture = message.picture if first else None
        if not above and picture is None and small is None:
            above = _rich("", [(NOTHING, None)], "")
        drafts.append(Draft(escape(cut(text or footer or NOTHING, limits.TEXT)), above, below, picture))
    return drafts


def _rich(heading: str, lines: Sequence[Line], mention: str) -> tuple[Block, ...]:
    """Make one rich text block of heading and lines; empty without either."""
    head: list[Block] = [{"type": "user", "user_id": mention}, _text(" ")] if mention else []
    if heading:
        head.append(_text(heading) | {"style": {"bold": True}})
    elements: list[Block] = []
    for block, group in groupby(lines, key=lambda line: line[1]):
        text = "\n".join(line for line, _ in group)
        if block is not None:
            elements.append({"type": "rich_text_preformatted", "elements": [_text(text or " ")]})
        elif text:
            elements.append({"type": "rich_text_section", "elements": _linked(text)})
    if head and elements and elements[0]["type"] == "rich_text_section":
        gap = [_text("\n")] if heading else []
        elements[0]["elements"] = [*head, *gap, *elements[0]["elements"]]
    elif head:
        elements.insert(0, {"type": "rich_text_section", "elements": head})
    return ({"type": "rich_text", "elements": elements},) if elements else ()


def _linked(text: str) -> list[Block]:
    made, end = [], 0
    for found in _ADDRESS.finditer(text):
        address = found.group().rstrip(_ADDRESS_END)
        if found.start() > end:
            made.append(_text(text[end : found.start()]))
        made.append({"type": "link", "url": address})
        end = found.start() + len(address)
    return [*made, _text(text[end:])] if end < len(text) else made


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": False}


def _controls(menu: Menu | None, rows: Sequence[Sequence[Button]]) -> list[Block]:
    """Make blocks for the menu and the button rows. Presses are identified by their values, not by ids."""
    made: list[Block] = []
    if menu is not None and menu.choices:
        options = [{"text": _label(one.label), "value": one.data} for one in menu.choices[: limits.MENU_CHOICES]]
        select: Block = {"type": "static_select", "action_id": "menu", "options": options}
        if menu.prompt:
            select["placeholder"] = _plain(menu.prompt[: limits.PLACEHOLDER])
        made.append({"type": "actions", "elements": [select]})
    for number, row in enumerate(rows):
        buttons = [_button(one, f"{number}.{index}") for index, one in enumerate(row)]
        made += [{"type": "actions", "elements": buttons}] if buttons else []
    return made


def _button(button: Button, number: str) -> Block:
    made = {"type": "button", "action_id": number, "text": _label(button.label), "value": button.data}
    return made | ({"style": _STYLES[button.style]} if button.style in _STYLES else {})


def _label(label: str) -> Block:
    """Make a label; Slack does not accept a blank one."""
    return _plain(short(" ".join(label.split()), limits.BUTTON_LABEL) or NOTHING)


Online = Callable[[], Awaitable[AsyncWebClient]]
"""Returns the client once it is logged in; raises ChatError if that takes too long."""

T = TypeVar("T")

_UPLOADED: Final = 256
"""Uploaded pictures that are remembered, so that a card with the same one does not upload it again; our choice."""

_EYES: Final = "eyes"
"""Slack's name of the reaction to a message that was seen."""


class Sender:
    """Sends messages, edits and files to Slack. Raises FloodWait, ChatGone or ChatError."""

    def __init__(self, online: Online, is_own: Callable[[yarl.URL], bool]) -> None:
        """`is_own` tells whether an address is one of Slack's own."""
        self._online = online
        self._is_own = is_own
        self._send_progress = SendProgress()
        self._uploaded: Recent[str, str] = Recent(_UPLOADED)

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send all parts, and return the reference of the first. A reply goes into the thread of the message that it
        answers. Slack has no nonces: called again with the same one, an interrupted sending continues where it stopped.
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

        first = await self._send_progress.send(nonce, len(drafts) + bool(files), piece)
        return MessageRef(replace(place, thread=place.thread or answered), first)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Replace text, picture and buttons of a message."""
        client, draft = await self._online(), card_of(message)
        await turn()

        async def change(blocks: list[Block]) -> None:
            await client.chat_update(channel=ref.address.chat, ts=ref.message, text=draft.text, blocks=blocks)

        await self._shown(client, draft, "the change of the message", change)

    async def without_buttons(self, ref: MessageRef, *, shown: Mapping[str, Any], turn: Turn) -> None:
        """Remove the buttons of a pressed message; `shown` is the message's content, which came with the press."""
        client = await self._online()
        await turn()
        text, blocks = str(shown.get("text", "")), without_buttons(shown.get("blocks") or [])
        async with errors.translated("the change of the message"):
            await client.chat_update(channel=ref.address.chat, ts=ref.message, text=text, blocks=blocks)

    async def delete(self, ref: MessageRef) -> None:
        """Raise ChatError, because a Slack bot cannot delete people's messages."""
        del ref
        raise ChatError("Slack lets no bot delete what people write.")

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

            await send_with_retry(partial(self._shown, client, draft, "the answer", show))

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
        told = await client.files_getUploadURLExternal(filename=file.name, length=len(file.data))
        await self._posted(client, str(told["upload_url"]), data=file.data)
        return str(told["file_id"])

    async def _posted(self, client: AsyncWebClient, url: str, **body: object) -> None:
        """Post to a URL that Slack provided, without the token and without following redirects."""
        if not self._is_own(yarl.URL(url)) or client.session is None:
            raise ChatError("Slack named an address that is not its own, so nothing was sent there.")
        async with client.session.post(url, allow_redirects=False, **body) as answer:  # type: ignore[arg-type] # one of two
            if answer.status != 200:
                raise aiohttp.ClientResponseError(
                    answer.request_info, answer.history, status=answer.status, headers=answer.headers
                )
