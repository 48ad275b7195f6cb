"""Slack's channels, people and texts in the words of the border, and which addresses are Slack's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import aiohttp
import yarl

from bot.domain.address import Address, MessageRef, Person, Place, on_one_line

PLATFORM: Final = "slack"
API: Final = "https://slack.com/api/"

_CONTROL: Final = re.compile(r"<(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
"""What Slack puts into texts for links, people, channels and groups (Formatting text for app surfaces)."""

_DIRECT: Final = "D"
"""How the ids of one-to-one chats begin."""


class Account:
    """The bot's own identity in its workspace."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        """By the answer of auth.test."""
        self.id = str(told["user_id"])
        self.team = str(told["team_id"])
        self.name = str(told.get("user", ""))

    def place(self, channel: str, thread: str = "") -> Place:
        """A channel, or a thread in it. In a one-to-one chat threads are replies."""
        private = channel.startswith(_DIRECT)
        address = Address(PLATFORM, self.id, channel, "" if private else self.team, "" if private else thread)
        return Place(address, private=private)

    def ref(self, channel: str, message: Mapping[str, Any]) -> MessageRef:
        """A message by where it stands; the first of a thread stands in the channel."""
        number, thread = str(message.get("ts", "")), str(message.get("thread_ts", ""))
        return MessageRef(self.place(channel, "" if thread == number else thread).address, number)

    def readable(self, text: str) -> str:
        """The text as its writer sees it. People but the bot stay as they are mentioned, so that commands find them."""

        def shown(found: re.Match[str]) -> str:
            target, label = found["target"], found["label"] or ""
            match target[:1]:
                case "@":
                    return f"@{self.name}" if target == f"@{self.id}" else f"<{target}>"
                case "#":
                    return f"#{label or target[1:]}"
                case "!":
                    return label or f"@{target[1:].partition('^')[0]}"
            bare = re.sub(r"^(?:https?://|mailto:|tel:)", "", target)
            if label and label.rstrip("/") in {bare.rstrip("/"), target.rstrip("/")}:
                return label
            return f"{label} ({target})" if label else target

        # The ampersand last: what it stands before was typed.
        return _CONTROL.sub(shown, text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")

    def command_in(self, text: str) -> str | None:
        """The text behind a mention of the bot at the start of a readable text; None when the text is no command."""
        lead = re.match(rf"\s*@{re.escape(self.name)}(?![\w-])[\s:,]*", text, re.IGNORECASE)
        return None if lead is None else text[lead.end() :].strip()


def person_of(user: str, told: Mapping[str, Any]) -> Person:
    """Who wrote or pressed, by what users.info tells of them, which may be nothing."""
    profile = told.get("profile") or {}
    name = profile.get("display_name") or told.get("real_name") or told.get("name") or ""
    return Person(PLATFORM, user, on_one_line(str(name)), str(told.get("locale") or ""))


class Hosts:
    """Which addresses belong to the Slack that is talked to: that of its API, and those of the same domain."""

    def __init__(self, base_url: str) -> None:
        self._base = yarl.URL(base_url or API)

    def own(self, url: yarl.URL) -> bool:
        """Whether the address is one of Slack's own. A token goes nowhere else."""
        host, own = url.host or "", self._base.host or ""
        same = host == own or host.endswith(f".{own}")
        return same and (url.scheme, url.port) == (self._base.scheme, self._base.port)


def refusing_redirects() -> aiohttp.TraceConfig:
    """For a session with a token: Slack's API leads nowhere else, and the token would go along."""
    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(_refuse_redirect)
    return tracing


async def _refuse_redirect(*_: object) -> None:
    raise aiohttp.ClientError("a redirect was not followed")
