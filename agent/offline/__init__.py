"""The offline pilot: follows literal instructions by rules instead of a model, if no endpoint is configured."""
