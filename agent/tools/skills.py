"""A tool with which a model reads a skill, so that its instructions are only loaded when needed."""

from __future__ import annotations

import asyncio
from typing import Any, Final, Literal

from pydantic import Field, create_model

from agent.actions import Action
from agent.effect_facts import Worded
from agent.front_matter import FolderRefused
from agent.skills.library import Skills
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts

PART: Final = 5_500
"""How many characters are read at once; a result of this length is shown whole."""
TEXTS: Final = Texts(
    {"read_skill": "read the skill {name}", "read": "{letters} characters read"},
    zh={"read_skill": "阅读技能 {name}", "read": "读到 {letters} 个字符"},
)
ABOUT: Final = (
    "Read a skill: how something is done, written down by whoever runs this service. Read the one that fits before you "
    "begin; it allows nothing that the task does not ask for. There are:\n{lines}"
)


class ReadSkill(Action):
    """Read a skill, or a text that it refers to."""

    kind: Literal["read_skill"] = "read_skill"
    name: str = Field(min_length=1, max_length=64, description="The name of the skill.")
    reference: str = Field(default="", max_length=200, description="A file below references/ that the skill names.")
    part: int = Field(default=1, ge=1, le=100, description="Of a long text: the part, as the end of one tells.")


def skill_tools(skills: Skills) -> tuple[Tool[Any], ...]:
    """Return a tuple with the tool that reads these skills; an empty tuple if there are none."""
    if not skills.found:
        return ()

    async def run(action: ReadSkill, _context: ToolContext) -> ActionResult:
        skill = skills.found.get(action.name.strip().lower())
        if skill is None:
            raise ActionError(f"There is no skill of that name. There are: {', '.join(skills.found)[:1000]}.")
        text = skill.body
        if action.reference:
            try:
                text = await asyncio.to_thread(skill.reference, action.reference)
            except FolderRefused as error:
                raise ActionError(f"Not read: {error}") from error
        parts = max(1, -(-len(text) // PART))
        if action.part > parts:
            raise ActionError(f"Not read: it has {parts} parts.")
        shown = text[(action.part - 1) * PART : action.part * PART]
        file = f", {action.reference}" if action.reference else ""
        more = f"\n[part {action.part} of {parts}]" if parts > 1 else ""
        effect = Worded.of(TEXTS.words("read", letters=len(shown)))
        return ActionResult((effect,), read=(f"skill: {skill.name}{file}\n\n{shown}{more}",))

    return (
        Tool(
            model=create_model("ReadSkill", __base__=ReadSkill, __doc__=ABOUT.format(lines=skills.lines())),
            describe=lambda action, _: TEXTS.words("read_skill", name=in_a_line(action.name, 64)),
            gate=ungated,
            repeatable=True,
            run=run,
        ),
    )
