"""Tools for a worker's own notes: a to-do list, and notes that are passed on with its result.

They are stored only in the record of tool calls: the current list is the one in the last call.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts

TEXTS: Final = Texts(
    {"todos": "write down what is to be done", "note": "note: {text}", "left": "still to be done: {number}"},
    zh={"todos": "写下待办事项", "note": "笔记：{text}", "left": "还剩 {number} 项"},
)


class WriteTodos(Action):
    """Write the whole list of what is to be done, in place of the last one. For work of more than three parts."""

    kind: Literal["write_todos"] = "write_todos"
    done: list[str] = Field(default=[], max_length=20, description="What is done.")
    left: list[str] = Field(max_length=20, description="What is still to be done, the next first.")


class WriteNote(Action):
    """Note a finding that must not be lost; it goes on with your result."""

    kind: Literal["write_note"] = "write_note"
    text: str = Field(min_length=1, max_length=1_000, description="One fact, with its source.")


async def _todos(action: WriteTodos, _context: ToolContext) -> ActionResult:
    lines = [
        *(f"[x] {in_a_line(each, 200)}" for each in action.done),
        *(f"[ ] {in_a_line(each, 200)}" for each in action.left),
    ]
    return ActionResult((Worded.of(TEXTS.words("left", number=len(action.left))),), notices=tuple(lines))


async def _note(action: WriteNote, _context: ToolContext) -> ActionResult:
    return ActionResult(notices=("Noted.",), notes=(action.text,))


TODOS: Final = Tool(
    model=WriteTodos, describe=lambda _action, _: TEXTS.words("todos"), gate=ungated, repeatable=True, run=_todos
)
NOTE: Final = Tool(
    model=WriteNote,
    describe=lambda action, _: TEXTS.words("note", text=in_a_line(action.text, 80)),
    gate=ungated,
    repeatable=True,
    run=_note,
)
