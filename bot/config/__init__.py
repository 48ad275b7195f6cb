"""The settings: their sources, the form of each, and the model endpoints that they describe."""
