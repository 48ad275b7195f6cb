"""Language models: the common interface, and the client for OpenAI-compatible endpoints."""
