"""A tool for text operations at which models are bad: counting, finding, replacing, sorting and comparing."""

from __future__ import annotations

import difflib
from typing import Final, Literal

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts

LINES_COMPARED: Final = 2_000
"""The maximum lines of each of two compared texts, because comparing takes time that grows with both."""
PLACES: Final = 50
TEXTS: Final = Texts(
    {"text": "work on a text ({operation})", "counted": "{characters} characters, {words} words, {lines} lines",
     "found": "found {number} times", "same": "both texts are the same", "done": "the text is ready"},
    zh={"text": "处理一段文字（{operation}）", "counted": "{characters} 个字符，{words} 个词，{lines} 行",
        "found": "找到 {number} 处", "same": "两段文字相同", "done": "文字已处理好"},
)  # fmt: skip


class Text(Action):
    """Count, find, replace, sort or compare in a text. Letters are taken as they are: there are no patterns."""

    kind: Literal["text"] = "text"
    operation: Literal["count", "find", "replace", "sort", "unique", "compare"] = Field(
        description="unique: each line once; compare: what differs between text and other."
    )
    text: str = Field(max_length=50_000, description="The text.")
    wanted: str = Field(default="", max_length=1_000, description="What to find or replace.")
    other: str = Field(default="", max_length=50_000, description="The replacement, or the text to compare with.")


async def _run(action: Text, _context: ToolContext) -> ActionResult:
    text, lines = action.text, action.text.splitlines()
    if action.operation in {"find", "replace"} and not action.wanted:
        raise ActionError("Not done: say in wanted what to look for.")
    match action.operation:
        case "count":
            counts = {"characters": len(text), "words": len(text.split()), "lines": len(lines)}
            return ActionResult((Worded.of(TEXTS.words("counted", **counts)),), data=counts)
        case "find":
            number = text.count(action.wanted)
            there = [f"line {at}: {line[:200]}" for at, line in enumerate(lines, 1) if action.wanted in line]
            effect = Worded.of(TEXTS.words("found", number=number))
            return ActionResult(
                (effect,), read=(chr(10).join(there[:PLACES]),) if there else (), data={"number": number}
            )
        case "replace":
            if len(text) + text.count(action.wanted) * len(action.other) > 1_000_000:
                raise ActionError("Not done: the result would be longer than a million characters.")
            return _whole(text.replace(action.wanted, action.other))
        case "sort":
            return _whole(chr(10).join(sorted(lines)))
        case "unique":
            return _whole(chr(10).join(dict.fromkeys(lines)))
        case "compare":
            others = action.other.splitlines()
            if max(len(lines), len(others)) > LINES_COMPARED:
                raise ActionError(f"Not done: each text may have {LINES_COMPARED} lines.")
            found = chr(10).join(difflib.unified_diff(lines, others, "text", "other", n=0, lineterm=""))
            return _whole(found) if found else ActionResult((Worded.of(TEXTS.words("same")),))


def _whole(text: str) -> ActionResult:
    return ActionResult((Worded.of(TEXTS.words("done")),), read=(text,))


TEXT: Final = Tool(
    model=Text,
    describe=lambda action, _: TEXTS.words("text", operation=action.operation),
    gate=ungated,
    repeatable=True,
    cacheable=True,
    run=_run,
)
