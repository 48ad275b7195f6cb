"""The graph of a team member: model and tools in turn, without a phone, on a thread of its own."""
