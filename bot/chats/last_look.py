"""The last look before a request to a platform leaves: a service that may have lost its record sends nothing.

Another service may be at work on the record by then, for example after this process stood still. Everything that a chat
sends by HTTP passes here: messages, edits, reactions, answers to presses, and the registration of commands.
"""

from __future__ import annotations

import aiohttp

from bot.domain.chat import ChatError, Record
from bot.texts import words


class NotOurs(ChatError):
    """The record may belong to another service by now, so that nothing was sent."""

    def __init__(self) -> None:
        super().__init__(words("chats.not_ours"))


def last_look(record: Record) -> aiohttp.TraceConfig:
    """Stop each request of an aiohttp session while the record is not certainly ours; it then raises NotOurs."""

    async def look(*_: object) -> None:
        if not record.is_ours:
            raise NotOurs

    tracing = aiohttp.TraceConfig()
    # Despite its name it is called before the headers are written, once there is a connection to write them to.
    tracing.on_request_headers_sent.append(look)
    return tracing
