"""A tool that searches the operator's documents."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.ports.memory import Knowledge
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext, ungated
from agent.wording import Texts

PASSAGES: Final = 5
TEXTS: Final = Texts(
    {"knowledge": "search the documents for {query}", "found": "passages found: {number}"},
    zh={"knowledge": "在文档中查找 {query}", "found": "找到 {number} 段"},
)


class SearchDocuments(Action):
    """Search the documents that the operator of this service has given, by a few words."""

    kind: Literal["knowledge"] = "knowledge"
    query: str = Field(min_length=1, max_length=300, description="A few words that stand in the passage.")


def knowledge_tool(documents: Knowledge) -> Tool[SearchDocuments]:
    """Return the tool that searches these documents."""

    async def run(action: SearchDocuments, context: ToolContext) -> ActionResult:
        try:
            found = await context.control.guard(documents.search(action.query, limit=PASSAGES))
        except OSError as error:
            raise ActionError("The documents cannot be read now.") from error
        texts = tuple(f"document: {each.file}\n\n{each.text}" for each in found)
        return ActionResult(
            (Worded.of(TEXTS.words("found", number=len(found))),),
            read=("\n\n".join(texts),) if texts else (),
            documents=tuple(each.text for each in found),
        )

    return Tool(
        model=SearchDocuments,
        describe=lambda action, _: TEXTS.words("knowledge", query=in_a_line(action.query, 80)),
        gate=ungated,
        repeatable=True,
        cacheable=True,
        run=run,
    )
