"""The database tables, each defined once for both SQLite and PostgreSQL."""

from bot.store.tables import chats, people, phones, tasks
from bot.store.tables.metadata import metadata

__all__ = ["chats", "metadata", "people", "phones", "tasks", "webhooks"]
