"""Parses tool calls that a model prints into its text: `<tool_call>{…}</tool_call>`, a fenced block, bare JSON, or
markup.

Markup is `<function=NAME><parameter=KEY>value</parameter></function>` (Qwen since 3.5, Seed) or `<invoke
name="NAME"><parameter name="KEY">value</parameter></invoke>` (Claude, DeepSeek, MiniMax, clients such as mobilerun).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agent.dialects.base import BadReply, echo
from agent.dialects.replies import has_words, imagined_first, is_quoted, joins, line_before, turn_end, went_on
from agent.models.json_answers import whole

MAX_CALLS = 32
MAX_STARTS = 64
"""How many braces are tried as the start of a call; no real answer has more."""

_MARKUP = r"<(?:｜DSML｜)?(?:function=|function name=|invoke name=)['\"]?(?P<name>[\w.-]{1,80})['\"]?\s*>"
_START = re.compile(rf"(?P<markup>{_MARKUP})|(?P<tag><(?:seed:)?tool_calls?>\s*(?:```\w*\s*)?)(?!\s*<)|\{{")
_PARAMETER = re.compile(
    r"\s*<(?:｜DSML｜)?parameter(?:=| name=)['\"]?(?P<key>[\w.-]{1,80})['\"]?[^<>\n]{0,40}>(?P<value>.*?)"
    r"</(?:｜DSML｜)?parameter>(?=\s*(?:<(?:｜DSML｜)?parameter|</(?:｜DSML｜)?(?:function|invoke)>))",
    re.DOTALL,
)
_MARKUP_END = re.compile(r"\s*</(?:｜DSML｜)?(?:function|invoke)>")
_FENCE = re.compile(r"```\w{0,12}\Z")
_OPENED = re.compile(r"<(?:｜DSML｜)?(?:seed:)?(?:tool|function)_calls?>\s*\Z")
_LOOKS_LIKE_CALL = re.compile(r"\{\s*['\"]?(?:name|arguments|function|action|kind|tool_calls)['\"]?\s*:")
WORDS_BETWEEN = (
    "Only the calls before the first words between your calls were done; nothing after those words was. Write several "
    "calls with nothing between them."
)
_DECODER = json.JSONDecoder(strict=False)
"""Accepts raw newlines in texts, as models print them."""


@dataclass(frozen=True, slots=True)
class NamedCall:
    """A call with its arguments. `name` is "" if only an action was printed, without the name of its function. `texts`
    means that the arguments came from markup, where every value is a text.
    """

    name: str
    arguments: dict[str, Any]
    texts: bool = False


@dataclass(frozen=True, slots=True)
class Printed:
    """The calls printed in a text.

    `calls` are in order, `said` are the words before them, and `told` are notices for the model about ignored parts.
    `alone` means that there is nothing else on the line of the first call or after it.
    """

    calls: tuple[NamedCall, ...]
    said: str
    told: tuple[str, ...] = ()
    alone: bool = True


@dataclass(frozen=True, slots=True)
class _Found:
    """A call, and the start and end of its JSON."""

    start: int
    end: int
    call: NamedCall


def loaded(text: str) -> object:
    """Parse JSON; None if it is invalid, too deeply nested or too long."""
    try:
        return whole(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def arguments_of(raw: object, name: str) -> dict[str, Any]:
    """Return the arguments of a call as a dictionary, even if the model gave them as JSON text. `name` is the call's
    name, for the error. Raises BadReply.
    """
    for _ in range(2):
        if isinstance(raw, str):
            raw = loaded(raw) if raw.strip() else {}
    if not isinstance(raw, dict):
        raise BadReply(f"The arguments of {echo(name) or 'the call'} are not a JSON object.")
    return raw


def printed_calls(text: str, without: Collection[str] = ()) -> Printed:
    """Return the calls in a text.

    If some are in tags, only those count. Nothing is read after a turn of the phone or person that the model imagined,
    and no call after words that follow another call. JSON is parsed as it comes, so tags and braces inside typed text
    stay text. `without` are calls that may be printed by name alone. Raises BadReply for a call that is broken, for too
    many calls, and for an imagined turn before the first call.
    """
    tagged: list[_Found] = []
    bare: list[_Found] = []
    broken, at = False, 0
    end = turn_end(text, 0, acted=False)
    for _ in range(MAX_STARTS):
        start = _START.search(text, at, end)
        if start is None:
            break
        if start["markup"]:
            call, at = _marked_up(text, start)
            tagged.append(_Found(start.start(), at, call))
            end = turn_end(text, at, acted=True)
            continue
        value, at = _decoded(text, start.end("tag") if start["tag"] else start.start())
        found = [_Found(start.start(), at, call) for call in _calls_in(value, without, tagged=bool(start["tag"]))]
        (tagged if start["tag"] else bare).extend(found)
        if found or end < at:
            end = turn_end(text, at, acted=bool(tagged or bare))
        if start["tag"] and not found:
            raise BadReply("The printed call is not valid JSON, or has no name and arguments.")
        broken = broken or (value is None and _LOOKS_LIKE_CALL.match(text, start.start()) is not None)
    if broken and not tagged:
        raise BadReply("The printed call is not valid JSON.")
    calls = tagged or bare
    if not calls and end < len(text):
        raise imagined_first()
    if len(calls) > MAX_CALLS:
        raise BadReply(f"There are more than {MAX_CALLS} calls in your answer. Nothing was done.")
    said = text[: calls[0].start] if calls else text
    said = _FENCE.sub("", _OPENED.sub("", said.rstrip(" \t\r\n[")).rstrip()).strip()
    if not calls:
        return Printed((), said)
    before = line_before(text, calls[0].start)
    apart = [n for n, (one, other) in enumerate(pairwise(calls), 1) if not joins(text[one.end : other.start])]
    told = (WORDS_BETWEEN,) if apart else ()
    calls = calls[: apart[0]] if apart else calls
    end = turn_end(text, calls[-1].end, acted=True)
    alone = not (is_quoted(before) if tagged else has_words(before)) and not has_words(text[calls[-1].end : end])
    return Printed(tuple(found.call for found in calls), said, told or went_on(text, end), alone)


def _marked_up(text: str, start: re.Match[str]) -> tuple[NamedCall, int]:
    """Parse the call in markup that begins here, and return its end. Raises BadReply if it is not closed."""
    given: dict[str, Any] = {}
    at = start.end()
    while found := _PARAMETER.match(text, at):
        given[found["key"]] = found["value"].strip("\r\n")
        at = found.end()
    closed = _MARKUP_END.match(text, at)
    if closed is None:
        raise BadReply(f"The call of {echo(start['name'])} is not closed, or one of its parameters is not.")
    return NamedCall(start["name"], given, texts=True), closed.end()


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """Parse the JSON value at `start` and return its end; None and the next position if there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        return whole(value), end
    except (ValueError, RecursionError):
        return None, start + 1


def _calls_in(value: object, without: Collection[str], *, tagged: bool) -> Iterator[NamedCall]:
    """Yield the calls in a JSON value; none for any other JSON."""
    if isinstance(value, list):
        for item in value[: MAX_CALLS + 1]:
            if isinstance(item, dict):
                yield from _calls_in(item, without, tagged=tagged)
        return
    if not isinstance(value, dict):
        return
    if isinstance(several := value.get("tool_calls"), list):
        yield from _calls_in(several, without, tagged=tagged)
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
    elif isinstance(name, str) and (tagged or (len(value) == 1 and name.lower() in without)):
        yield NamedCall(name, {})
