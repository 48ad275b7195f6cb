"""The last check before a request is sent to a platform: a service that may have lost its record sends nothing.

Another service may have taken over the record (the stored data) by then, for example while this process was suspended.
Everything that a chat sends by HTTP is checked here: messages, edits, reactions, answers to presses, and the
registration of commands.
"""

from __future__ import annotations

import aiohttp

from bot.domain.chat import ChatError, Record
from bot.texts import words


class NotOurs(ChatError):
    """Nothing was sent, because another service may have taken over the record (the stored data)."""

    def __init__(self) -> None:
        super().__init__(words("chats.not_ours"))


def last_look(record: Record) -> aiohttp.TraceConfig:
    """Return a trace configuration for an aiohttp session. While this service may have lost the record, it stops each
    request by raising NotOurs.
    """

    async def look(*_: object) -> None:
        if not record.is_ours:
            raise NotOurs

    tracing = aiohttp.TraceConfig()
    # Despite its name it is called before the headers are written, once there is a connection to write them to.
    tracing.on_request_headers_sent.append(look)
    return tracing
