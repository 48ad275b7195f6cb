"""Handles messages and presses from people: recognises commands, downloads files, and answers; every press is answered
in time.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import telegram
from telegram import Audio, Document, PhotoSize, Video

from bot.chats.fetching import FETCH_SECONDS, Download, Downloads, IsAllowed, TooLarge
from bot.chats.incoming import Lateness, NotAccepted, answer, changed, message_of
from bot.chats.telegram import errors, limits
from bot.chats.telegram.places import PLATFORM, answered, is_answer_to, person_of, place_of, ref_of
from bot.chats.telegram.sending import Moved, Sender
from bot.domain.address import Place, on_one_line
from bot.domain.chat import ChatError, FloodWait, Intake
from bot.domain.incoming import Attachment, ForeignText, Incoming, Press, Voice, orders_work
from bot.domain.outgoing import Message, at_once
from bot.texts import say
from devices.recent import Recent

logger = logging.getLogger(__name__)


class Presses:
    """Answers every press of every button, known or not, within seconds: until then Telegram shows the button as
    waiting.
    """

    def __init__(self, intake: Intake, sender: Sender, patience: float) -> None:
        self._intake = intake
        self._sender = sender
        self._patience = patience

    async def handle(self, query: telegram.CallbackQuery, bot: telegram.Bot, *, backlog: bool = False) -> None:
        """Pass a press to the intake (the handler of everything that people do in chats), update the pressed message,
        and answer the press. If the intake takes long, the press is answered silently and the result is sent below the
        message, unless the message itself shows it.

        Telegram does not report when a button was pressed. A press from a `backlog` is therefore answered first: if
        Telegram says that it is too old, it counts as stale. Raises NotAccepted if Telegram must deliver the press
        again.
        """
        answered = query.message is None or backlog
        stale = answered and not await self._toast(query, "")
        if query.message is None:
            return
        place = place_of(bot.id, query.message)
        pressed = ref_of(place, query.message)
        event = f"{PLATFORM}:{query.id}"
        press = Press(person_of(query.from_user), place, event, query.data or "", pressed, stale)
        work = asyncio.ensure_future(self._intake.press(press))
        toast, in_time, again = "", False, False
        try:
            try:
                if not answered:
                    await asyncio.wait({work}, timeout=self._patience)
                    in_time = work.done()
                    if in_time:
                        toast, again = work.result().toast, work.result().again
            finally:
                if not answered and not again:
                    await self._toast(query, toast)
            reply = await work
            if reply.again:
                raise NotAccepted
        finally:
            work.cancel()
        shows = await changed(reply, pressed, self._sender.edit, self._sender.without_buttons)
        late = not in_time and (reply.dead or not shows)
        answer = message_of(reply) if late else reply.message
        if answer is not None and not reply.task:
            await self._sender.tell(pressed, answer, f"press:{query.id}", reply.turn)

    async def _toast(self, query: telegram.CallbackQuery, text: str) -> bool:
        """Answer the press. Returns False if Telegram no longer accepts an answer."""
        text = text if len(text) <= limits.TOAST else text[: limits.TOAST - 1] + "…"
        try:
            async with errors.translated("the answer to a press"):
                await query.answer(text or None, show_alert=len(text) > limits.TOAST_SHORT)
        except (ChatError, FloodWait) as refused:
            logger.info("The answer to a press did not reach its button: %s", refused)
            return "too old" not in str(refused)
        return True


KEPT_ALBUMS: Final = 64
"""Complete albums that are remembered, for a later reply to one of their parts; our choice."""

ROOT: Final = "opengui"
"""`/opengui do …` means the same as `/do …`."""

_COMMAND = re.compile(r"\s*/(?P<name>\w+)(?:@(?P<bot>\w+))?(?:\s+(?P<rest>.*))?$", re.DOTALL)

Attached = Document | PhotoSize | Video | Audio


@dataclass(slots=True)
class _Album:
    parts: dict[int, telegram.Message] = field(default_factory=dict)
    part_arrived: asyncio.Event = field(default_factory=asyncio.Event)


class Albums:
    """Gathers the messages of an album. Telegram delivers each file of an album as a separate message, one of them with
    the caption.
    """

    def __init__(self, quiet: float) -> None:
        """`quiet` is the seconds without a further part after which an album counts as complete."""
        self._quiet = quiet
        self._open: dict[tuple[int, str], _Album] = {}
        self._completed: Recent[tuple[int, str], tuple[telegram.Message, ...]] = Recent(KEPT_ALBUMS)

    async def gather(self, message: telegram.Message) -> tuple[telegram.Message, ...]:
        """Wait until the message's album is complete, and return its messages in order, the one with the caption first.
        Returns an empty tuple for a part of an album that another call is gathering, and just the message if it is in
        no album.
        """
        if message.media_group_id is None:
            return (message,)
        key = (message.chat.id, message.media_group_id)
        album = self._open.get(key)
        if album is not None:
            album.parts[message.message_id] = message
            album.part_arrived.set()
            return ()
        album = self._open[key] = _Album({message.message_id: message})
        try:
            await self._complete(album)
        finally:
            del self._open[key]
        parts = [album.parts[number] for number in sorted(album.parts)]
        self._completed[key] = tuple(parts)
        return tuple(sorted(parts, key=lambda part: not part.caption))

    def siblings(self, message: telegram.Message) -> tuple[telegram.Message, ...]:
        """Return all messages of this message's album, if they are remembered, else only the message: Telegram cannot
        be asked for an album.
        """
        if message.media_group_id is None:
            return (message,)
        return self._completed.get((message.chat.id, message.media_group_id), (message,))

    async def _complete(self, album: _Album) -> None:
        while len(album.parts) < limits.ALBUM:
            album.part_arrived.clear()
            try:
                async with asyncio.timeout(self._quiet):
                    await album.part_arrived.wait()
            except TimeoutError:
                return


def command_in(text: str, *, username: str, private: bool, names: Collection[str]) -> str | None:
    """Return the command without its slash and the bot's name; None if the text is not a command for this bot.

    In groups an unknown command may be another bot's, so it counts only if it names this bot.
    """
    found = _COMMAND.match(text)
    if found is None or (found["bot"] and found["bot"].lower() != username.lower()):
        return None
    name, rest = found["name"], (found["rest"] or "").strip()
    if name.lower() == ROOT:
        return rest
    if name.lower() == "start":  # what Telegram's Start button types
        return "help"
    if name.lower() not in names and not private and not found["bot"]:
        return None
    return f"{name} {rest}".strip()


def foreign_in(parts: Sequence[telegram.Message]) -> ForeignText | None:
    """Return who wrote the text of a message, or of an album's `parts`, if that is not the sender: it was forwarded, or
    an inline bot composed it (Bot API, Message: forward_origin, via_bot). Else None.
    """
    for part in parts:
        if part.forward_origin is not None:
            return ForeignText(on_one_line(_author(part.forward_origin)))
        if part.via_bot is not None:
            return ForeignText(f"@{part.via_bot.username}")
    return None


def _author(origin: telegram.MessageOrigin) -> str:
    match origin:
        case telegram.MessageOriginUser():
            return origin.sender_user.full_name or ""
        case telegram.MessageOriginHiddenUser():
            return origin.sender_user_name
        case telegram.MessageOriginChat():
            return origin.sender_chat.title or ""
        case telegram.MessageOriginChannel():
            return origin.chat.title or ""
        case _:  # a kind that this library does not know
            return ""


class Messages:
    """Turns each Telegram message into an Incoming, and sends the reply below the message."""

    def __init__(
        self,
        intake: Intake,
        sender: Sender,
        names: Collection[str],
        welcome: IsAllowed,
        moved: Moved,
        albums: Albums,
        ours: Callable[[str], bool],
    ) -> None:
        """`ours` returns whether anybody may use the bot in the chat with this id."""
        self._intake = intake
        self._sender = sender
        self._names = frozenset(names)
        self._is_allowed = welcome
        self._on_moved = moved
        self._albums = albums
        self._ours = ours
        self._lateness = Lateness()
        self._downloads = Downloads("Telegram", limits.INCOMING_BYTES, each=limits.INCOMING_FILE_BYTES)

    async def handle(self, message: telegram.Message, bot: telegram.Bot) -> None:
        """Pass a person's message to the intake (the handler of everything that people do in chats). Messages of bots
        and channels are ignored, and so are notices, except that the group has a new id. An anonymous admin is told why
        the bot cannot act. Raises NotAccepted if Telegram must deliver the message again.
        """
        if message.migrate_to_chat_id is not None:
            await self._on_moved(str(message.chat.id), str(message.migrate_to_chat_id))
        elif message.migrate_from_chat_id is not None:
            await self._on_moved(str(message.migrate_from_chat_id), str(message.chat.id))
        parts = await self._albums.gather(message)
        if not parts:
            return
        message = parts[0]
        text = message.text or message.caption or ""
        spoken = None if text else self._voice_of(message)
        place = place_of(bot.id, message)
        if message.from_user is None or message.from_user.is_bot or message.sender_chat is not None:
            await self._refuse_anonymous(message, place, text, bot)
            return
        carries = any(attached(part) is not None for part in parts)
        wordless = not text and place.private and carries
        if not text and spoken is None and not wordless:
            return
        person = person_of(message.from_user)
        own = ref_of(place, message)
        command = None
        foreign = foreign_in(parts)
        if foreign is None:
            command = command_in(text, username=bot.username, private=place.private, names=self._names)
        if command is not None and not text.rstrip().endswith(command):
            text = f"/{command}"  # without the bot's name, so that the intake finds what stood before the command
        files: tuple[Attachment, ...] = ()
        lost = ""
        # A text in private may become a task by a press, and its files go along.
        if (command is not None or place.private) and not wordless and self._is_allowed(person, place):
            above = self._above(message, bot) if orders_work(command) else ()
            found = map(attached, sorted((*above, *parts), key=lambda one: one.message_id))
            files, lost = await self._downloads.fetch([_download(*one) for one in found if one is not None])
        reply = await self._intake.message(
            Incoming(
                person=person,
                place=place,
                event=f"{PLATFORM}:{place.address.chat}:{own.message}",
                text=text,
                command=command,
                reply_to=answered(place, message),
                to_bot=is_answer_to(bot.id, message),
                message=own,
                attachments=files,
                stale=self._lateness.is_stale(message.date.timestamp(), command),
                written=message.date.timestamp(),
                voice=spoken,
                lead="/",
                carries=carries,
                foreign=foreign,
                wordless="/do" if wordless else "",
            )
        )
        if reply.again:
            raise NotAccepted
        await answer(self._sender, own, reply, lost)

    async def _refuse_anonymous(self, message: telegram.Message, place: Place, text: str, bot: telegram.Bot) -> None:
        """Answer a command of somebody who writes as the group itself: it has no sender whose rights could be
        checked.
        """
        as_group = message.sender_chat is not None and message.sender_chat.id == message.chat.id
        if not as_group or message.forward_origin is not None or not self._ours(place.address.chat):
            return
        late = self._lateness.is_late(message.date.timestamp())
        if late or command_in(text, username=bot.username, private=False, names=self._names) is None:
            return
        own = ref_of(place, message)
        told = Message(body=say("telegram.anonymous"))
        await self._sender.tell(own, told, f"nobody:{own.address.chat}:{own.message}", at_once)

    def _voice_of(self, message: telegram.Message) -> Voice | None:
        """Return the recording of a message: a voice note, or the sound of a round video. None if it has neither."""
        spoken = message.voice or message.video_note
        if spoken is None:
            return None
        name = "voice.ogg" if message.voice is not None else "voice.mp4"
        seconds = float(spoken.to_dict()["duration"])  # the attribute warns each time that it will be something else
        fetch = partial(self._downloads.recording, _download(spoken, name))
        return Voice(name, seconds, spoken.file_size or 0, fetch)

    def _above(self, message: telegram.Message, bot: telegram.Bot) -> tuple[telegram.Message, ...]:
        """Return the message that a person replies to, for its files; the bot's own messages, such as cards, do not
        count. Telegram reports only messages of the same chat this way, and everybody who replies to one sees it.
        """
        above = message.reply_to_message
        if above is None or is_answer_to(bot.id, message):
            return ()
        return self._albums.siblings(above)


def _download(found: Attached | telegram.Voice | telegram.VideoNote, name: str) -> Download:
    async def read(room: int) -> bytes:
        async with errors.translated("the download of a file"), asyncio.timeout(FETCH_SECONDS):
            file = await found.get_file()
            if (file.file_size or 0) > room:  # a message need not say how large its file is
                raise TooLarge
            return bytes(await file.download_as_bytearray())

    return Download(name, found.file_size or 0, read)


def attached(message: telegram.Message) -> tuple[Attached, str] | None:
    """Return the attachment of a message and its file name; None if it has none."""
    if message.document is not None:
        return message.document, message.document.file_name or "file"
    if message.video is not None:
        return message.video, message.video.file_name or "video.mp4"
    if message.audio is not None:
        return message.audio, message.audio.file_name or "audio.mp3"
    if message.photo:
        return max(message.photo, key=lambda size: size.width * size.height), "photo.jpg"
    return None
