"""Takes a UI-TARS answer apart: thought, summary, and the calls, in order.

The calls begin after the first `Action:` that a call follows, or, without that label, with the first line that is
a call. A second `Thought:` ends them: what comes then was thought about a screen that nobody has seen. Calls are
read as they come, so that labels and calls inside typed text stay text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.dialects.base import BadReply
from agent.dialects.call_syntax import BadCall, Call, read_call
from agent.dialects.replies import split_thinking

KNOWN = frozenset(
    {
        *("click", "tap", "left_single", "double_tap", "left_double", "double_click", "long_press"),
        *("type", "scroll", "swipe", "drag", "open_app", "press_home", "press_back", "hotkey", "wait"),
        *("note", "call_user", "take_over", "enter_secret", "finished"),
    }
)

MAX_CALLS = 32
"""More than any real answer has, and a bound on odd ones."""

_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*[(（]"
_LEAD = r"(?:```\w*\s|[ \t\r\n`*>-]|</?[a-z_]+>|[0-9]{1,2}[.)])*+"
_LABELLED = re.compile(rf"(?im)(?:^[ \t*#>_-]*|(?<=\s))action[*_ \t]*[:：]{_LEAD}{_NAME}")
_LINE_CALL = re.compile(rf"(?m)^[ \t`*>-]*(?:[0-9]{{1,2}}[.)][ \t]*)?{_NAME}")
_LABEL = re.compile(
    r"(?im)^[ \t*#>_]*(?P<label>thought|reflection|action[_ ]summary|summary)[*_ \t]*[:：][*]*", re.IGNORECASE
)
_NEXT_TURN = re.compile(r"(?im)^[ \t*#>_]*(?:thought|observation|user)[*_ \t]*[:：]")
_DANGLING = re.compile(r"(?im)(?:^|\s)action[*_ \t]*[:：][*`\s]*\Z")


@dataclass(frozen=True, slots=True)
class ReplyParts:
    """An answer, taken apart; `calls` is never empty."""

    calls: tuple[Call, ...]
    thought: str
    summary: str


def read_reply(text: str) -> ReplyParts:
    """The parts of an answer. Raises BadReply when there is no call, or one that cannot be read."""
    thinking, rest = split_thinking(text)
    first = _first_call(rest)
    if first is None:
        if _DANGLING.search(rest):
            raise BadReply("There is nothing after `Action:`.")
        raise BadReply("There is no action in your answer.")
    before, start = first
    calls = [_call(rest, start)]
    while (following := _next_call(rest, calls[-1].end)) is not None:
        if len(calls) == MAX_CALLS:
            raise BadReply(f"There are more than {MAX_CALLS} actions in your answer. Nothing was done.")
        calls.append(_call(rest, following))
    labels = _labels(rest[:before])
    described = labels.get("action_summary", "")
    thought = labels.get("thought") or described or thinking or labels.get("", "")
    return ReplyParts(tuple(calls), thought, labels.get("summary") or described)


def _call(text: str, start: int) -> Call:
    try:
        return read_call(text, start)
    except BadCall as bad:
        raise BadReply(f"The action cannot be read: {bad}.") from None


def _first_call(text: str) -> tuple[int, int] | None:
    """Where the words before the first call end, and where the call begins."""
    labelled = _LABELLED.search(text)
    line = _first_known(text, 0)
    if labelled is None:
        return None if line is None else (line, line)
    if line is not None and line < labelled.start():
        try:
            if read_call(text, line).end > labelled.start():
                return line, line
        except BadCall:
            pass
    return labelled.start(), labelled.start("name")


def _first_known(text: str, start: int) -> int | None:
    for found in _LINE_CALL.finditer(text, start):
        if found["name"] in KNOWN:
            return found.start("name")
    return None


def _next_call(text: str, end: int) -> int | None:
    """Where the next call begins, if one comes before another turn does."""
    line_end = text.find("\n", end)
    if line_end < 0:
        return None
    turn = _NEXT_TURN.search(text, line_end)
    limit = turn.start() if turn else len(text)
    labelled = _LABELLED.search(text, line_end, limit)
    bare = _first_known(text[:limit], line_end + 1)
    begins = [place for place in (labelled.start("name") if labelled else None, bare) if place is not None]
    return min(begins, default=None)


def _labels(text: str) -> dict[str, str]:
    """The text under each label; what stands before all of them is under ""."""
    found = list(_LABEL.finditer(text))
    parts = {"": text[: found[0].start() if found else len(text)].strip()}
    for index, label in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        parts.setdefault(label["label"].lower().replace(" ", "_"), text[label.end() : end].strip())
    return parts
