"""What people see of a task: its card, its steps, its questions and its end."""
