"""Tools that work something out: one expression, or a short program. They reach nothing: nobody is asked."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.tools import computing
from agent.tools.shortening import in_a_line
from agent.tools.spec import ActionError, Done, Tool, ToolContext, ungated
from agent.wording import Texts

SHOWN: Final = 200
"""Characters of a result that stand in the history; a longer one is shown as a text beside it."""
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


async def _calculate(action: Calculate, context: ToolContext) -> Done:
    try:
        value = await context.control.guard(computing.calculate(action.expression))
    except computing.ComputingFailed as error:
        raise ActionError(f"Not calculated. {error}") from error
    return Done((Worded.of(TEXTS.words("result", value=in_a_line(value, SHOWN))),), read=_long(value))


async def _python(action: Python, context: ToolContext) -> Done:
    try:
        done = await context.control.guard(computing.compute(action.code))
    except computing.ComputingFailed as error:
        raise ActionError(f"The program gave no result. {error}") from error
    both = "\n".join(part for part in (done.printed.rstrip(), done.value) if part)
    if not both or "\n" in both or len(both) > SHOWN:
        return Done((Worded.of(TEXTS.words("printed")),), read=(both or "(no output)",))
    return Done((Worded.of(TEXTS.words("result", value=both)),))


def _long(value: str) -> tuple[str, ...]:
    return (value,) if len(value) > SHOWN else ()


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
