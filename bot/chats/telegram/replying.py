"""What the bot says in answer to a message or a press."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bot.chats.address import MessageRef
from bot.chats.base import FloodWait
from bot.chats.outgoing import Message, Turn
from bot.chats.telegram import limits
from bot.chats.telegram.errors import ChatMoved
from bot.chats.telegram.sending import Sender


async def tell(sender: Sender, below: MessageRef, message: Message, nonce: str, turn: Turn) -> None:
    """Send a silent reply to `below`. A short flood limit is waited out, and a chat that moved is followed:
    nobody else would send it later.

    Raises what `Sender.send` raises.
    """
    reply = replace(message, reply_to=below, notify=False, mention=None)
    try:
        await sender.send(below.address, reply, nonce=nonce, turn=turn)
    except FloodWait as flood:
        if flood.seconds > limits.REPLY_WAIT_SECONDS:
            raise
        await asyncio.sleep(flood.seconds)
        await sender.send(below.address, reply, nonce=nonce, turn=turn)
    except ChatMoved as away:
        there = replace(below.address, chat=away.chat, thread="")
        await sender.send(there, replace(reply, reply_to=None), nonce=nonce, turn=turn)
