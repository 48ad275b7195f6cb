"""The places people talk in. Each adapter translates; none has rules of its own."""
