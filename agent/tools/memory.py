"""Tools for what the service remembers about a person: storing, recalling and forgetting facts.

What the person said in this task is stored without a question. Anything else, whether from a screen, a page or a model,
needs their approval, and so does forgetting a fact.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from pydantic import Field

from agent.actions import Action
from agent.effect_facts import Worded
from agent.guards.gate import ALLOWED, Gate
from agent.members.loading import EXECUTOR
from agent.ports.memory import MAX_FACT, MAX_FACTS, RECALLED, Memory, MemoryFull
from agent.tools.call_values import in_a_line
from agent.tools.spec import ActionError, ActionResult, Situation, Tool, ToolContext, ungated
from agent.wording import Texts

TEXTS: Final = Texts(
    {
        "remember": "remember: {fact}",
        "recall": "look up what is remembered about {about}",
        "forget": "forget facts for good: {number}",
        "kept": "kept for later tasks",
        "recalled": "facts found: {number}",
        "forgotten": "facts forgotten: {number}",
        "not_said": "it would be remembered about you, and you have not said it yourself in this task",
        "gone": "what is forgotten does not come back",
    },
    zh={
        "remember": "记住：{fact}",
        "recall": "查找记住的内容：{about}",
        "forget": "彻底忘记 {number} 条",
        "kept": "已记下，供以后的任务使用",
        "recalled": "找到 {number} 条",
        "forgotten": "已忘记 {number} 条",
        "not_said": "这会作为关于你的事记下来，而你在这次任务里并没有亲口说过",
        "gone": "忘记之后无法恢复",
    },
)
NOBODY: Final = "Not done: nobody is known here to whom facts could belong."
AWAY: Final = "Not done: what is remembered cannot be reached now. Go on without it."
KEPT_BACK: Final = "Not done: there is a secret in it, and secrets are never remembered."

_END: Final = re.compile(
    r"[.!?;:,\n。！？；：，、]+"
    r"|\b(?:and|then)\s+(?=(?:please\s+|also\s+)*(?:remember|note|keep in mind)\b)"
    r"|并(?=请?(?:你)?记)",
    re.IGNORECASE,
)
"""The end of a clause."""
_LEAD: Final = re.compile(
    r"(?:(?:please|and|but|also|then|remember|note|keep in mind|don['’]t forget|that)\b\s*"
    r"|(?:请|帮我|你|并且|并|也|记住|记得|记下|记一下|一下|别忘了)\s*)+",
    re.IGNORECASE,
)
"""Words that ask for something to be remembered and are not part of it."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class Remember(Action):
    """Remember a fact about the person for later tasks: what they want remembered, or will want next time too.

    What they have not said themselves is kept only after their yes. Never passwords or codes.
    """

    kind: Literal["remember"] = "remember"
    fact: str = Field(
        min_length=1, max_length=MAX_FACT, description="One fact, as the person said it, word for word if they did."
    )


class Recall(Action):
    """Look up what this person has told the service to remember, by a few words."""

    kind: Literal["recall"] = "recall"
    about: str = Field(min_length=1, max_length=300, description="What it is about.")


class Forget(Action):
    """Forget facts about the person for good, when they ask for it. They are asked once more."""

    kind: Literal["forget"] = "forget"
    facts: list[str] = Field(min_length=1, max_length=20, description="The facts, exactly as recall has shown them.")


def was_said(fact: str, said: tuple[str, ...]) -> bool:
    """Whether the person said this fact: its clauses must be in one of their messages (`said`), word for word.

    Parts of clauses do not count, since leaving something out may reverse the meaning.
    """
    wanted = _clauses(fact)
    return bool(wanted) and any(
        have[at : at + len(wanted)] == wanted for have in map(_clauses, said) for at in range(len(have))
    )


def _clauses(text: str) -> list[str]:
    parts = (_LEAD.sub("", part.strip(), count=1) if _LEAD.match(part.strip()) else part for part in _END.split(text))
    return [clause for part in parts if (clause := " ".join(_WORD.findall(part.casefold())))]


def memory_tools(memory: Memory) -> tuple[Tool[Any], ...]:
    """Return the tools that store, recall and forget facts in this memory. Each caller only reaches the facts of the
    person it works for.
    """

    def may_remember(action: Remember, situation: Situation) -> Gate:
        if was_said(action.fact, situation.sources.said):
            return ALLOWED
        return Gate("approve", TEXTS.words("not_said"))

    async def remember(action: Remember, context: ToolContext) -> ActionResult:
        _check_person(context)
        if context.mask.text(action.fact) != action.fact:
            raise ActionError(KEPT_BACK)
        elsewhere: Literal["screen", "web"] = "screen" if context.member == EXECUTOR else "web"
        source = "person" if was_said(action.fact, context.said) else elsewhere
        try:
            await context.control.guard(memory.remember(context.person, action.fact, source=source))
        except MemoryFull as error:
            raise ActionError(f"Not done: {MAX_FACTS} facts are remembered, and that is the limit.") from error
        except ValueError as error:
            raise ActionError("Not done: there are no words in it.") from error
        except OSError as error:
            raise ActionError(AWAY) from error
        return ActionResult((Worded.of(TEXTS.words("kept")),))

    async def recall(action: Recall, context: ToolContext) -> ActionResult:
        _check_person(context)
        try:
            recall = memory.recall(context.person, action.about, phone=context.phone_id, limit=2 * RECALLED)
            found = await context.control.guard(recall)
        except OSError as error:
            raise ActionError(AWAY) from error
        texts = tuple(fact.text for fact in found)
        # Also kept as notes, whose words may not leave without approval.
        effect = Worded.of(TEXTS.words("recalled", number=len(texts)))
        return ActionResult((effect,), notes=texts, read=("\n".join(texts),) if texts else ())

    async def forget(action: Forget, context: ToolContext) -> ActionResult:
        _check_person(context)
        wanted = {" ".join(text.split()) for text in action.facts}
        try:
            there = await context.control.guard(memory.all(context.person))
            meant = [fact.id for fact in there if fact.text in wanted]
            if not meant:
                raise ActionError("Not done: no fact reads exactly so. Look it up with recall first.")
            gone = await context.control.guard(memory.forget(context.person, meant))
        except OSError as error:
            raise ActionError(AWAY) from error
        return ActionResult((Worded.of(TEXTS.words("forgotten", number=len(gone))),))

    return (
        Tool(
            model=Remember,
            describe=lambda action, _: TEXTS.words("remember", fact=in_a_line(action.fact, 80)),
            gate=may_remember,
            run=remember,
        ),
        Tool(
            model=Recall,
            describe=lambda action, _: TEXTS.words("recall", about=in_a_line(action.about, 80)),
            gate=ungated,
            repeatable=True,
            run=recall,
        ),
        Tool(
            model=Forget,
            describe=lambda action, _: TEXTS.words("forget", number=len(action.facts)),
            details=lambda action: [in_a_line(text, MAX_FACT) for text in action.facts],
            gate=lambda _action, _situation: Gate("approve", TEXTS.words("gone")),
            run=forget,
        ),
    )


def _check_person(context: ToolContext) -> None:
    if not context.person:
        raise ActionError(NOBODY)
