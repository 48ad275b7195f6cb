"""What the hub takes of a host: nothing larger, deeper or odder than what a host of ours says, and faults are counted.

Somebody may have a host's key. No message of theirs may stop what the hub does for the others.
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
"""Of one text."""
MOST_NUMBER: Final = 2**53
"""What every reader of JSON takes for the same number, and the database for one."""
SAID: Final = 200
"""Letters of a fault in the log."""


def bounded(data: bytes) -> bytes:
    """The JSON message as it is. Raises ValueError where it is none, or holds more than any message of ours."""
    _look(from_json(data, allow_inf_nan=False), MOST_DEEP)
    return data


def _look(value: object, deep: int) -> None:
    if deep == 0:
        raise ValueError("it is nested too deeply")
    if isinstance(value, str) and len(value) > MOST_LETTERS:
        raise ValueError("a text in it is too long")
    if isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= MOST_NUMBER):
        raise ValueError("a number in it is too large")
    if isinstance(value, dict):
        for name, each in value.items():
            _look(name, deep - 1)
            _look(each, deep - 1)
    elif isinstance(value, list):
        for each in value:
            _look(each, deep - 1)


def in_line(text: str, most: int) -> str:
    """The text in one line of at most so many letters, without signs that are not printed."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


class Faults(Counter[str]):
    """How often something of a host was not understood or could not be done. The log tells the first time, and each
    time that the number has doubled.
    """

    def note(self, host: str, why: str) -> None:
        """Count one more fault."""
        self[host] += 1
        number = self[host]
        if number & (number - 1) == 0:
            told = in_line(why, SAID)
            logger.warning("What the host %s says could not be used (%d times so far): %s", host, number, told)

    @contextmanager
    def of(self, host: str) -> Iterator[None]:
        """Whatever goes wrong in this block is that host's: it is counted, and ends nothing else. What is raised when
        the engine is away goes on.
        """
        try:
            yield
        except EngineAway:
            raise
        except Exception as error:  # noqa: BLE001 - counted and told for the host that caused it
            self.note(host, f"{type(error).__name__}: {error}")
