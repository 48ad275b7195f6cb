"""The menu of commands that Telegram shows while typing."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

import telegram

from bot.chats.base import ChatError, FloodWait
from bot.chats.telegram import errors, limits
from bot.commands.spec import CommandSpec
from bot.texts import ENGLISH, LANGUAGES, speaking

logger = logging.getLogger(__name__)

_NAME = re.compile(rf"[a-z0-9_]{{1,{limits.COMMAND_NAME}}}")


async def set_menu(bot: telegram.Bot, commands: Sequence[CommandSpec]) -> None:
    """Set the menu in every language; when that fails, commands work all the same and the log tells."""
    try:
        async with errors.translated("the menu of commands"):
            await bot.set_my_commands(_menu(commands, ENGLISH))
            for language in LANGUAGES[1:]:
                await bot.set_my_commands(_menu(commands, language), language_code=language)
    except (ChatError, FloodWait) as refused:
        logger.warning("Telegram shows no menu of commands, or an old one: %s", refused)


def _menu(commands: Sequence[CommandSpec], language: str) -> list[telegram.BotCommand]:
    with speaking(language):
        menu = [
            telegram.BotCommand(command.name, command.help[: limits.COMMAND_ABOUT])
            for command in commands
            if _NAME.fullmatch(command.name)
        ]
    return menu[: limits.COMMANDS]
