"""Phones: how they are found, observed and operated. This package depends neither on the agent nor on the chats."""
