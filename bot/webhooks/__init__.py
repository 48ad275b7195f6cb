"""Webhooks: messages to other programs about tasks and watches, and calls by other programs that start tasks."""
