"""Webhooks: addresses that are told when a task ends, asks, or a watch has news."""
