"""Puts the components together: the core that runs tasks, the chats, and the service from its start to its end."""
