"""The HTTP API for programs, below /api/v1. Its OpenAPI document is generated from the models."""
