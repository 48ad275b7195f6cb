"""Who and where, as every platform can say it: places, people, and messages that stand somewhere."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import Final

_TURNING: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Bidirectional classes of signs that reorder the text around them."""
_BREAKING: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""General categories of signs that end a line, or are no text."""


def on_one_line(name: str) -> str:
    """What somebody is called, without signs that would reorder or break what is said with the name: "Answered by …"
    must read as it is. The signs that join emoji stay.
    """
    kept = (
        sign
        for sign in name
        if unicodedata.bidirectional(sign) not in _TURNING and unicodedata.category(sign) not in _BREAKING
    )
    return " ".join("".join(kept).split())


@dataclass(frozen=True, slots=True)
class Address:
    """A place where messages go: platform, bot account, guild, chat and thread, all as text ids.

    `guild` is "" where a platform has none; `thread` is "" for the chat itself.
    """

    platform: str
    account: str
    chat: str
    guild: str = ""
    thread: str = ""

    def __str__(self) -> str:
        return "/".join((self.platform, self.account, self.guild, self.chat, self.thread))


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who writes. Rights hang on platform and id, never on the name."""

    platform: str
    id: str
    name: str = ""
    language: str = field(default="", compare=False)
    """The locale that the platform names, such as "zh-CN"; behind the intake a language of the catalogue."""
    roles: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The roles on the server where this was written, as `guild/role`; they are never kept."""


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A message that was sent, by where it is and its id there."""

    address: Address
    message: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message comes from, with what access needs to know: `private` is a one-to-one chat."""

    address: Address
    private: bool = False
