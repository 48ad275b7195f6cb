"""Attacks by page: every page of the hostile app, in each of its languages, by each of its moves."""
