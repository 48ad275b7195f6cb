"""The Discord adapter: prefix and slash commands, a thread per task, and buttons that still work after a restart."""
