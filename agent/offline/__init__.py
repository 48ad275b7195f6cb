"""The offline pilot: rules instead of a model, for literal instructions, when no endpoint is set."""
