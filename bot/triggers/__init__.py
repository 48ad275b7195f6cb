"""Triggers: tasks that start when a phone gets a notification or an SMS."""
