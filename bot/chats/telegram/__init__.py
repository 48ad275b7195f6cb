"""The Telegram adapter: commands, private chats, groups and forum topics, over long polling or a webhook."""
