"""The offline pilot: if no model endpoint is configured, it follows literal instructions by rules instead."""
