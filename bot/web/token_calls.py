"""Waits for tasks and answers their questions, for programs that hold a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from agent.events import Asked, Step, Thinking
from agent.questions import QuestionKind
from bot.application.access import Refused
from bot.domain.task import OpenQuestion, Task
from bot.domain.task_events import ToolCalled
from bot.texts import say
from bot.web.v1.calls import Calls

Along = Step | Thinking | ToolCalled
"""Events that are reported as progress."""
Progress = Callable[[Along], Awaitable[None]]


class CutOff(Refused):
    """The task continues, but its events can no longer be followed: the token was revoked, or the service is
    stopping.
    """


async def question_of(calls: Calls, task: Task) -> OpenQuestion | None:
    """Return the oldest open question of the task or of its parts; None if there is none."""
    asked = await calls.services.task_service.open_questions(task=task.id)
    return asked[0] if asked else None


async def answer_ordinary(calls: Calls, question: OpenQuestion, text: str, *, approves: bool = False) -> None:
    """Answer a question on behalf of a program. Ordinary questions (of kind ASK) can always be answered here; the
    others need `approves`, and codes and passwords are never accepted. Raises Refused, and what answering raises.
    """
    if not _answered_here(question, approves=approves):
        raise Refused(say("programs.elsewhere"))
    await calls.commands().answer(question, text)


async def wait_for_task(
    calls: Calls, task: Task, stopping: asyncio.Event, progress: Progress | None = None
) -> OpenQuestion | None:
    """Wait until the task ends or asks a question. Returns the question, None at the end. `progress` is called with the
    task's events. Raises CutOff, also when `stopping` is set.
    """
    asked: OpenQuestion | None = None

    async def follow() -> None:
        nonlocal asked
        async with aclosing(calls.services.following.events(task.id, thinking=progress is not None)) as events:
            asked = await question_of(calls, task)
            if asked is not None:
                return
            async for heard in events:
                if heard.last:
                    return
                if isinstance(heard.event, Along) and progress is not None:
                    await progress(heard.event)
                elif isinstance(heard.event, Asked) and (asked := await question_of(calls, task)) is not None:
                    return

    if not await calls.while_held(follow(), lambda: calls.services.rights.tokens.holds(calls.token), stopping):
        raise CutOff(say("desk.stopping") if stopping.is_set() else say("refusal.wrong_token"))
    return asked


def question_words(asked: OpenQuestion, *, approves: bool = False) -> str:
    """Return the text of a question for a program: what is asked, and where a person can answer it if the program
    cannot.
    """
    question = asked.question
    choices = "\n".join(f"- {choice}" for choice in question.choices)
    where = "" if _answered_here(asked, approves=approves) else say("programs.elsewhere")
    return "\n".join(part for part in (question.text, question.detail, choices, where) if part)


def _answered_here(asked: OpenQuestion, *, approves: bool) -> bool:
    kind = asked.question.kind
    return kind is QuestionKind.ASK or (approves and kind is not QuestionKind.SECRET)
