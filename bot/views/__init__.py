"""Converts tasks, steps, phones and tools to plain JSON objects and to words for people."""
