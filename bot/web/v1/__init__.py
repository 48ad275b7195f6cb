"""The HTTP API for programs, below /api/v1: its document is made from the models of what is sent and answered."""
