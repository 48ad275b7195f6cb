"""The command `why 12`: shows what the gate (which decides what needs a person's approval) did in a task: what was
asked, answered, allowed, refused, read by a model, and checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent.effect_facts import AllowedAhead, DeniedBefore, LookedBefore, OtherWindow
from agent.questions import QuestionKind
from bot.application.services import Services
from bot.cards.formatting import shortened, step_words, title_of
from bot.cards.question import closed_line
from bot.commands.request import aside
from bot.domain.outgoing import Reply
from bot.domain.task import OpenQuestion, StepRow, Task
from bot.texts import say
from bot.views.tasks import effect_words

MOST_LINES = 40
"""Maximum lines, the latest ones, so that an answer fits into one message."""
LINE_LIMIT = 240


async def gate_record(task: Task, services: Services) -> Reply:
    """Return a reply that lists the gate's latest decisions in the task (at most MOST_LINES), oldest first."""
    steps = await services.task_service.steps(task.id)
    questions = await services.store.questions.of(task.id)
    told = [(step.at, line) for step in steps for line in _of_step(step)]
    told += [(each.asked, _of_question(each)) for each in questions if each.question.kind is QuestionKind.APPROVE]
    lines = [shortened(line, LINE_LIMIT) for _, line in sorted(told, key=lambda each: each[0])]
    return aside("\n".join(lines[-MOST_LINES:]) or say("why.nothing"), heading=title_of(task))


def _of_question(asked: OpenQuestion) -> str:
    return say("why.asked", question=asked.question.text, answer=closed_line(asked))


def _of_step(step: StepRow) -> Iterator[str]:
    """The lines about one step; empty if the gate took no part in it."""
    kinds = AllowedAhead | DeniedBefore | LookedBefore | OtherWindow
    facts = [each for each in step.effect if isinstance(each, kinds)]
    found = [_reading(each) for each in step.action.get("readings", ())]
    found += [effect_words(facts, {})] if facts else []
    yield from (say("why.step", step=step.step, did=step_words(step), found=each) for each in found)


def _reading(reading: dict[str, Any]) -> str:
    """What the independent reader said about a press, and what it used."""
    kind = str(reading["consequence"]).replace(" ", "_")
    says = say("why.read", consequence=say(f"why.consequence.{kind}"))
    if reading.get("object"):
        says = say("why.read_object", says=says, object=reading["object"])
    if reading.get("kept"):
        return say("why.read_kept", says=says)
    return say(
        "why.read_took", says=says, tokens=reading.get("tokens", 0), seconds=f"{reading.get('seconds', 0.0):.1f}"
    )
