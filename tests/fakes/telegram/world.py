"""What a Telegram account is made of: people, chats, messages."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from typing import Any

Entity = dict[str, Any]
Keyboard = list[list[tuple[str, str]]]


@dataclass(eq=False)
class User:
    id: int
    name: str
    username: str = ""
    bot: bool = False
    language: str = ""

    def payload(self) -> dict[str, Any]:
        made: dict[str, Any] = {"id": self.id, "is_bot": self.bot, "first_name": self.name}
        made |= {"language_code": self.language} if self.language else {}
        return made | ({"username": self.username} if self.username else {})


@dataclass(eq=False)
class Chat:
    id: int
    type: str
    title: str = ""
    forum: bool = False
    topics: dict[int, str] = field(default_factory=dict)
    lost: str = ""
    """Why the bot may not write here any more, as Telegram says it."""
    migrated_to: int = 0
    manages_topics: bool = False
    """Whether the bot may."""
    closed: set[int] = field(default_factory=set)
    """Topics that are closed."""

    @property
    def private(self) -> bool:
        return self.type == "private"

    def payload(self) -> dict[str, Any]:
        made: dict[str, Any] = {"id": self.id, "type": self.type}
        made |= {"first_name": self.title} if self.private else {"title": self.title}
        return made | ({"is_forum": True} if self.forum else {})


@dataclass(eq=False)
class File:
    id: str
    kind: str
    """photo, document, animation, video, audio or voice (a second of speech is a thousand bytes)"""
    name: str
    data: bytes = field(repr=False)

    def payload(self) -> Any:
        made: dict[str, Any] = {"file_id": self.id, "file_unique_id": f"u{self.id}", "file_size": len(self.data)}
        if self.kind == "photo":
            return [made | {"width": 90, "height": 160}]
        if self.kind == "voice":
            return made | {"duration": max(1, len(self.data) // 1000), "mime_type": "audio/ogg"}
        if self.kind in {"animation", "video", "audio"}:
            made |= {"width": 90, "height": 160, "duration": 1}
        return made | ({"file_name": self.name} if self.name else {})


@dataclass(eq=False)
class Message:
    id: int
    chat: Chat
    sender: User
    text: str = ""
    """Text or caption, without markup."""
    entities: list[Entity] = field(default_factory=list)
    file: File | None = None
    keyboard: Keyboard = field(default_factory=list)
    thread: int = 0
    reply_to: Message | None = None
    silent: bool = False
    preview: bool = True
    album: str = ""
    date: int = field(default_factory=lambda: int(time.time()))
    extra: dict[str, Any] = field(default_factory=dict)
    edits: int = 0

    @property
    def buttons(self) -> dict[str, str]:
        """Labels by data."""
        return {data: label for row in self.keyboard for label, data in row}

    @property
    def photo(self) -> bytes | None:
        return self.file.data if self.file is not None and self.file.kind == "photo" else None

    @property
    def mentions(self) -> list[str]:
        """Ids of those whom the message names by link, and @names that are mentions on their own."""
        found = [str(e["user"]["id"]) for e in self.entities if e["type"] == "text_mention"]
        names = [slice_of(self.text, e) for e in self.entities if e["type"] == "mention"]
        return found + names

    def styled(self, style: str) -> list[str]:
        """The pieces of text that carry a style, such as "bold" or "pre"."""
        return [slice_of(self.text, entity) for entity in self.entities if entity["type"] == style]

    def payload(self, *, nested: bool = False) -> dict[str, Any]:
        made: dict[str, Any] = {"message_id": self.id, "date": self.date, "chat": self.chat.payload()}
        made |= {"from": self.sender.payload()} | self.extra
        kind = "caption" if self.file is not None else "text"
        if self.text:
            made[kind] = self.text
            if self.entities:
                made["caption_entities" if kind == "caption" else "entities"] = self.entities
        if self.file is not None:
            made[self.file.kind] = self.file.payload()
        if self.keyboard:
            rows = [[{"text": label, "callback_data": data} for label, data in row] for row in self.keyboard]
            made["reply_markup"] = {"inline_keyboard": rows}
        if self.thread:
            made |= {"message_thread_id": self.thread, "is_topic_message": True}
        if self.reply_to is not None and not nested:
            made["reply_to_message"] = self.reply_to.payload(nested=True)
            if self.chat.type == "supergroup" and not self.chat.forum:
                made["message_thread_id"] = self.reply_to.id  # replies make threads there too, which are no topics
        return made | ({"media_group_id": self.album} if self.album else {})


@dataclass(eq=False)
class Press:
    """A press of a button; `answer` is None until the bot answered it."""

    id: str
    answer: str | None = None
    alert: bool = False


def slice_of(text: str, entity: Entity) -> str:
    """The text of an entity, whose offsets count UTF-16 units."""
    units = text.encode("utf-16-le")
    return units[entity["offset"] * 2 : (entity["offset"] + entity["length"]) * 2].decode("utf-16-le")


class World:
    """Everything there is; message ids are counted per chat, as in supergroups."""

    def __init__(self, bot: User) -> None:
        self.bot = bot
        self.users: dict[int, User] = {bot.id: bot}
        self.chats: dict[int, Chat] = {}
        self.messages: dict[int, dict[int, Message]] = {}
        self.files: dict[str, File] = {}
        self.presses: dict[str, Press] = {}
        self.menus: dict[str, list[dict[str, str]]] = {}
        self.actions: list[tuple[int, str]] = []
        self.reactions: list[tuple[int, int, str]] = []
        """Chat, message and emoji."""
        self._numbers = itertools.count(1)
        self._last_message: dict[int, int] = {}

    def number(self) -> int:
        return next(self._numbers)

    def message_number(self, chat: Chat) -> int:
        """Ids of messages are never given twice, not even after deletion. 1 is the General topic's."""
        self._last_message[chat.id] = self._last_message.get(chat.id, 1) + 1
        return self._last_message[chat.id]

    def add(self, message: Message) -> Message:
        self.messages.setdefault(message.chat.id, {})[message.id] = message
        return message

    def store(self, kind: str, name: str, data: bytes) -> File:
        file = File(f"file{self.number()}", kind, name, data)
        self.files[file.id] = file
        return file
