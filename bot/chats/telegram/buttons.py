"""Buttons as an inline keyboard."""

from __future__ import annotations

import logging

from telegram import InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import KeyboardButtonStyle

from bot.chats.outgoing import Button, Message
from bot.chats.telegram import limits

logger = logging.getLogger(__name__)

_STYLES = frozenset(KeyboardButtonStyle)
"""The other style, "secondary", is the one that a button has by itself."""


def rows_of(message: Message) -> tuple[tuple[Button, ...], ...]:
    """The message's menu as rows of one choice each, a page of them, and its buttons below."""
    menu = message.menu
    if menu is None:
        return message.buttons
    if not menu.turner or len(menu.choices) <= limits.MENU_PAGE:
        return (*((choice,) for choice in menu.choices), *message.buttons)
    pages = -(-len(menu.choices) // limits.MENU_PAGE)
    page = min(menu.page, pages - 1)
    first = page * limits.MENU_PAGE
    shown = tuple((choice,) for choice in menu.choices[first : first + limits.MENU_PAGE])
    # Both ends lead to each other, so that the row never changes its length under the thumb.
    turns = (
        Button("‹", f"{menu.turner}:{(page - 1) % pages}"),
        Button(f"{page + 1}/{pages}", f"{menu.turner}:{page}"),
        Button("›", f"{menu.turner}:{(page + 1) % pages}"),
    )
    return (*shown, turns, *message.buttons)


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
