"""The values of tool calls: arguments parsed from a model's text and checked, and results as text for a model, without
secrets and shortened, and as data for the record of calls.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from agent.actions import Action
from agent.effect_facts import effects_data, effects_of, in_english
from agent.guards.binding import digest
from agent.guards.masking import Mask
from agent.models.base import Usage
from agent.models.json_answers import whole
from agent.ports.journal import NewCall
from agent.tools.spec import ActionError, ActionResult, PageSource, Tool
from agent.wording import one_line, shortened


def head_and_tail(text: str, most: int) -> str:
    """Return the text or, if it has more than `most` characters, its beginning and end with a mark that says how many
    are missing.
    """
    if len(text) <= most:
        return text
    tail = most // 4
    head = most - tail
    return f"{text[:head]}\n[… {len(text) - most} characters are left out here …]\n{text[-tail:]}"


def in_a_line(text: str, most: int) -> str:
    """Return the text in one line, cut off after `most` characters."""
    return shortened(one_line(text), most)


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
    told = whole(mask.cover_data(given))
    same = digest([action.kind, given]) if tool.cacheable and told == given else ""
    return NewCall(action.kind, told, tool.repeatable, same)


def told_of(done: ActionResult) -> str:
    """Return a result as text for a model. Text by others is between <read> marks that it cannot close."""
    blocks = [f"<read>\n{text.replace('<read', '‹read').replace('</read', '‹/read')}\n</read>" for text in done.read]
    return "\n".join(part for part in (in_english(done.effects), *done.notices, *blocks) if part) or "Done."


def covered(done: ActionResult, mask: Mask) -> ActionResult:
    """Return a copy of the result with the secrets in its texts replaced by bullets. Addresses stay as they are."""
    cover = mask.text
    return replace(
        done,
        effects=mask.effects(done.effects),
        notices=tuple(map(cover, done.notices)),
        notes=tuple(map(cover, done.notes)),
        gathered=None if done.gathered is None else cover(done.gathered),
        read=tuple(map(cover, done.read)),
        sources=tuple(PageSource(cover(each.title), each.url) for each in done.sources),
        documents=tuple(map(cover, done.documents)),
        data=None if done.data is None else mask.cover_data(dict(done.data)),
    )


def done_data(done: ActionResult) -> dict[str, Any]:
    """Return a result as plain JSON data. Its model usage is left out, because it is counted when it occurs."""
    data: dict[str, Any] = {
        "effects": effects_data(done.effects),
        "told": list(done.notices),
        "notes": list(done.notes),
        "gathered": done.gathered,
        "read": list(done.read),
        "found": list(done.found),
        "sources": [[each.title, each.url] for each in done.sources],
        "documents": list(done.documents),
        "data": None if done.data is None else dict(done.data),
    }
    kept: dict[str, Any] = whole({name: value for name, value in data.items() if value not in (None, [])})
    return kept


def done_of(data: Mapping[str, Any]) -> ActionResult:
    """Rebuild a result from the data that `done_data` returned."""
    return ActionResult(
        effects=effects_of(data.get("effects", [])),
        notices=tuple(data.get("told", ())),
        notes=tuple(data.get("notes", ())),
        gathered=data.get("gathered"),
        usage=Usage(),
        read=tuple(data.get("read", ())),
        found=tuple(data.get("found", ())),
        sources=tuple(PageSource(title, url) for title, url in data.get("sources", ())),
        documents=tuple(data.get("documents", ())),
        data=data.get("data"),
    )
