"""Tokens of what was really sent: text by its length, pictures by their size, the cache by equal beginnings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.fakes.model_server.recorded import SentImage

CACHE_MINIMUM = 1024
"""Tokens below which nothing is cached (OpenAI, DashScope)."""
CACHE_STEP = 128
"""Cached tokens come in multiples of this (OpenAI)."""
PATCH = 28
"""Pixels of one visual token's edge (Qwen-VL)."""


def text_tokens(text: str) -> int:
    """About four Latin letters a token, one Chinese sign a token."""
    wide = sum(ord(sign) > 0x2E80 for sign in text)
    return wide + math.ceil((len(text) - wide) / 4)


def image_tokens(image: SentImage) -> int:
    """One token per patch."""
    return math.ceil(image.size.width / PATCH) * math.ceil(image.size.height / PATCH)


@dataclass(frozen=True)
class Count:
    """Tokens of one request, and how many of them the cache had."""

    input: int
    cached: int


class Meter:
    """Counts requests and remembers their beginnings."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {}

    def count(self, model: str, parts: Iterable[str | SentImage]) -> Count:
        """Count one request to a model, in the order in which it was sent."""
        seen = self._seen.setdefault(model, set())
        total = cached = 0
        digest = hashlib.sha256()
        for part in parts:
            for piece, tokens in _pieces(part):
                digest.update(piece + b"\0")
                beginning = digest.hexdigest()
                if beginning in seen:
                    cached = total + tokens
                seen.add(beginning)
            total += tokens
        return Count(total, 0 if cached < CACHE_MINIMUM else cached - cached % CACHE_STEP)


def _pieces(part: str | SentImage) -> Iterator[tuple[bytes, int]]:
    """The lines of a text, or a whole picture, each with the tokens of the part up to its end.

    Real caches compare tokens; lines are close to that and cheap.
    """
    if isinstance(part, SentImage):
        yield part.data, image_tokens(part)
        return
    end = 0
    for line in part.splitlines(keepends=True) or [""]:
        end += len(line)
        yield line.encode(), text_tokens(part[:end])
