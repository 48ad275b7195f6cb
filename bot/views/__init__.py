"""Converts tasks, steps, phones and tools to plain JSON objects and to text for people."""
