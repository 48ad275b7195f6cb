"""Recorded skills: what a run did on the phone, kept so that code can do it again."""
