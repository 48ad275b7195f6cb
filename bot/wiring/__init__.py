"""How the parts are put together: the core that runs tasks, the chats, and the service from start to drain."""
