"""Text that is no command: an answer, a word to the running task, or an offer to make it a task."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, replace

from bot.access import Right, same_person
from bot.cards.buttons import Deed, button
from bot.chats.address import MessageRef
from bot.chats.incoming import CommandCall, Incoming
from bot.chats.outgoing import Message, Reply
from bot.commands.answers import give_answer, late_code, sole
from bot.commands.late import STEER
from bot.commands.reins import require_to_go_on
from bot.commands.request import Refused, Request, Services, plain, refuse_late, verdict
from bot.tasks.model import OpenQuestion, Task, TaskState
from bot.texts import say

OFFERS_KEPT = 256
"""Texts that wait for a press of Run or Tell; the oldest are forgotten first, and all by a restart."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a text is about: a question, a task, or neither (a text in a private chat).

    `pointed` says that the person replied to it, so that a refusal is worth telling.
    """

    question: OpenQuestion | None = None
    task: Task | None = None
    pointed: bool = False


async def topic_of(incoming: Incoming, services: Services) -> Topic | None:
    """What the text is about, None when it is none of the bot's business.

    First what it replies to, then the task whose own thread this is. A chat that a task shares with other talk counts
    only when it is private.
    """
    if incoming.reply_to is not None:
        question = await services.desk.question_by_message(incoming.reply_to)
        if question is not None:
            return Topic(question=question, pointed=True)
        task = await _task_of_card(incoming.reply_to, services)
        if task is not None:
            return Topic(task=task, pointed=True)
        if incoming.to_bot and (question := await _sent_unnoticed(incoming, services)) is not None:
            return Topic(question=question, pointed=True)
    place = incoming.place
    task = await services.desk.in_place(place.address)
    if task is not None and place.address.thread and task.place != task.origin:
        return Topic(task=task) if task.state is not TaskState.ENDED else None
    return Topic() if place.private else None


async def _task_of_card(message: MessageRef, services: Services) -> Task | None:
    for task in await services.desk.active():
        card = await services.store.cards.get(task.id)
        if card is not None and card.message == message:
            return task
    return None


async def _sent_unnoticed(incoming: Incoming, services: Services) -> OpenQuestion | None:
    """The sole open question of this place, for a reply to a message of the bot that nobody knows of.

    A service that dies while it sends a question asks it again after the restart; both messages stand in the chat.
    """
    found = await services.desk.open_questions(place=incoming.place.address)
    return found[0] if len(found) == 1 else None


class Talk:
    """Answers texts; keeps the offers that it made."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._offers: OrderedDict[str, Request] = OrderedDict()

    async def about(self, request: Request, topic: Topic, text: str) -> Reply:
        """Do what the text means. The person may use the bot here."""
        if topic.question is not None:
            return await give_answer(request, self._services, topic.question, text)
        if topic.task is None:
            return await self._in_private(request, text)
        task = topic.task
        owner_or_admin = verdict(request, self._services.policy, Right.USE, owner=task.person).allowed
        if not owner_or_admin and not topic.pointed:
            return Reply()  # people may talk in a task's thread without steering it
        found = await self._services.desk.open_questions(task=task.id)
        if found:
            return await give_answer(request, self._services, await sole(found, self._services), text)
        if (closed := await late_code(request, self._services, text)) is not None:
            return closed
        return await self._steer(request, task, text)

    async def _in_private(self, request: Request, text: str) -> Reply:
        found = await self._services.desk.open_questions(place=request.address)
        if found:
            return await give_answer(request, self._services, await sole(found, self._services), text)
        if (closed := await late_code(request, self._services, text)) is not None:
            return closed
        return await self.offer(request, text, say("talk.offer"))

    async def offer(self, request: Request, text: str, words: str) -> Reply:
        """Ask with these words whether the text is a task; nothing begins without a press."""
        request = replace(request, call=CommandCall("do", {}, text))
        refuse_late(request)
        offer = secrets.token_hex(8)
        self._offers[offer] = request
        while len(self._offers) > OFFERS_KEPT:
            self._offers.popitem(last=False)
        buttons = [button(Deed.RUN, offer, say("button.run"), style="primary")]
        task = await self._services.desk.in_place(request.address)
        if task is not None and task.state in {TaskState.WORKING, TaskState.PAUSED}:
            buttons.append(button(Deed.STEER, offer, say("button.steer", task=task.id), choice=task.id))
        return Reply(Message(body=words, buttons=(tuple(buttons),), reply_to=request.message))

    async def _steer(self, request: Request, task: Task, text: str) -> Reply:
        await require_to_go_on(request, self._services, task)
        if not text.strip():
            return Reply()
        refuse_late(replace(request, call=CommandCall(STEER, {"task": task.id}, text)))
        await self._services.desk.steer(task.id, text.strip(), request.person)
        return plain(say("talk.noted", task=task.id))

    def take_offer(self, request: Request, offer: str) -> Request:
        """The request that was offered, once. Raises Refused when it is gone or was somebody else's."""
        offered = self._offers.get(offer)
        if offered is None:
            raise Refused(say("talk.offer_gone"))
        if not same_person(offered.person, request.person):
            raise Refused(say("talk.offer_not_yours"))
        del self._offers[offer]
        return offered

    async def steer_with(self, request: Request, offer: str, task_id: str) -> Reply:
        """Tell a running task what was offered."""
        offered = self.take_offer(request, offer)
        task = await self._services.desk.get(task_id)
        if task is None:
            raise Refused(say("task.unknown", name=task_id))
        return await self._steer(request, task, offered.call.rest)

    async def steer_late(self, request: Request) -> Reply:
        """Tell a task what was written to it while the service was away."""
        task = await self._services.desk.get(request.option("task"))
        if task is None or task.state is TaskState.ENDED:
            raise Refused(say("missed.task_over", task=request.option("task")))
        return await self._steer(request, task, request.call.rest)
