"""The Feishu and Lark adapter: a card and a thread per task, over a long connection that needs no public address."""
