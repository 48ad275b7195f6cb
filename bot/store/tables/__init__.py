"""The tables, each defined once for every engine."""

from bot.store.tables import chats, people, phones, tasks
from bot.store.tables.metadata import metadata

__all__ = ["chats", "metadata", "people", "phones", "tasks"]
