"""Composes the messages about a task that people see in chats: its card (progress), steps, questions and final
message.
"""
