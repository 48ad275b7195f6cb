"""Waiting and answering for programs that hold a conversation, where only ordinary questions are answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from agent.events import Asked, Step
from agent.questions import QuestionKind
from bot.application.access import Refused
from bot.domain.task import OpenQuestion, Task
from bot.texts import say
from bot.web.v1.calls import Calls

Progress = Callable[[Step], Awaitable[None]]


async def question_of(calls: Calls, task: Task) -> OpenQuestion | None:
    """What the task asks now, None for nothing."""
    asked = await calls.services.task_service.open_questions(task=task.id)
    return asked[0] if asked else None


async def answer_ordinary(calls: Calls, question: OpenQuestion, text: str, *, approves: bool = False) -> None:
    """Answer a question. Only with `approves` this may be another than an ordinary one; a code or password is never
    taken. Raises Refused, and what answering raises.
    """
    if not _answered_here(question, approves=approves):
        raise Refused(say("programs.elsewhere"))
    await calls.commands().answer(question, text)


async def wait_for_task(calls: Calls, task: Task, progress: Progress | None = None) -> OpenQuestion | None:
    """Wait until the task has ended or asks something, which is returned; `progress` gets its steps on the way. A token
    that was taken back hears nothing more.
    """
    async with aclosing(calls.behind.following.events(task.id)) as events:
        if (asked := await question_of(calls, task)) is not None:
            return asked
        async for heard in events:
            if heard.last or not calls.services.rights.tokens.holds(calls.token):
                return None
            if isinstance(heard.event, Step) and progress is not None:
                await progress(heard.event)
            elif isinstance(heard.event, Asked) and (asked := await question_of(calls, task)) is not None:
                return asked
    return None


def question_words(asked: OpenQuestion, *, approves: bool = False) -> str:
    """A question as an answer to a program: what is asked, and where it is answered when that cannot be here."""
    question = asked.question
    choices = "\n".join(f"- {choice}" for choice in question.choices)
    where = "" if _answered_here(asked, approves=approves) else say("programs.elsewhere")
    return "\n".join(part for part in (question.text, question.detail, choices, where) if part)


def _answered_here(asked: OpenQuestion, *, approves: bool) -> bool:
    kind = asked.question.kind
    return kind is QuestionKind.ASK or (approves and kind is not QuestionKind.SECRET)
