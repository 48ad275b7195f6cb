"""What a workspace is made of: people, channels, messages, files."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Block = dict[str, Any]
_RINGS = re.compile(r"<(?:@([A-Z0-9]+)|!(channel|here|everyone))>")


@dataclass(eq=False)
class User:
    id: str
    name: str
    team: str
    locale: str = "en-US"
    bot: bool = False

    def payload(self) -> dict[str, Any]:
        profile = {"display_name": self.name, "real_name": self.name.capitalize()}
        made = {"id": self.id, "team_id": self.team, "name": self.name, "is_bot": self.bot, "locale": self.locale}
        return made | {"profile": profile}


@dataclass(eq=False)
class Channel:
    id: str
    name: str = ""
    members: set[str] = field(default_factory=set)
    shared: bool = False
    """With another workspace, by Slack Connect."""
    archived: bool = False


@dataclass(eq=False)
class File:
    id: str
    name: str
    data: bytes = field(repr=False)
    whole: bool = False
    """Whether its upload was completed."""
    looks: int = 0
    """How often it must be looked at until Slack has read it."""
    extra: dict[str, Any] = field(default_factory=dict)

    def payload(self, origin: str) -> dict[str, Any]:
        url = f"{origin}/files/{self.id}/{self.name.replace(' ', '_')}"
        made = {"id": self.id, "name": self.name, "size": len(self.data), "mode": "hosted", "url_private": url}
        mimetype = "" if self.looks else "application/octet-stream"
        return made | {"url_private_download": url, "mimetype": mimetype} | self.extra


@dataclass(eq=False)
class Message:
    ts: str
    channel: Channel
    user: User
    text: str = ""
    """As Slack has it: with its control characters."""
    blocks: list[Block] = field(default_factory=list)
    thread: str = ""
    files: list[File] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    edits: int = 0
    reactions: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """What people read of it."""
        if not self.blocks:
            return self.text
        return "\n".join(filter(None, (_text_of(block) for block in self.blocks)))

    @property
    def buttons(self) -> dict[str, str]:
        """Labels by value."""
        return {one["value"]: one["text"]["text"] for one in self._controls() if one["type"] == "button"}

    @property
    def choices(self) -> list[str]:
        """The values of its menus."""
        menus = (one for one in self._controls() if one["type"] == "static_select")
        return [option["value"] for menu in menus for option in menu["options"]]

    @property
    def pictures(self) -> list[str]:
        """The ids of the files that it shows in place."""
        return [block["slack_file"]["id"] for block in self.blocks if block["type"] == "image"]

    @property
    def mentions(self) -> list[str]:
        """Ids of those for whom it rings; "everyone" for all."""
        typed = [who or "everyone" for who, _ in _RINGS.findall(self.text)]
        elements = (inner for outer in self._elements() for inner in outer.get("elements", ()))
        return typed + [one.get("user_id", "everyone") for one in elements if one["type"] in {"user", "broadcast"}]

    def _elements(self) -> Iterator[Block]:
        for block in self.blocks:
            yield from block.get("elements", ()) if block["type"] == "rich_text" else ()

    def _controls(self) -> Iterator[Block]:
        for block in self.blocks:
            yield from block["elements"] if block["type"] == "actions" else ()

    def payload(self, origin: str) -> dict[str, Any]:
        made: dict[str, Any] = {"type": "message", "ts": self.ts, "text": self.text, "user": self.user.id}
        made |= {"team": self.user.team, "channel": self.channel.id, "event_ts": self.ts}
        made["channel_type"] = "im" if self.channel.id.startswith("D") else "channel"
        if self.blocks:
            made["blocks"] = [{"block_id": f"b{number}", **_told(block)} for number, block in enumerate(self.blocks)]
        if self.thread:
            made["thread_ts"] = self.thread
        if self.files:
            made |= {"subtype": "file_share", "files": [file.payload(origin) for file in self.files]}
        return made | self.extra


def _told(block: Block) -> Block:
    """A block as Slack tells it: with what it knows of a file."""
    if block["type"] != "image":
        return block
    return block | {"slack_file": block["slack_file"] | {"url": "https://files.slack.com/x"}, "image_width": 90}


def _text_of(block: Block) -> str:
    if block["type"] == "context":
        return "\n".join(str(one["text"]) for one in block["elements"])
    if block["type"] != "rich_text":
        return ""
    return "\n".join(
        "".join(str(one.get("text") or one.get("url") or "") for one in outer["elements"])
        for outer in block["elements"]
    ).strip()


class World:
    """Everything there is."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.team = "T0HOME"
        self.bot = User("U0BOT", "opengui", self.team, bot=True)
        self.users: dict[str, User] = {self.bot.id: self.bot}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, dict[str, Message]] = {}
        """By channel and id, in their order."""
        self.whispers: list[tuple[str, Message]] = []
        """What one person alone has seen, with the address that it was answered at."""
        self.files: dict[str, File] = {}

    def number(self, letter: str) -> str:
        return f"{letter}{next(self._numbers):08d}"

    def ts(self, age: float = 0) -> str:
        return f"{int(time.time() - age)}.{next(self._numbers):06d}"

    def add(self, message: Message) -> Message:
        self.messages.setdefault(message.channel.id, {})[message.ts] = message
        return message

    def store(self, name: str, data: bytes, **extra: Any) -> File:
        file = File(self.number("F"), name, data, extra=extra)
        self.files[file.id] = file
        return file
