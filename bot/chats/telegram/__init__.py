"""Telegram: commands, private chats, groups and forum topics, over long polling."""

from bot.chats.telegram.chat import TelegramChat

__all__ = ["TelegramChat"]
