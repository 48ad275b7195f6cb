"""Sends the bot's answers to messages and presses; every press is answered in time."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import telegram

from bot.chats.answering import below, message_of, patiently
from bot.chats.confirming import NotAccepted
from bot.chats.telegram import errors, limits
from bot.chats.telegram.editing import Editor
from bot.chats.telegram.errors import ChatMoved
from bot.chats.telegram.places import PLATFORM, person_of, place_of, ref_of
from bot.chats.telegram.sending import Sender
from bot.domain.address import MessageRef
from bot.domain.chat import ChatError, FloodWait, Intake
from bot.domain.incoming import Press
from bot.domain.outgoing import Message, Reply, Turn


async def tell(sender: Sender, own: MessageRef, message: Message, nonce: str, turn: Turn) -> None:
    """Send `message` as a silent reply to `own`. A short flood limit is waited out, and the message follows a chat that
    has a new id, because nothing would send it later.

    Raises what `Sender.send` raises.
    """
    reply = below(own, message)
    try:
        await patiently(lambda: sender.send(own.address, reply, nonce=nonce, turn=turn))
    except ChatMoved as away:
        there = replace(own.address, chat=away.chat, thread="")
        await sender.send(there, replace(reply, reply_to=None), nonce=nonce, turn=turn)


logger = logging.getLogger(__name__)


class Presses:
    """Answers every press of every button, known or not, within seconds: until then Telegram shows the button as
    waiting.
    """

    def __init__(self, intake: Intake, sender: Sender, editor: Editor, patience: float) -> None:
        self._intake = intake
        self._sender = sender
        self._editor = editor
        self._patience = patience

    async def handle(self, query: telegram.CallbackQuery, bot: telegram.Bot, *, backlog: bool = False) -> None:
        """Pass a press to the intake (the handler of everything that people do in chats), update the pressed message,
        and answer the press. If the intake takes long, the press is answered silently and the result is sent below the
        message, unless the message itself shows it.

        Telegram does not report when a button was pressed. A press from a `backlog` is therefore answered first: if
        Telegram says that it is too old, it counts as stale. Raises NotAccepted if Telegram must deliver the press
        again.
        """
        answered = query.message is None or backlog
        stale = answered and not await self._toast(query, "")
        if query.message is None:
            return
        place = place_of(bot.id, query.message)
        pressed = ref_of(place, query.message)
        event = f"{PLATFORM}:{query.id}"
        press = Press(person_of(query.from_user), place, event, query.data or "", pressed, stale)
        work = asyncio.ensure_future(self._intake.press(press))
        toast, in_time, again = "", False, False
        try:
            try:
                if not answered:
                    await asyncio.wait({work}, timeout=self._patience)
                    in_time = work.done()
                    if in_time:
                        toast, again = work.result().toast, work.result().again
            finally:
                if not answered and not again:
                    await self._toast(query, toast)
            reply = await work
            if reply.again:
                raise NotAccepted
        finally:
            work.cancel()
        changed = await self._change(pressed, reply)
        late = not in_time and (reply.dead or not changed)
        answer = message_of(reply) if late else reply.message
        if answer is not None and not reply.task:
            await tell(self._sender, pressed, answer, f"press:{query.id}", reply.turn)

    async def _change(self, ref: MessageRef, reply: Reply) -> bool:
        """Update the pressed message as the reply says. Returns False if it stays unchanged."""
        try:
            if reply.shown is not None:
                await self._editor.edit(ref, reply.shown, turn=reply.change_turn)
            elif reply.dead:
                await self._editor.without_buttons(ref, turn=reply.change_turn)
        except (ChatError, FloodWait) as refused:
            logger.info("A pressed message stays as it is for now: %s", refused)
            return False
        return reply.shown is not None or reply.dead

    async def _toast(self, query: telegram.CallbackQuery, text: str) -> bool:
        """Answer the press. Returns False if Telegram no longer accepts an answer."""
        text = text if len(text) <= limits.TOAST else text[: limits.TOAST - 1] + "…"
        try:
            async with errors.translated("the answer to a press"):
                await query.answer(text or None, show_alert=len(text) > limits.TOAST_SHORT)
        except (ChatError, FloodWait) as refused:
            logger.info("The answer to a press did not reach its button: %s", refused)
            return "too old" not in str(refused)
        return True
