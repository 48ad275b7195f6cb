"""Converts Slack's channels, people and texts to those of the domain, and recognises Slack's own addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import aiohttp
import yarl

from bot.domain.address import Address, MessageRef, Person, Place, on_one_line

PLATFORM: Final = "slack"
API: Final = "https://slack.com/api/"

_CONTROL: Final = re.compile(r"<(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
"""Slack's markup for links, people, channels and groups in texts (Formatting text for app surfaces)."""

_DIRECT: Final = "D"
"""First letter of the ids of one-to-one chats."""


class Account:
    """The bot's own identity in its workspace."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        """Read the identity from the answer of auth.test."""
        self.id = str(told["user_id"])
        self.team = str(told["team_id"])
        self.name = str(told.get("user", ""))

    def place(self, channel: str, thread: str = "") -> Place:
        """Return a channel, or a thread in it, as a place. In a one-to-one chat, threads are not places of their own:
        they count as replies.
        """
        private = channel.startswith(_DIRECT)
        address = Address(PLATFORM, self.id, channel, "" if private else self.team, "" if private else thread)
        return Place(address, private=private)

    def ref(self, channel: str, message: Mapping[str, Any]) -> MessageRef:
        """Return the reference of a message in a channel. A thread's first message counts as a message of the
        channel.
        """
        number, thread = str(message.get("ts", "")), str(message.get("thread_ts", ""))
        return MessageRef(self.place(channel, "" if thread == number else thread).address, number)

    def readable(self, text: str) -> str:
        """Return the text as its author sees it. Mentions of people other than the bot are kept in Slack's form, so
        that commands find them.
        """

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

        # The ampersand last, because whatever follows it was typed.
        return _CONTROL.sub(shown, text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")

    def command_in(self, text: str) -> str | None:
        """Return the text after a mention of the bot at the start of a text (as returned by `readable`); None if there
        is no mention.
        """
        lead = re.match(rf"\s*@{re.escape(self.name)}(?![\w-])[\s:,]*", text, re.IGNORECASE)
        return None if lead is None else text[lead.end() :].strip()


def person_of(user: str, told: Mapping[str, Any]) -> Person:
    """Return the person with the id `user`. `told` is Slack's answer of users.info about them; it may be empty."""
    profile = told.get("profile") or {}
    name = profile.get("display_name") or told.get("real_name") or told.get("name") or ""
    return Person(PLATFORM, user, on_one_line(str(name)), str(told.get("locale") or ""))


def own_hosts(base_url: str) -> Callable[[yarl.URL], bool]:
    """Return a function that tells whether an address belongs to the Slack with this API: the API's host and others in
    the same domain. Tokens are sent nowhere else.
    """
    base = yarl.URL(base_url)

    def is_own(url: yarl.URL) -> bool:
        host, own = url.host or "", base.host or ""
        same = host == own or host.endswith(f".{own}")
        return same and (url.scheme, url.port) == (base.scheme, base.port)

    return is_own


def refusing_redirects() -> aiohttp.TraceConfig:
    """Return a trace config that refuses redirects, because they would take a session's token elsewhere."""
    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(_refuse_redirect)
    return tracing


async def _refuse_redirect(*_: object) -> None:
    raise aiohttp.ClientError("a redirect was not followed")
