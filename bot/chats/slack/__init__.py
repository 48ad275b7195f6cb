"""The Slack adapter: mentions, private messages, a slash command and a thread per task, over an outgoing connection."""
