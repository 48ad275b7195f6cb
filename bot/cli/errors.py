"""What can go wrong for a command; each text is a sentence for whoever typed it."""

from __future__ import annotations


class Refused(Exception):
    """The task was not taken in."""


class ServiceGone(Exception):
    """The running service went away, or answers what it should not."""
