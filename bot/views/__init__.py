"""Tasks, steps and phones as plain JSON objects."""
