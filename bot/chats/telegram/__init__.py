"""Telegram: commands, private chats, groups and forum topics, over long polling or a webhook."""

from bot.chats.telegram.chat import TelegramChat
from bot.chats.telegram.webhook import Hook

__all__ = ["Hook", "TelegramChat"]
