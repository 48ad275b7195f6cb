"""A member at work: model and tools in turn, without a phone, on a thread of its own."""
