"""Runs on phones: the executor graph behind the Runner border, and how a person steps in."""
