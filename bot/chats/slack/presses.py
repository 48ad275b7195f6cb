"""Handles pressed buttons and menus, recognised by their values alone, even on messages of an earlier process."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.chats.answering import message_of
from bot.chats.slack.incoming import People, Raw, refuse
from bot.chats.slack.places import Account
from bot.chats.slack.sending import Sender
from bot.domain.address import MessageRef
from bot.domain.chat import ChatError, FloodWait, Intake
from bot.domain.incoming import Press
from bot.domain.outgoing import Reply
from bot.texts import language_of, speaking

logger = logging.getLogger(__name__)


class Presses:
    """Answers every press of every button, known or not."""

    def __init__(self, intake: Intake, sender: Sender, people: People, language: str) -> None:
        self._intake = intake
        self._sender = sender
        self._people = people
        self._language = language

    async def handle(self, payload: Raw, client: AsyncWebClient, account: Account) -> None:
        """Pass a press to the intake (the handler of everything that people do in chats), update the pressed message,
        and show the person what the message does not say.

        If only one person sees the pressed message, Slack sends its place but not its content.
        """
        user, channel = payload.get("user") or {}, str((payload.get("channel") or {}).get("id") or "")
        shown_at: Raw = payload.get("container") or {}
        alone = bool(shown_at.get("is_ephemeral"))
        place = {"ts": shown_at.get("message_ts") or "", "thread_ts": shown_at.get("thread_ts") or ""}
        message: Raw = payload.get("message") or place
        action: Raw = next(iter(payload.get("actions") or ()), {})
        if payload.get("type") != "block_actions" or not channel or not message.get("ts") or not user.get("id"):
            return
        ref = account.ref(channel, message)
        person = await self._people.known(client, account, str(user["id"]), user.get("team_id"))
        url, thread = str(payload.get("response_url") or ""), str(message.get("thread_ts") or "")
        if person is None:
            await refuse(self._sender, url, thread, self._language)
            return
        with speaking(language_of(self._language, person.language)):
            event = str(payload.get("trigger_id") or "")
            press = Press(person, account.place(channel, ref.address.thread), event, _data(action), ref)
            reply = await self._intake.press(press)
            if alone and reply.shown is not None:
                await self._sender.whisper(url, reply.shown, thread, replace_original=True)
            changed = reply.shown is not None if alone else await self._change(ref, message, reply)
            said = message_of(reply)
            if said is not None and (not changed or reply.dead):
                await self._sender.whisper(url, said, thread)

    async def _change(self, ref: MessageRef, message: Mapping[str, Any], reply: Reply) -> bool:
        """Update the pressed message as the reply says. False if it is unchanged."""
        try:
            if reply.shown is not None:
                await self._sender.edit(ref, reply.shown, turn=reply.change_turn)
            elif reply.dead:
                await reply.change_turn()
                await self._sender.without_buttons(ref, dict(message))
        except (ChatError, FloodWait) as refused:
            logger.info("A pressed message stays as it is for now: %s", refused)
            return False
        return reply.shown is not None or reply.dead


def _data(action: Raw) -> str:
    """Return the data of the pressed button or the chosen menu item."""
    chosen = action.get("selected_option") or action
    return str(chosen.get("value") or "")
