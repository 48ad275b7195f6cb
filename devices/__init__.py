"""Phones: how they are reached, seen and touched. This package knows neither the agent nor the chats."""
