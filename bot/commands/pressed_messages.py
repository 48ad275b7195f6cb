"""Decides what a message shows after one of its buttons was pressed: buttons that no longer do anything are removed."""

from __future__ import annotations

from dataclasses import replace

from bot.application.services import Services
from bot.cards.buttons import ButtonAction, ButtonData
from bot.cards.card import live_card
from bot.cards.formatting import title_of
from bot.cards.question import render_answered
from bot.domain.incoming import Press
from bot.domain.outgoing import Message, Reply
from bot.domain.task import OpenQuestion, Task, TaskState
from bot.texts import say, speaking

_ON_CARDS = frozenset({ButtonAction.STOP, ButtonAction.PAUSE, ButtonAction.RESUME, ButtonAction.TAKE, ButtonAction.NOW})
_OF_QUESTIONS = frozenset({ButtonAction.ANSWER, ButtonAction.PAGE})
_OF_OFFERS = frozenset({ButtonAction.RUN, ButtonAction.STEER, ButtonAction.TRY})


async def with_its_message(reply: Reply, press: Press, data: ButtonData, services: Services) -> Reply:
    """Add the new contents of the pressed message to the reply to a successful press, and return it."""
    if data.action is ButtonAction.TRY:
        return replace(reply, dead=True)  # the answer is a separate message
    if data.action in _OF_OFFERS:
        return replace(reply, shown=Message(body=reply.toast if reply.message is None else reply.message.body))
    if (question := await services.store.questions.by_message(press.message)) is not None:
        return replace(reply, shown=await _closed(question, services))
    task = await services.task_service.get(data.subject) if data.action in _ON_CARDS else None
    if task is None:
        return reply
    with speaking(task.person.language):
        if await _is_card(press, task, services):
            return replace(reply, shown=await _card(task, press, services))
        # A notice, or a copy of the card that is no longer updated.
        by = say(f"press.by.{data.action}", name=press.person.name or press.person.id)
        return replace(reply, shown=Message(heading=title_of(task), body=by))


async def when_refused(press: Press, data: ButtonData, services: Services) -> Reply:
    """Return what becomes of the pressed message after a refusal: it loses its buttons if they can no longer do
    anything.
    """
    if (question := await services.store.questions.by_message(press.message)) is not None:
        shown = await _closed(question, services)
        return Reply(shown=shown, dead=shown is not None)
    if data.action in _OF_QUESTIONS:
        return Reply(dead=True)
    if data.action in _OF_OFFERS:
        return Reply(dead=await services.store.offers.get(data.subject, now=services.clock()) is None)
    if data.action not in _ON_CARDS:
        return Reply()
    task = await services.task_service.get(data.subject)
    if task is not None and await _is_card(press, task, services):
        with speaking(task.person.language):
            return Reply(shown=await _card(task, press, services), dead=True)
    return Reply(dead=task is None or task.state is TaskState.ENDED)


async def _closed(question: OpenQuestion, services: Services) -> Message | None:
    """The closed question as a message without buttons; None while it is open."""
    task = await services.task_service.get(question.task)
    if task is None or (question.answer is None and not question.expired):
        return None
    with speaking(task.person.language):
        return render_answered(question, task)


async def _is_card(press: Press, task: Task, services: Services) -> bool:
    card = await services.store.cards.get(task.id)
    return card is not None and card.message == press.message


async def _card(task: Task, press: Press, services: Services) -> Message:
    chat = services.chats.get(press.message.address.platform)
    return await live_card(
        task,
        services.task_service,
        frames=services.frames,
        now=services.clock(),
        counts_down=chat is not None and chat.capabilities.counts_down,
    )
