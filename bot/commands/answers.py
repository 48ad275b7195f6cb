"""Answers to questions: by a button, by a reply, by a text in the task's thread, or by the command `answer`."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from agent.questions import DENY, QuestionKind
from bot.application.access import Refused
from bot.application.interpret import MaybeSecret
from bot.application.services import Services
from bot.application.task_access import own_question, sole, task_named
from bot.application.tasks import TaskCommands
from bot.cards.formatting import title_of
from bot.cards.question import closed_line
from bot.commands.request import Request, public_reply
from bot.domain.address import MessageRef
from bot.domain.chat import ChatError, FloodWait
from bot.domain.outgoing import Reply
from bot.domain.task import OpenQuestion, TaskError
from bot.tasks.input import answer_of
from bot.texts import say

DELETE_LIMIT = 5.0
"""Time limit in seconds for deleting a message with a secret."""

logger = logging.getLogger(__name__)


async def answer(request: Request, services: Services) -> Reply:
    """Handle the command `answer`: answer the only open question that it can refer to."""
    text = request.call.rest
    if not text.strip():
        raise Refused(say("answer.empty"))
    return await give_answer(request, services, await _meant(request, services), text)


async def give_answer(request: Request, services: Services, open_question: OpenQuestion, text: str) -> Reply:
    """Answer this question as the person of the request. The first valid answer wins; for a later one Refused is
    raised, which says who was first.

    A message with a secret is deleted in any case, where the platform can do that. Raises Refused if the person may not
    answer, and Refused or BadText if the text is not a valid answer to this kind of question.
    """
    shown = open_question.message
    here = request.message is not None and shown is not None and shown.address == request.address
    if open_question.question.kind is not QuestionKind.SECRET or request.message is None:
        return replace(
            public_reply(await _given(request, services, open_question, text)), mark_suffices=here, told=True
        )
    try:
        told = await _given(request, services, open_question, text)
    except Refused as refused:
        raise refused.with_text(f"{refused} {await delete_secret(request.message, services)}") from None
    except TaskError as failed:
        raise Refused(f"{failed} {await delete_secret(request.message, services)}") from None
    chat = services.chats.get(request.message.address.platform)
    after = await delete_secret(request.message, services)
    if chat is not None and chat.capabilities.hides_codes:
        return replace(public_reply(told), mark_suffices=here, told=True)
    return public_reply(f"{told} {after}")


async def _given(request: Request, services: Services, open_question: OpenQuestion, text: str) -> str:
    """One line saying who answered what. Raises Refused."""
    commands = TaskCommands(request, services)
    if request.stale:
        await commands.require_to_answer(open_question)
        _refuse_stale_answer(request, open_question, text)
    return closed_line(await commands.answer(open_question, text))


def _refuse_stale_answer(request: Request, asked: OpenQuestion, text: str) -> None:
    """Raise Refused for a late answer that may no longer be valid.

    The task has waited, so words and a "no" still count. A code is too old, an approval needs a fresh look at the
    screen, and a text written before the question was asked answers another one.
    """
    kind = asked.question.kind
    if kind is QuestionKind.SECRET:
        raise Refused(say("answer.late_secret"))
    if asked.asked > request.written:
        raise Refused(say("answer.late_other"))
    if kind is QuestionKind.APPROVE and answer_of(kind, text) != DENY:
        raise Refused(say("answer.late_approval"))


async def delete_secret(message: MessageRef, services: Services) -> str:
    """Try to delete a message that contains a secret. Returns a sentence that says whether it was deleted."""
    chat = services.chats.get(message.address.platform)
    if chat is not None and chat.capabilities.deletes:
        try:
            await asyncio.wait_for(chat.delete(message), DELETE_LIMIT)
        except (ChatError, FloodWait, TimeoutError) as error:
            logger.warning(
                "A message with a secret could not be deleted and is still in the chat: %s", type(error).__name__
            )
        else:
            return say("answer.secret_deleted")
    return say("answer.secret_stays")


async def tell_of_secret(request: Request, services: Services, secret: MaybeSecret) -> Reply:
    """Reply to a text that may be a secret for another place: say where the secret is asked for, or that it comes too
    late. Other people's tasks are not named. A message that looks like a code is deleted, where the platform can do
    that.
    """
    if secret.closed is not None:
        words = f"{closed_line(secret.closed)} {say('answer.closed_secret')}"
        return public_reply(
            words if request.message is None else f"{words} {await delete_secret(request.message, services)}"
        )
    tasks = [
        await services.task_service.get(one.task) for one in secret.asked if await own_question(one, request, services)
    ]
    number = next((task.called for task in tasks if task is not None), "12")
    how = {"answer": f"{request.lead}answer --task {number} …", "do": f"{request.lead}do …"}
    lines = [say("answer.elsewhere", **how), *(title_of(task) for task in tasks if task is not None)]
    if request.message is not None:
        lines.append(
            await delete_secret(request.message, services) if secret.is_code else say("answer.elsewhere_stays")
        )
    return public_reply("\n".join(lines))


async def _meant(request: Request, services: Services) -> OpenQuestion:
    named = request.option("task").removeprefix("#").strip()
    if named:
        task = await task_named(named, request, services)
        found = await services.task_service.open_questions(task=task.id)
    else:
        found = await services.task_service.open_questions(place=request.address)
        if not found:
            everywhere = await services.task_service.open_questions()
            found = tuple([one for one in everywhere if await own_question(one, request, services)])
    return await sole(found, services)
