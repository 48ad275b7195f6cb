"""Takes an AutoGLM answer apart: thought, summary, and its one call.

What stands before `</think>` or `<answer>` is thought, calls in it included; calls are read as they come, so that
tags and calls inside typed text stay text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.dialects.base import BadReply
from agent.dialects.call_syntax import BadCall, Call, read_call

MAX_READS = 16
"""Calls that are looked at, those in thoughts included: more than any real answer has, and a bound on odd ones."""

_CALL = r"do\s*[(（]\s*(?:action\s*[=＝]|[\"'“‘])|finish\s*[(（]\s*(?:[a-z]+\s*[=＝]|[\"'“‘)）])"
_TOKEN = re.compile(rf"(?P<thought></think>|<answer>)|(?P<end></answer>)|(?<![A-Za-z0-9_])(?P<call>{_CALL})")
_BEGINS_WITH_THOUGHT = re.compile(r"\s*<think>")
_THOUGHT_ENDS = re.compile(r"</think>|<answer>")
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
_TAG = re.compile(r"</?(?:think|answer)>|<\|[a-z_]+\|>|```\w*")


@dataclass(frozen=True, slots=True)
class ReplyParts:
    """An answer, taken apart."""

    call: Call
    thought: str
    summary: str


def read_reply(text: str) -> ReplyParts:
    """The parts of an answer. Raises BadReply when there is not exactly one call that can be read."""
    at = 0
    if _BEGINS_WITH_THOUGHT.match(text):
        ends = _THOUGHT_ENDS.search(text)
        if ends is None:
            raise BadReply("Your thought is not closed with </think>, so there is no answer.")
        at = ends.start()
    calls: list[tuple[int, Call]] = []
    broken, reads = "", 0
    while found := _TOKEN.search(text, at):
        at = found.end()
        if found["thought"]:
            calls, broken = [], ""
        elif found["end"]:
            break
        else:
            reads += 1
            if reads > MAX_READS:
                raise BadReply("There are too many calls in your answer. Nothing was done.")
            try:
                call = read_call(text, found.start("call"))
            except BadCall as bad:
                broken = broken or str(bad)
            else:
                calls.append((found.start("call"), call))
                at = call.end
    if broken:
        raise BadReply(f"The call cannot be read: {broken}.")
    if not calls:
        raise BadReply("There is no call in your answer.")
    if len(calls) > 1:
        raise BadReply("There are several calls in your answer, and only one can be done at a time. Nothing was done.")
    start, call = calls[0]
    before = text[:start]
    summary = _SUMMARY.search(before)
    thought = _TAG.sub("", _SUMMARY.sub("", before)).strip()
    return ReplyParts(call, thought, summary[1].strip() if summary else "")
