"""The settings: where they come from, the form that each has, and the model endpoints that they describe."""
