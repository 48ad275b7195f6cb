"""Sends messages to chats. Each chat has its own asyncio task, so that a slow or rate-limited chat delays no other."""
