"""Types for people, places and messages that apply to every chat platform."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import Final

_TURNING: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Bidirectional classes of characters that reorder the text around them."""
_BREAKING: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""General categories of characters that end a line, or are no text."""


def on_one_line(name: str) -> str:
    """Return a person's name without characters that would reorder or break the text around it, such as bidirectional
    overrides or line breaks. Joiners in emoji are kept.
    """
    kept = (
        sign
        for sign in name
        if unicodedata.bidirectional(sign) not in _TURNING and unicodedata.category(sign) not in _BREAKING
    )
    return " ".join("".join(kept).split())


@dataclass(frozen=True, slots=True)
class Address:
    """A place where messages go: a chat, or a thread in it. All ids are text.

    - `platform`: The chat platform's name, such as "telegram".
    - `account`: The bot's account there.
    - `chat`: The chat or channel.
    - `guild`: The server that the chat belongs to, "" where a platform has none.
    - `thread`: The thread or topic, "" for the chat itself.
    """

    platform: str
    account: str
    chat: str
    guild: str = ""
    thread: str = ""

    def __str__(self) -> str:
        return "/".join((self.platform, self.account, self.guild, self.chat, self.thread))


NOWHERE: Final = Address("", "", "")
"""An address that no chat has, and at which no role counts."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person who writes to the service, as one account on one platform. Rights depend on `platform`, `id` and
    `roles`, never on the name.
    """

    platform: str
    id: str
    name: str = ""
    language: str = field(default="", compare=False)
    """The locale that the platform reports, such as "zh-CN"; after the intake, a language of the text catalogue."""
    roles: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """Their roles on the server where they wrote, as `guild/role`; never stored."""


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A reference to a message: the address where it is, and its id there."""

    address: Address
    message: str


@dataclass(frozen=True, slots=True)
class Place:
    """The place where a person writes. `private` says whether it is a one-to-one chat, on which their access
    depends.
    """

    address: Address
    private: bool = False
