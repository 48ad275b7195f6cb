"""Logs: to standard error, one line an event, never a secret in them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from pydantic import SecretStr

from bot.config.settings import Settings
from bot.logs.format import JsonLines, Lines, TextLines
from bot.logs.recent import RECENT
from bot.logs.redaction import REDACTION

CHATTY: Final = (
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
    "openai",
    "aiohttp.access",
    "aiosqlite",
    "PIL",
)
"""Libraries that tell more than an operator wants to read; httpx tells URLs, which may hold a token."""


def set_up_logs(settings: Settings, *, quiet: bool, forms: Iterable[str] = (), chatty: Iterable[str] = ()) -> None:
    """Send all logs to standard error, and keep the latest lines. A `quiet` command shows only warnings and keeps none.

    `forms` are regular expressions of what else is a secret, `chatty` further loggers that show warnings only.
    """
    REDACTION.know(_secrets_of(settings), forms)
    root = logging.getLogger()
    form = JsonLines(REDACTION) if settings.log_format == "json" else TextLines(REDACTION)
    RECENT.setFormatter(form)
    root.handlers[:] = [Lines(form)] if quiet else [Lines(form), RECENT]
    root.setLevel(logging.WARNING if quiet and settings.log_level == "INFO" else settings.log_level)
    for name in (*CHATTY, *chatty):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def cover_secrets(settings: Settings) -> None:
    """What is secret in these settings stands in no line from now on: they were made while the process ran."""
    REDACTION.learn(_secrets_of(settings))


def _secrets_of(settings: Settings) -> list[str]:
    values = (getattr(settings, name) for name in type(settings).model_fields)
    return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
