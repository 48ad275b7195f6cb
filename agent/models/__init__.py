"""Models: the border, and the client for OpenAI-compatible endpoints."""
