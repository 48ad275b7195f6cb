"""The main graph: from what a person asked to a summary, with or without a plan, with or without a phone."""
