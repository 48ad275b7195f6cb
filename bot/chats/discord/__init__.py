"""Discord: prefix and slash commands, a thread per task, buttons that outlive the process."""

from bot.chats.discord.chat import DiscordChat

__all__ = ["DiscordChat"]
