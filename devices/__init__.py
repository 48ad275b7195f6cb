"""Phones: how they are reached, seen and touched. Knows neither the agent nor the chats."""
