"""Calls that a model prints into its text: `<tool_call>{…}</tool_call>`, a fenced block, or bare JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent.dialects.base import BadReply

MAX_CALLS = 32
MAX_STARTS = 64
"""Braces at which a call is looked for: enough for any real answer, and a bound on odd ones."""

_START = re.compile(r"(?P<tag><tool_calls?>\s*(?:```\w*\s*)?)|\{")
_FENCE = re.compile(r"```\w{0,12}\Z")
_LOOKS_LIKE_CALL = re.compile(r"\{\s*['\"]?(?:name|arguments|function|action|kind|tool_calls)['\"]?\s*:")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class NamedCall:
    """A call by name; "" when only an action was printed, without the function it belongs to."""

    name: str
    arguments: dict[str, Any]


def _loaded(text: str) -> object:
    """JSON, or None when it is none (or nested or long beyond reason)."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def arguments_of(raw: object, name: str) -> dict[str, Any]:
    """Arguments as an object, also when they were printed as a text. Raises BadReply."""
    for _ in range(2):
        if isinstance(raw, str):
            raw = _loaded(raw) if raw.strip() else {}
    if not isinstance(raw, dict):
        raise BadReply(f"The arguments of {name or 'the call'} are not a JSON object.")
    return raw


def printed_calls(text: str) -> tuple[tuple[NamedCall, ...], str]:
    """The calls in a text, in order, and the words before them; where some stand in tags, only those count.

    JSON is read as it comes, so that tags and braces inside typed text stay text. Raises BadReply for a call that
    is broken JSON.
    """
    tagged: list[tuple[int, NamedCall]] = []
    bare: list[tuple[int, NamedCall]] = []
    broken, at = False, 0
    for _ in range(MAX_STARTS):
        start = _START.search(text, at)
        if start is None:
            break
        value, at = _decoded(text, start.end("tag") if start["tag"] else start.start())
        found = [(start.start(), call) for call in _calls_in(value)]
        (tagged if start["tag"] else bare).extend(found)
        if start["tag"] and not found:
            raise BadReply("The printed call is not valid JSON, or has no name and arguments.")
        broken = broken or (value is None and _LOOKS_LIKE_CALL.match(text, start.start()) is not None)
    if broken and not tagged:
        raise BadReply("The printed call is not valid JSON.")
    calls = tagged or bare
    if len(calls) > MAX_CALLS:
        raise BadReply(f"There are more than {MAX_CALLS} calls in your answer. Nothing was done.")
    said = text[: calls[0][0]] if calls else text
    return tuple(call for _, call in calls), _FENCE.sub("", said.rstrip(" \t\r\n[")).strip()


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """The JSON value at `start` and where it ends; None, and one further, when there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start + 1


def _calls_in(value: object) -> Iterator[NamedCall]:
    """The calls that a JSON value stands for; none for any other JSON."""
    if isinstance(value, list):
        for item in value[: MAX_CALLS + 1]:
            if isinstance(item, dict):
                yield from _calls_in(item)
        return
    if not isinstance(value, dict):
        return
    if isinstance(several := value.get("tool_calls"), list):
        yield from _calls_in(several)
        return
    if isinstance(inner := value.get("function"), dict):
        value = inner
    name = value.get("name", value.get("function"))
    raw = value.get("arguments", value.get("parameters"))
    if isinstance(name, str) and raw is not None:
        yield NamedCall(name, arguments_of(raw, name))
    elif isinstance(kind := value.get("kind"), str):
        yield NamedCall(kind, {key: item for key, item in value.items() if key != "kind"})
    elif isinstance(value.get("action"), str):
        yield NamedCall("", value)
