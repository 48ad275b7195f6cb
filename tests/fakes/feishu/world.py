"""What is there: people, chats, messages and files, and how people would see a card."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from typing import Any

TENANT = "tenant0own"
ELSEWHERE = "tenant1other"
CARD_BYTES = 30 * 1024
_AT = re.compile(r"<at id=(ou_\w+)></at>")


@dataclass
class User:
    id: str
    name: str
    tenant: str = TENANT


@dataclass
class Chat:
    """A group, or the private chat with `person`."""

    id: str
    person: User | None = None
    bot_in: bool = True
    bot_admin: bool = False
    topics: bool = False
    """Whether each message begins a thread of its own."""


@dataclass
class Message:
    id: str
    chat: Chat
    kind: str
    content: dict[str, Any]
    sender: User | None = None
    """None for the bot."""
    root: str = ""
    parent: str = ""
    in_thread: bool = False
    uuid: str = ""
    mentions: list[dict[str, Any]] = field(default_factory=list)
    recalled: bool = False
    edits: int = 0
    reactions: list[str] = field(default_factory=list)
    inner: list[Message] = field(default_factory=list)
    """What a bundle of forwarded messages holds."""

    @property
    def thread(self) -> str:
        """The message that the thread was begun on, "" outside of threads."""
        return (self.root or self.id) if self.in_thread else ""

    @property
    def text(self) -> str:
        """All words, as people see them."""
        if self.kind != "interactive":
            return str(self.content.get("text", ""))
        lines = [self.content.get("header", {}).get("title", {}).get("content", "")]
        for element in self.content["elements"]:
            if element["tag"] == "div" and element["text"]["tag"] == "plain_text":
                lines.append(element["text"]["content"])
            elif element["tag"] == "note":
                lines += [one["content"] for one in element["elements"]]
        return "\n".join(filter(None, lines))

    @property
    def actions(self) -> list[dict[str, Any]]:
        if self.kind != "interactive":
            return []
        return [one for element in self.content["elements"] if element["tag"] == "action" for one in element["actions"]]

    @property
    def buttons(self) -> dict[str, str]:
        """Label by data."""
        return {one["value"]["data"]: one["text"]["content"] for one in self.actions if one["tag"] == "button"}

    @property
    def choices(self) -> list[str]:
        return [option["value"] for one in self.actions if one["tag"] == "select_static" for option in one["options"]]

    @property
    def rung(self) -> list[str]:
        """Whom it rings for by name: read wherever Feishu reads markup."""
        texts = []
        if self.kind == "text":
            texts = [self.text]
        for element in self.content.get("elements", ()):
            if element["tag"] in {"div", "markdown"} and element.get("text", element)["tag"] != "plain_text":
                texts.append(element.get("text", element)["content"])
        return [who for text in texts for who in re.findall(r"<at (?:user_)?id=\"?(\w+)", text)]

    @property
    def image(self) -> str:
        """The key of the picture that it shows."""
        if self.kind == "image":
            return str(self.content["image_key"])
        return next((one["img_key"] for one in self.content.get("elements", ()) if one["tag"] == "img"), "")


class World:
    """Numbers begin so that ids look as they do there."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.chats: dict[str, Chat] = {}
        self.messages: dict[str, Message] = {}
        """By id, oldest first."""
        self.files: dict[str, tuple[str, bytes]] = {}
        """Name and bytes by key; images have no name."""
        self._numbers = itertools.count(1)

    def new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._numbers):032x}"

    def user(self, name: str, tenant: str = TENANT) -> User:
        made = User(self.new_id("ou"), name, tenant)
        self.users[made.id] = made
        return made

    def group(self, *, topics: bool = False, bot_admin: bool = False) -> Chat:
        made = Chat(self.new_id("oc"), topics=topics, bot_admin=bot_admin)
        self.chats[made.id] = made
        return made

    def private(self, user: User) -> Chat:
        found = next((one for one in self.chats.values() if one.person is user), None)
        if found is None:
            found = Chat(self.new_id("oc"), user)
            self.chats[found.id] = found
        return found

    def keep(self, message: Message) -> Message:
        self.messages[message.id] = message
        return message

    def file(self, name: str, data: bytes) -> str:
        key = self.new_id("file" if name else "img")
        self.files[key] = (name, data)
        return key

    def fault_of(self, card: dict[str, Any]) -> str:
        """Why Feishu would not take a card, "" when it would."""
        if len(json.dumps(card, ensure_ascii=False).encode()) > CARD_BYTES:
            return "card is too large"
        if card.get("config", {}).get("update_multi") is not True:
            return "update_multi is not true"
        if not card.get("elements"):
            return "no elements"
        for element in card["elements"]:
            if fault := self._fault_of(element):
                return fault
        return ""

    def _fault_of(self, element: dict[str, Any]) -> str:
        match element["tag"]:
            case "div":
                text = element["text"]
                plain = text["tag"] == "plain_text" and isinstance(text["content"], str) and text["content"].strip()
                return "" if plain or (text["tag"] == "lark_md" and _AT.fullmatch(text["content"])) else "text"
            case "img":
                return "" if element["img_key"] in self.files and element["alt"]["tag"] == "plain_text" else "image"
            case "note":
                return "" if all(one["tag"] == "plain_text" for one in element["elements"]) else "note"
            case "action":
                return "" if all(map(_acts, element["actions"])) and element["actions"] else "action"
            case other:
                return f"unknown tag {other}"


def _acts(action: dict[str, Any]) -> bool:
    if not isinstance(action["value"], dict):
        return False
    if action["tag"] == "button":
        return action["type"] in {"default", "primary", "danger"} and bool(action["text"]["content"].strip())
    return action["tag"] == "select_static" and 0 < len(action["options"]) <= 100
