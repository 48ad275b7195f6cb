"""Logs: to standard error, one line an event, never a secret in them."""

from __future__ import annotations

import logging
import re
import sys
from typing import Final

from bot.settings import Settings

FORMAT: Final = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
HIDDEN: Final = "[secret]"
_TOKENS: Final = re.compile(
    r"bot\d{5,}:[\w-]{20,}"  # a Telegram token, as it stands in every URL of the Bot API
    r"|\d{8,}:[\w-]{30,}"
    r"|[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}"  # a Discord token
    r"|sk-[\w-]{16,}"
    r"|(?<=Bearer )[\w.~+/-]{16,}"
)
CHATTY: Final = (
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
    "openai",
    "aiohttp.access",
    "aiosqlite",
    "discord.gateway",
    "telegram",
    "PIL",
)
"""Libraries that tell more than an operator wants to read; httpx tells URLs, which hold Telegram's token, and
python-telegram-bot every message with its text, which may be a secret."""


class Redaction(logging.Formatter):
    """Formats a record, then covers whatever looks like a token or is one of the known secrets."""

    def __init__(self, secrets: frozenset[str]) -> None:
        super().__init__(FORMAT)
        self._secrets = sorted((secret for secret in secrets if len(secret) > 3), key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """The line, exception text included, without secrets."""
        line = super().format(record)
        for secret in self._secrets:
            line = line.replace(secret, HIDDEN)
        return _TOKENS.sub(HIDDEN, line)


def set_up_logs(settings: Settings, *, quiet: bool) -> None:
    """Send all logs to standard error. A `quiet` command shows warnings only."""
    secrets = frozenset(
        value.get_secret_value()
        for value in (
            settings.discord_bot_token,
            settings.telegram_bot_token,
            settings.vlm_api_key,
            settings.basic_api_key,
            settings.reasoning_api_key,
        )
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Redaction(secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING if quiet and settings.log_level == "INFO" else settings.log_level)
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
