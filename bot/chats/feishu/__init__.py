"""Feishu and Lark: a card and a thread for each task, over a long connection that needs no public address."""
