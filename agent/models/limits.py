"""Limits on how much of an answer is read, because an endpoint may be broken or taken over."""

from __future__ import annotations

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Bytes of one answer on the wire: 100,000 streamed pieces of 300 bytes, more than any real answer."""
MAX_LETTERS = 1_000_000
"""Letters of text, thoughts and calls of one answer; 128,000 tokens have about half as many."""
MAX_CALLS = 64
"""Tool calls of one answer; real ones have up to five."""
MAX_SHOWN_ARGUMENTS = 2_000
"""Letters of an unfinished call up to which it is shown while it streams; every piece shows it in full."""
MAX_TOKENS_REPORTED = 100_000_000
"""Tokens of one call; a higher number is an error, and an estimate is used instead."""


class TooMuch(ValueError):
    """An answer is larger than any real one."""
