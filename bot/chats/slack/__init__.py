"""Slack: mentions, private messages and a slash command, a thread per task, over a connection that it dials itself."""
