"""Checks that messages from hosts stay within limits that no real host exceeds, and counts violations.

A host's key may be stolen; messages sent with it must not stop the hub's work for the other hosts.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pydantic_core import from_json

from bot.fleet.engine import EngineAway

logger = logging.getLogger(__name__)

MOST_DEEP: Final = 32
MOST_LETTERS: Final = 200_000
"""Maximum characters of one text."""
MOST_NUMBER: Final = 2**53
"""Largest number that all JSON readers and the database represent exactly."""
SAID: Final = 200
"""Maximum characters of a fault in the log."""


def check_limits(data: bytes) -> bytes:
    """Return the message unchanged. Raises ValueError if it is not JSON, or is nested too deeply, or a text or number
    in it is too large.
    """
    _check_value(from_json(data, allow_inf_nan=False), MOST_DEEP)
    return data


def _check_value(value: object, deep: int) -> None:
    if deep == 0:
        raise ValueError("it is nested too deeply")
    if isinstance(value, str) and len(value) > MOST_LETTERS:
        raise ValueError("a text in it is too long")
    if isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= MOST_NUMBER):
        raise ValueError("a number in it is too large")
    if isinstance(value, dict):
        for name, each in value.items():
            _check_value(name, deep - 1)
            _check_value(each, deep - 1)
    elif isinstance(value, list):
        for each in value:
            _check_value(each, deep - 1)


def one_line(text: str, most: int) -> str:
    """Return the text on one line of at most `most` characters, without unprintable ones."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


class Faults(Counter[str]):
    """Counts each host's invalid messages and failed requests. The first is logged, and then whenever the number has
    doubled.
    """

    def note(self, host: str, why: str) -> None:
        """Count one more fault of this host; `why` is the text for the log."""
        self[host] += 1
        number = self[host]
        if number & (number - 1) == 0:
            told = one_line(why, SAID)
            logger.warning("A message from the host %s was ignored (%d so far): %s", host, number, told)

    @contextmanager
    def of(self, host: str) -> Iterator[None]:
        """Context manager that counts any error in its block as a fault of the host, and suppresses it. Only
        EngineAway is raised.
        """
        try:
            yield
        except EngineAway:
            raise
        except Exception as error:  # noqa: BLE001 - counted and told for the host that caused it
            self.note(host, f"{type(error).__name__}: {error}")
