"""A Telegram Bot API server of our own, on loopback."""

from tests.fakes.telegram.server import TOKEN, FakeTelegram
from tests.fakes.telegram.world import Chat, File, Message, Press, User

__all__ = ["TOKEN", "Chat", "FakeTelegram", "File", "Message", "Press", "User"]
