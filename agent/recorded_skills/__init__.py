"""Recorded skills: what a run did on the phone, stored so that code can repeat it."""
