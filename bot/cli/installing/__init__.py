"""What makes the program a service of this machine, step by step: each can be told, looked at, done and undone."""
