"""The main graph: handles a task from the person's request to the summary, with or without a plan and a phone."""
