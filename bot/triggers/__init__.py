"""Triggers: tasks that begin when a phone gets a notification or an SMS."""
