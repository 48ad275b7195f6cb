"""Limits on how much of an endpoint's answer is read, because the endpoint may be broken or taken over."""

from __future__ import annotations

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""The maximum bytes of one answer on the wire: 100,000 streamed pieces of 300 bytes, more than any real answer."""
MAX_LETTERS = 1_000_000
"""The maximum characters of text, reasoning and tool calls in one answer; 128,000 tokens have about half as many."""
MAX_CALLS = 64
"""The maximum tool calls in one answer; real ones have up to five."""
MAX_SHOWN_ARGUMENTS = 2_000
"""An unfinished tool call is only passed on while it streams if its arguments have at most this many characters,
because every piece repeats them in full.
"""
MAX_TOKENS_REPORTED = 100_000_000
"""The maximum tokens of one call that an endpoint may report. A higher number is an error, and an estimate is used
instead.
"""


class TooMuch(ValueError):
    """The answer is larger than any real one."""
