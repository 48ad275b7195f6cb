"""Conversions for values that have no column type: they are stored as JSON text, and equal values have equal texts."""

from __future__ import annotations

import json
from functools import lru_cache

from agent.events import Source, Todo
from agent.models.base import Usage
from bot.domain.address import Address, MessageRef

LONGEST_NUMBER = 18
"""Most digits of a row's id: SQLite's ids are below 2^63, and int() refuses numbers of thousands of digits."""


def row_number(text: str) -> int | None:
    """Return a row's id that a person wrote as a number; None if the text is not a possible id."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else None


def json_text(value: object) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def address_text(address: Address) -> str:
    """Return an address as text. Equal addresses have equal texts, so that rows can be looked up by them."""
    return json_text([address.platform, address.account, address.chat, address.guild, address.thread])


def address_beginning(platform: str, account: str, chat: str, *guild: str) -> str:
    """Return the beginning that the texts of all addresses in a chat have in common."""
    return json_text([platform, account, chat, *guild])[:-1] + ","


@lru_cache(maxsize=1024)
def address_of(text: str) -> Address:
    """Return the address stored in a text that `address_text` made."""
    return Address(*json.loads(text))


def message_text(message: MessageRef) -> str:
    """Return a message reference as text; equal references have equal texts."""
    return json_text([address_text(message.address), message.message])


def message_of(text: str) -> MessageRef:
    """Return the message reference stored in a text that `message_text` made."""
    address, message = json.loads(text)
    return MessageRef(address_of(address), message)


def usage_text(usage: Usage) -> str:
    """Return token counts and cost as text."""
    return json_text(usage.data())


def usage_of(text: str) -> Usage:
    """Return the token counts and cost stored in a text that `usage_text` made."""
    return Usage.of(json.loads(text))


def todos_text(todos: tuple[Todo, ...]) -> str:
    """Return a todo list as text."""
    return json_text([todo.model_dump() for todo in todos])


def todos_of(text: str) -> tuple[Todo, ...]:
    """Return the todo list stored in a text that `todos_text` made."""
    return tuple(Todo.model_validate(todo) for todo in json.loads(text)) if text != "[]" else ()


def sources_text(sources: tuple[Source, ...]) -> str:
    """Return the web pages that were read for a task as text."""
    return json_text([source.model_dump() for source in sources])


def sources_of(text: str) -> tuple[Source, ...]:
    """Return the web pages stored in a text that `sources_text` made."""
    return tuple(Source.model_validate(source) for source in json.loads(text)) if text != "[]" else ()
