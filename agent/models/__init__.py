"""Language models: the interface, and the client for OpenAI-compatible endpoints."""
