"""Translates Discord's refusals into the errors that the outbox (the sender of messages to chats) knows, each with a
sentence for people.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
import discord

from bot.chats.discord import limits
from bot.chats.sending import seconds_in
from bot.domain.chat import ChatError, ChatGone, ChatRefused, FloodWait

THREAD_EXISTS: Final = 160004
NO_REPLY_WITHOUT_HISTORY: Final = 160002
MISSING_ACCESS: Final = 50001
MISSING_PERMISSIONS: Final = 50013

_GONE: Final = {
    10003: "the channel does not exist any more",
    10004: "the server does not exist any more",
    10008: "the message does not exist any more",
    MISSING_ACCESS: "the bot cannot see this channel: give it View Channel",
    50008: "this channel takes no messages",
    50007: "this person does not accept private messages from the bot",
    MISSING_PERMISSIONS: "the bot lacks a permission in this channel",
    50083: "the thread is archived",
    160005: "the thread is locked",
    50278: "this person shares no server with the bot any more",
}
_OTHER: Final = {
    30046: "Discord does not allow more edits of a message that is older than an hour",
    50003: "Discord does not allow this in private messages",
}
"""Error codes and their meaning: developer docs, Opcodes and Status Codes."""

_AS_IT_IS: Final = {
    40005: "the file is larger than this server allows",
    50035: "something in it is not as Discord wants it",
    200000: "the server's AutoMod has blocked it",
    240000: "the server's filter of links has blocked it",
}
"""As above: what is wrong with the message itself."""

BAN_SECONDS: Final = 60.0
"""Seconds to send nothing after a 429 that does not say how long."""


@asynccontextmanager
async def translated(doing: str, *, needs: str = "") -> AsyncIterator[None]:
    """Turn the exceptions of discord.py and of the network raised in the block into FloodWait, ChatGone or ChatError.
    Also raises ChatError if the block takes too long.

    `doing` completes the sentence "Discord refused …". `needs` is the permission that the action requires, as Discord's
    settings name it.
    """
    try:
        async with asyncio.timeout(limits.REQUEST_SECONDS):
            yield
    except discord.RateLimited as limited:
        raise FloodWait(limited.retry_after) from limited
    except discord.HTTPException as refused:
        raise _meaning(refused, doing, needs) from refused
    except (TimeoutError, OSError, aiohttp.ClientError) as unreachable:
        raise ChatError(f"Discord could not be reached for {doing}; it may or may not have arrived.") from unreachable
    except discord.DiscordException as odd:
        raise ChatError(f"Discord answered {doing} in a way that was not understood: {odd}") from odd


def _meaning(refused: discord.HTTPException, doing: str, needs: str) -> Exception:
    if refused.status == 429:
        return FloodWait(seconds_in(refused.response.headers.get("Retry-After", ""), BAN_SECONDS))
    if refused.code == MISSING_PERMISSIONS and needs:
        return ChatGone(f"Discord refused {doing}: the bot lacks the permission {needs} in this channel.")
    if refused.code in _GONE:
        return ChatGone(f"Discord refused {doing}: {_GONE[refused.code]}.")
    if refused.code in _AS_IT_IS or refused.status == 413:
        return ChatRefused(f"Discord refused {doing}: {_AS_IT_IS.get(refused.code, 'it is too large')}.")
    if refused.code in _OTHER:
        return ChatError(f"Discord refused {doing}: {_OTHER[refused.code]}.")
    return ChatError(f"Discord refused {doing}: {refused.text or 'no reason given'} (error {refused.code}).")
