"""Recorded skills: the actions of a run on the phone, stored so that code can repeat them without a model."""
