"""The main graph: from a person's request to a summary, with or without a plan, with or without a phone."""
