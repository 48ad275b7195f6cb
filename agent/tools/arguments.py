"""The arguments of a tool call: parsed from a model's text, checked, and prepared for the record of calls."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import ValidationError

from agent.actions import Action
from agent.guards.binding import digest
from agent.guards.masking import Mask
from agent.models.json_text import whole
from agent.ports.tool_calls import NewCall
from agent.tools.spec import ActionError, Tool

MOST_ARGUMENTS: Final = 100_000
"""The maximum length of a call's arguments, in characters."""


def action_of(tool: Tool[Any], arguments: str) -> Action:
    """Return the action that a call of this tool asks for, parsed from its JSON arguments. Raises ActionError saying
    what is wrong, without quoting them.
    """
    if len(arguments) > MOST_ARGUMENTS:
        raise ActionError(f"Not done: the arguments are longer than {MOST_ARGUMENTS:,} characters.")
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ActionError(f"Not done: the arguments of {tool.kind} are no JSON.") from error
    if not isinstance(given, dict):
        raise ActionError(f"Not done: the arguments of {tool.kind} have to be a JSON object.")
    try:
        action: Action = tool.model.model_validate({**given, "kind": tool.kind})
    except (ValidationError, RecursionError) as error:
        raise ActionError(f"Not done: {_wrong(tool, error)}") from error
    return action


def _wrong(tool: Tool[Any], error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return f"the arguments of {tool.kind} are nested too deeply."
    problems = error.errors(include_url=False, include_context=False, include_input=False)[:3]
    told = "; ".join(f"{'.'.join(map(str, each['loc']))[:60] or 'all'}: {each['msg']}" for each in problems)
    known = ", ".join(name for name in tool.model.model_fields if name != "kind") or "none"
    return f"wrong arguments for {tool.kind}: {told}. Its arguments are: {known}."


def new_call(tool: Tool[Any], action: Action, mask: Mask) -> NewCall:
    """Return a call in the form in which it is recorded, with secrets covered. A call with a secret is never cached,
    because covered secrets look alike.
    """
    given = action.model_dump(mode="json", exclude={"kind"})
    told = whole(mask.told(given))
    same = digest([action.kind, given]) if tool.cacheable and told == given else ""
    return NewCall(action.kind, told, tool.repeatable, same)
