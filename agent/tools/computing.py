"""Sums and short programs, worked out in another process that has no files, no network and no environment."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

MAX_SECONDS: Final = 2.0
MAX_BYTES: Final = 32_000_000
MAX_DEPTH: Final = 200
MAX_PRINTED: Final = 20_000
"""Characters that a program may print; the rest is dropped."""
KILLED_AFTER_S: Final = 4.0
"""A process that does not keep to its own limits is ended from here."""
_SIGNS: Final = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "（": "(", "）": ")"})
"""How people write what Python writes otherwise."""


class ComputingFailed(Exception):
    """Nothing came of it; the sentence says why, for the model."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The value of the last line as Python writes it, "" for none, and what was printed."""

    value: str
    printed: str


async def calculate(expression: str) -> str:
    """The value of an expression. Raises ComputingFailed."""
    written = expression.translate(_SIGNS).strip()
    try:
        ast.parse(written, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ComputingFailed("This is not one expression, such as (3 + 4.5) * 2.") from error
    return (await compute(written)).value


async def compute(code: str) -> Computed:
    """Run a program in a process of its own. Raises ComputingFailed."""
    try:
        import pydantic_monty  # noqa: PLC0415 - only where something is computed
    except ImportError as error:
        raise ComputingFailed("Nothing can be computed here: the package pydantic-monty is missing.") from error
    printed: list[str] = []
    room = MAX_PRINTED

    def take(_stream: str, text: str) -> None:
        nonlocal room
        printed.append(text[:room])
        room -= len(printed[-1])

    limits: pydantic_monty.ResourceLimits = {
        "max_feed_duration_secs": MAX_SECONDS,
        "max_memory": MAX_BYTES,
        "max_recursion_depth": MAX_DEPTH,
        "max_suspensions": 1,
        "max_total_sleep_secs": 0,
    }
    try:
        async with (
            pydantic_monty.AsyncMonty(max_processes=1, request_timeout=KILLED_AFTER_S) as pool,
            pool.checkout(limits=limits) as session,
        ):
            value = await session.feed_run(code, print_callback=take)
        return Computed(_written(value), "".join(printed))
    except pydantic_monty.MontyCrashedError as error:
        told = f"It was stopped: it took more than {MAX_SECONDS:g} seconds, or too much memory."
        raise ComputingFailed(told) from error
    except pydantic_monty.MontyError as error:
        raise ComputingFailed(f"It failed: {error}"[:400]) from error
    except OSError as error:
        raise ComputingFailed("Nothing can be computed here: the program of pydantic-monty is missing.") from error


def _written(value: object) -> str:
    """A value as it is shown: sums of decimal fractions without the last, wrong digits."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.12g}"
    try:
        return value if isinstance(value, str) else repr(value)
    except ValueError as error:
        raise ComputingFailed("The number has too many digits to be written down.") from error
