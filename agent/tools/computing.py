"""Tools that calculate: one expression, or a short program. They can reach nothing, so no approval is needed.

Each runs in a process of its own that has no files, no network and no environment.
"""

from __future__ import annotations

import ast
import asyncio
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts
from devices.processes import ThreadPool

if TYPE_CHECKING:
    from pydantic_monty import Monty

MAX_SECONDS: Final = 2.0
MAX_BYTES: Final = 32_000_000
MAX_DEPTH: Final = 200
MAX_PRINTED: Final = 20_000
"""The maximum number of characters a program may print; the rest is dropped."""
KILLED_AFTER_S: Final = 4.0
"""Seconds after which a process is killed that ignores its own limits."""
_THREADS: Final = ThreadPool(4, "computing")
_AHEAD: Final[deque[Monty]] = deque()
"""Processes started in advance after the first program, because starting one takes most of the time of a calculation.
Each runs one program.
"""
_USED: Final[deque[Monty]] = deque()
"""Processes whose program has ended; they are closed after its result was delivered."""
_SIGNS: Final = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "（": "(", "）": ")"})
"""Mathematical signs that Python writes differently."""
SHOWN: Final = 200
"""The maximum characters of a result in the history; a longer one is shown as a separate text."""
TEXTS: Final = Texts(
    {
        "calculate": "calculate {expression}",
        "python": "run a short program",
        "result": "the result is {value}",
        "printed": "the program ended",
    },
    zh={
        "calculate": "计算 {expression}",
        "python": "运行一段小程序",
        "result": "结果是 {value}",
        "printed": "程序已运行完毕",
    },
)


class Calculate(Action):
    """Work out one expression, such as (19.99 * 3) * 1.19. Never do sums in your head."""

    kind: Literal["calculate"] = "calculate"
    expression: str = Field(min_length=1, max_length=500, description="In the notation of Python: + - * / ** %.")


class Python(Action):
    """Run a short program in a small Python; what it prints and the value of its last line are shown to you.

    It has functions, classes, comprehensions, f-strings and the modules math, datetime, decimal, json, re; no other
    modules, no files, no network and no input. It ends after 2 seconds. Put the data that it needs into the code.
    """

    kind: Literal["python"] = "python"
    code: str = Field(min_length=1, max_length=8000, description="The whole program.")


class ComputingFailed(Exception):
    """The calculation failed; the message tells the model why."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The result of a program: the value of its last line in Python notation ("" if it has none), and what it
    printed.
    """

    value: str
    printed: str


async def calculate(expression: str) -> str:
    """Return the value of an expression. Raises ComputingFailed."""
    written = expression.translate(_SIGNS).strip()
    try:
        ast.parse(written, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ComputingFailed("This is not one expression, such as (3 + 4.5) * 2.") from error
    return (await compute(written)).value


async def compute(code: str) -> Computed:
    """Run a program in its own process and return its result. Raises ComputingFailed. If the caller is cancelled, the
    process still runs to its limit.
    """
    # In a thread: if cancelled, the package's asyncio API aborts the interpreter at exit one time in three.
    running = _THREADS.submit(_run, code)
    result = asyncio.wrap_future(running)
    running.add_done_callback(_start_next)  # the second callback, so that the result has already been delivered
    return await result


def _run(code: str) -> Computed:
    import pydantic_monty  # noqa: PLC0415 - only where something is computed

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
        pool = _taken()
        try:
            with pool.checkout(limits=limits) as session:
                value = session.feed_run(code, print_callback=take)
        finally:
            _USED.append(pool)
        return Computed(_written(value), "".join(printed))
    except pydantic_monty.MontyCrashedError as error:
        told = f"It was stopped: it took more than {MAX_SECONDS:g} seconds, or too much memory."
        raise ComputingFailed(told) from error
    except pydantic_monty.MontyError as error:
        raise ComputingFailed(f"It failed: {error}"[:400]) from error
    except OSError as error:
        raise ComputingFailed("Nothing can be computed here: the program of pydantic-monty is missing.") from error


def _taken() -> Monty:
    """Return the process started in advance, or a new one. Raises OSError."""
    try:
        return _AHEAD.pop()
    except IndexError:
        return _started()


def _started() -> Monty:
    """Return a pool with one process, running and waiting. Raises OSError."""
    import pydantic_monty  # noqa: PLC0415 - only where something is computed

    return pydantic_monty.Monty(max_processes=1, request_timeout=KILLED_AFTER_S).__enter__()


def _start_next(ran: Future[Computed]) -> None:
    """Close used processes, and start the next one in advance unless this one failed."""
    while True:
        try:
            used = _USED.popleft()
        except IndexError:
            break
        used.__exit__(None, None, None)
    if not ran.cancelled() and ran.exception() is None and not _AHEAD:
        _AHEAD.append(_started())


def _written(value: object) -> str:
    """Format a value, dropping the wrong last digits of decimal fractions."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.12g}"
    try:
        return value if isinstance(value, str) else repr(value)
    except ValueError as error:
        raise ComputingFailed("The number has too many digits to be written down.") from error


async def _calculate(action: Calculate, context: ToolContext) -> ActionResult:
    try:
        value = await context.control.guard(calculate(action.expression))
    except ComputingFailed as error:
        raise ActionError(f"Not calculated. {error}") from error
    effect = Worded.of(TEXTS.words("result", value=in_a_line(value, SHOWN)))
    return ActionResult((effect,), read=(value,) if len(value) > SHOWN else ())


async def _python(action: Python, context: ToolContext) -> ActionResult:
    try:
        done = await context.control.guard(compute(action.code))
    except ComputingFailed as error:
        raise ActionError(f"The program gave no result. {error}") from error
    both = "\n".join(part for part in (done.printed.rstrip(), done.value) if part)
    if not both or "\n" in both or len(both) > SHOWN:
        return ActionResult((Worded.of(TEXTS.words("printed")),), read=(both or "(no output)",))
    return ActionResult((Worded.of(TEXTS.words("result", value=both)),))


CALCULATE: Final = Tool(
    model=Calculate,
    describe=lambda action, _: TEXTS.words("calculate", expression=in_a_line(action.expression, 80)),
    gate=ungated,
    repeatable=True,
    cacheable=True,
    run=_calculate,
)
PYTHON: Final = Tool(
    model=Python,
    describe=lambda _action, _sight: TEXTS.words("python"),
    gate=ungated,
    repeatable=True,
    cacheable=True,
    run=_python,
)
