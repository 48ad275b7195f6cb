"""Writes logs with one line per event, as text or JSON, without secrets."""
