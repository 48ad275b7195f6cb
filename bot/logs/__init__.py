"""Logs: one line an event, as text or JSON, never a secret in them."""
