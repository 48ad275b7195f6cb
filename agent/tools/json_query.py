"""A tool that extracts values from JSON by their path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, Literal

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts

MOST_VALUES: Final = 1_000
_STEP: Final = re.compile(
    r"\.?(?:(?P<all>\*)|(?P<name>[^.\[\]*\"]+))|\[(?:(?P<each>\*)|(?P<at>-?\d{1,9})|\"(?P<key>[^\"]*)\")\]"
)
TEXTS: Final = Texts(
    {"json": "look up {path} in JSON", "values": "values found: {number}"},
    zh={"json": "在 JSON 中查找 {path}", "values": "找到 {number} 个值"},
)


class JsonQuery(Action):
    """Take values out of JSON by a path, such as items[0].price, items[*].name or ["a key"]."""

    kind: Literal["json"] = "json"
    text: str = Field(max_length=80_000, description="The JSON.")
    path: str = Field(default="", max_length=300, description='Names, [number], [*] for all; "" for the whole.')


async def _run(action: JsonQuery, _context: ToolContext) -> ActionResult:
    try:
        whole = json.loads(action.text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ActionError(f"Not done: this is no JSON{where}.") from error
    values = [whole]
    for step in _steps(action.path):
        values = [each for value in values for each in _below(value, step)][:MOST_VALUES]
    if not values:
        raise ActionError(f"There is nothing at {in_a_line(action.path, 80)}. {_what(whole)}")
    try:
        shown = "\n".join(json.dumps(value, ensure_ascii=False) for value in values)
    except (RecursionError, ValueError) as error:
        raise ActionError("Not done: the value is nested too deeply.") from error
    return ActionResult((Worded.of(TEXTS.words("values", number=len(values))),), read=(shown,))


def _steps(path: str) -> Iterator[str | int | None]:
    """Parse a path into names, numbers, and None for all. Raises ActionError."""
    rest, at = path.strip().removeprefix("$"), 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            raise ActionError("Not done: the path has to be like items[0].price or items[*].name.")
        at = found.end()
        if found["all"] or found["each"]:
            yield None
        elif found["at"] is not None:
            yield int(found["at"])
        else:
            yield found["name"] if found["name"] is not None else found["key"]


def _below(value: Any, step: str | int | None) -> list[Any]:  # noqa: ANN401 - JSON
    match value, step:
        case (dict(), str()):
            return [value[step]] if step in value else []
        case (list(), int()):
            return [value[step]] if -len(value) <= step < len(value) else []
        case (dict(), None):
            return list(value.values())
        case (list(), None):
            return value
    return []


def _what(value: object) -> str:
    if isinstance(value, dict):
        return f"Its names are: {in_a_line(', '.join(map(str, list(value)[:20])), 300)}."
    return f"It is a list of {len(value)}." if isinstance(value, list) else "It is a single value."


JSON: Final = Tool(
    model=JsonQuery,
    describe=lambda action, _: TEXTS.words("json", path=in_a_line(action.path, 80) or "$"),
    gate=ungated,
    repeatable=True,
    cacheable=True,
    run=_run,
)
