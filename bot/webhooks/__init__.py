"""Webhooks: messages to other programs about tasks and watches, and calls by programs that start tasks."""
