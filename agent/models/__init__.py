"""Models: the border, the OpenAI-compatible client, and the offline pilot."""
