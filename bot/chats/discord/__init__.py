"""Discord: prefix and slash commands, a thread per task, buttons that outlive the process."""
