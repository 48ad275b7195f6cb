"""The service people talk to: settings, access, commands, task queue, store, cards and chats."""
