"""Buttons as an inline keyboard."""

from __future__ import annotations

import logging

from telegram import InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import KeyboardButtonStyle

from bot.chats.base import Button
from bot.chats.telegram import limits

logger = logging.getLogger(__name__)

_STYLES = frozenset(KeyboardButtonStyle)
"""The other style, "secondary", is the one that a button has by itself."""


def keyboard_of(rows: tuple[tuple[Button, ...], ...]) -> InlineKeyboardMarkup | None:
    """The rows as a keyboard, None without buttons. A button that Telegram would refuse the whole
    message for is left out and logged.
    """
    keyboard = []
    left = limits.BUTTONS
    for row in rows:
        fitting = [button for button in row if button.label.strip() and _fits(button)][:left]
        left -= len(fitting)
        for start in range(0, len(fitting), limits.BUTTONS_IN_ROW):
            line = fitting[start : start + limits.BUTTONS_IN_ROW]
            keyboard.append([_made(button) for button in line])
    return InlineKeyboardMarkup(keyboard) if keyboard else None


def _made(button: Button) -> InlineKeyboardButton:
    style = button.style if button.style in _STYLES else None
    return InlineKeyboardButton(button.label, callback_data=button.data, style=style)


def _fits(button: Button) -> bool:
    if 1 <= len(button.data.encode()) <= limits.CALLBACK_DATA:
        return True
    logger.error("A button was left out: its data has %d bytes.", len(button.data.encode()))
    return False
