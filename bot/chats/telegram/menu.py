"""Maintains the menus of commands that Telegram shows while people type: each person sees the commands that they may
use.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Sequence
from hashlib import blake2s
from pathlib import Path
from typing import Final

import telegram

from bot.chats.sending import TextStore, texts_in
from bot.chats.telegram import errors, limits
from bot.commands.spec import CommandSpec
from bot.domain.chat import ChatError, FloodWait
from bot.domain.right import Right
from bot.people.subjects import Audience
from bot.texts import ENGLISH, LANGUAGES, speaking

logger = logging.getLogger(__name__)

Audiences = Callable[[], Sequence[Audience]]
"""Returns who gets a menu of their own at the moment."""

FILE: Final = "telegram_menus.json"
"""The file that stores which menus Telegram was given. If it is lost, they are sent once more."""
STRANGERS: Final = frozenset({"help"})
"""The commands that everybody else sees: without a menu the bot looks broken, and a long one would be an invitation."""

_RETRY_SECONDS: Final = 600.0
"""Seconds after which a refused menu is tried again: the person may have begun a chat with the bot by then."""

_NAME = re.compile(rf"[a-z0-9_]{{1,{limits.COMMAND_NAME}}}")


class Menus:
    """Keeps Telegram's menus of commands up to date with people's rights. Commands also work without a menu, so a
    failure is only logged.
    """

    def __init__(
        self, commands: Sequence[CommandSpec], audiences: Audiences, directory: Path | None, look: float
    ) -> None:
        """`directory` is where it is stored which menus Telegram was given; without one they are sent at each start."""
        self._commands = [command for command in commands if _NAME.fullmatch(command.name)]
        self._audiences = audiences
        self._store = TextStore(None if directory is None else directory / FILE)
        self._look = look
        self._registered: dict[str, str] = {}

    async def keep(self, bot: telegram.Bot) -> None:
        """Send Telegram the menus that changed, now and whenever rights change, until cancelled."""
        account = str(bot.id)
        self._registered = _parse_registered(await self._store.get(account))
        known: Sequence[Audience] | None = None
        clock = asyncio.get_running_loop().time
        again = clock()
        while True:
            audiences, wait = self._audiences(), self._look
            if audiences != known or clock() >= again:
                known, again = audiences, clock() + _RETRY_SECONDS
                try:
                    await self._register_changed(bot, account, audiences)
                except FloodWait as flood:
                    logger.info("The rest of the menus of commands waits: %s", flood)
                    known, wait = None, flood.seconds
            await asyncio.sleep(wait)

    async def _register_changed(self, bot: telegram.Bot, account: str, audiences: Sequence[Audience]) -> None:
        wanted: dict[str, tuple[telegram.BotCommandScope, list[CommandSpec]]] = {
            "": (telegram.BotCommandScopeDefault(), [one for one in self._commands if one.name in STRANGERS])
        }
        for one in audiences[: limits.MENUS]:
            shown = [spec for spec in self._commands if one.admin or spec.right is not Right.ADMIN]
            wanted[f"{one.chat}/{one.person}"] = (_scope(one), shown)
        before = dict(self._registered)
        try:
            for key, (scope, commands) in wanted.items():
                await self._set(bot, key, scope, commands)
            for key in [key for key in self._registered if key not in wanted]:
                await self._remove(bot, key)
        finally:
            if self._registered != before:
                await self._store.put(account, json.dumps(self._registered))

    async def _set(
        self, bot: telegram.Bot, key: str, scope: telegram.BotCommandScope, commands: Sequence[CommandSpec]
    ) -> None:
        menus = {language: _menu(commands, language) for language in LANGUAGES}
        texts = json.dumps({language: [one.to_dict() for one in menu] for language, menu in menus.items()})
        fingerprint = blake2s(texts.encode()).hexdigest()
        if self._registered.get(key) == fingerprint:
            return
        try:
            async with errors.translated("the menu of commands"):
                for language, menu in menus.items():
                    code = None if language == ENGLISH else language
                    await bot.set_my_commands(menu, scope=scope, language_code=code)
        except ChatError as refused:
            # Often somebody who never wrote to the bot: there is no such chat yet.
            level = logging.INFO if key else logging.WARNING
            logger.log(level, "Telegram shows no menu of commands, or an old one, in a chat: %s", refused)
        else:
            self._registered[key] = fingerprint

    async def _remove(self, bot: telegram.Bot, key: str) -> None:
        chat, _, person = key.partition("/")
        try:
            async with errors.translated("the removal of a menu"):
                for language in LANGUAGES:
                    code = None if language == ENGLISH else language
                    await bot.delete_my_commands(scope=_scope(Audience(chat, person)), language_code=code)
        except ChatError as gone:
            logger.info("A menu of commands could not be taken away: %s", gone)
        del self._registered[key]


def _parse_registered(text: str) -> dict[str, str]:
    try:
        return texts_in(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _scope(audience: Audience) -> telegram.BotCommandScope:
    if audience.person:
        return telegram.BotCommandScopeChatMember(int(audience.chat), int(audience.person))
    return telegram.BotCommandScopeChat(int(audience.chat))


def _menu(commands: Sequence[CommandSpec], language: str) -> list[telegram.BotCommand]:
    with speaking(language):
        menu = [telegram.BotCommand(command.name, command.help[: limits.COMMAND_ABOUT]) for command in commands]
    return menu[: limits.COMMANDS]
