"""How values that have no column type are kept: as JSON text, the same value always as the same text."""

from __future__ import annotations

import json
from functools import lru_cache

from agent.events import Source, Todo
from agent.models.base import Usage
from bot.domain.address import Address, MessageRef

LONGEST_NUMBER = 18
"""Digits of a row's number: SQLite counts to 2^63, and Python reads no number of thousands of digits."""


def row_number(text: str) -> int | None:
    """The number of a row as people write it; None if the text is not one."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else None


def json_text(value: object) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def address_text(address: Address) -> str:
    """An address as text; equal addresses give equal texts, so that it can be looked up."""
    return json_text([address.platform, address.account, address.chat, address.guild, address.thread])


@lru_cache(maxsize=1024)
def address_of(text: str) -> Address:
    """The address stored in a text made by `address_text`."""
    return Address(*json.loads(text))


def message_text(message: MessageRef) -> str:
    """A message's reference as text; equal references give equal texts."""
    return json_text([address_text(message.address), message.message])


def message_of(text: str) -> MessageRef:
    """The message reference stored in a text made by `message_text`."""
    address, message = json.loads(text)
    return MessageRef(address_of(address), message)


def usage_text(usage: Usage) -> str:
    """Tokens and cost as text."""
    return json_text(usage.data())


def usage_of(text: str) -> Usage:
    """The tokens and cost stored in a text made by `usage_text`."""
    return Usage.of(json.loads(text))


def todos_text(todos: tuple[Todo, ...]) -> str:
    """A todo list as text."""
    return json_text([todo.model_dump() for todo in todos])


def todos_of(text: str) -> tuple[Todo, ...]:
    """The todo list stored in a text made by `todos_text`."""
    return tuple(Todo.model_validate(todo) for todo in json.loads(text)) if text != "[]" else ()


def sources_text(sources: tuple[Source, ...]) -> str:
    """The pages that were read for a task, as text."""
    return json_text([source.model_dump() for source in sources])


def sources_of(text: str) -> tuple[Source, ...]:
    """The web pages stored in a text made by `sources_text`."""
    return tuple(Source.model_validate(source) for source in json.loads(text)) if text != "[]" else ()
