"""How much of an answer is read, and from where: an endpoint may be broken, or somebody else's by now."""

from __future__ import annotations

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Of one answer on the wire: 100,000 streamed pieces of 300 bytes, more than any model says in one breath."""
MAX_LETTERS = 1_000_000
"""Of text, thoughts and calls of one answer together: 128,000 tokens have about half as many."""
MAX_CALLS = 64
"""Tool calls of one answer; real ones have up to five."""
MAX_SHOWN_ARGUMENTS = 2_000
"""Letters of a call that is still being written which whoever watches is shown, all of them again with each piece."""
MAX_TOKENS_REPORTED = 100_000_000
"""Tokens of one call; a higher number is a mistake, and is estimated instead."""


class TooMuch(ValueError):
    """An answer is larger than any real one."""
