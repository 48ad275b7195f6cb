"""Handles what is no command of the list: text (an answer, a note for a running task or a new task), unknown commands,
to which the most similar one is offered, and voice notes.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from agent.models.other_models import TranscriptionFailed
from bot.application.access import Refused, verdict
from bot.application.interpret import (
    Answer,
    Chatter,
    FactsAsked,
    MaybeSecret,
    NewTask,
    Note,
    interpret,
    only_talks,
    secrets_asked,
    task_steered_in,
)
from bot.application.services import Services
from bot.application.task_access import require_to_go_on, sole
from bot.application.tasks import TaskCommands
from bot.cards.buttons import ButtonAction, button
from bot.cards.formatting import shortened
from bot.commands import tasks
from bot.commands.answers import give_answer, tell_of_secret
from bot.commands.backlog import STEER, attached
from bot.commands.hand import type_text
from bot.commands.memory import memories
from bot.commands.parser import UnknownCommand, parse
from bot.commands.request import Request, public_reply, refuse_stale
from bot.commands.spec import BY_NAME
from bot.domain.address import MessageRef
from bot.domain.chat import ChatError
from bot.domain.incoming import CommandCall, ForeignText, Incoming, Voice
from bot.domain.outgoing import Message, Reply
from bot.domain.task import OpenQuestion, OverQuota, Task, TaskState
from bot.domain.task_request import TaskDraft
from bot.people.access import same_person
from bot.store.audit import AuditKind
from bot.store.chats import Offer
from bot.tasks.files import keep
from bot.tasks.input import clean
from bot.tasks.remote_control import ControlSession
from bot.texts import listed, say

logger = logging.getLogger(__name__)


_NAME_LIMIT = 64
"""Maximum characters of the name of a text's author; our choice."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a text refers to: a question, a task, or a phone that is operated by hand. Without any of them, it is a text
    in a private chat that refers to nothing.
    """

    question: OpenQuestion | None = None
    task: Task | None = None
    typed: bool = False
    """Whether the text replies to the picture of a phone that is or was operated by hand. `hold` is None if it no
    longer is.
    """
    hold: ControlSession | None = None
    pointed: bool = False
    """Whether the text is a reply to a message about the topic, so that a refusal should be reported."""


async def topic_of(incoming: Incoming, services: Services) -> Topic | None:
    """Return what the text refers to; None if it does not concern the bot.

    What the text replies to comes first, then the task in whose own thread it is written. Other texts concern the bot
    only in a private chat.
    """
    if incoming.reply_to is not None:
        question = await services.store.questions.by_message(incoming.reply_to)
        if question is not None:
            return Topic(question=question, pointed=True)
        if await services.store.hand_pictures.has(incoming.reply_to):
            return Topic(typed=True, hold=services.remote_control.session_of_message(incoming.reply_to), pointed=True)
        task = await _task_of_card(incoming.reply_to, services)
        if task is not None:
            return Topic(task=task, pointed=True)
        if incoming.to_bot and (question := await _sent_unnoticed(incoming, services)) is not None:
            return Topic(question=question, pointed=True)
    place = incoming.place
    task = await services.task_service.in_place(place.address)
    lives = task is not None and task.state is not TaskState.ENDED
    if lives and await services.task_service.made_for_tasks(place.address):
        return Topic(task=task)
    return Topic() if place.private else None


async def _task_of_card(message: MessageRef, services: Services) -> Task | None:
    for task in await services.task_service.active():
        card = await services.store.cards.get(task.id)
        if card is not None and card.message == message:
            return task
    return None


async def _sent_unnoticed(incoming: Incoming, services: Services) -> OpenQuestion | None:
    """The only open question of this place, for a reply to a message of the bot that is not in the store.

    If the service dies while it sends a question, it sends it again after the restart, and both messages are in the
    chat.
    """
    found = await services.task_service.open_questions(place=incoming.place.address)
    return found[0] if len(found) == 1 else None


class FreeTextHandler:
    """Handles texts that are not commands: takes them as answers or notes, and starts or offers tasks."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def handle(self, request: Request, topic: Topic, text: str) -> Reply:
        """Interpret a text and act on its meaning: answer a question, pass on a note, start or offer a task. The caller
        has checked that the person may use the bot here. Raises Refused or TaskError, and StaleRequest for what was
        written while the service was away and must not be done without a confirmation.
        """
        if topic.typed:
            return await type_text(request, self._services, topic.hold, text)
        if topic.question is not None:
            return _without_files(
                await give_answer(request, self._services, topic.question, text), carried=request.carries
            )
        meaning = await interpret(
            text, request, self._services, task=topic.task, pointed=topic.pointed, written=request.written
        )
        match meaning:
            case Chatter():
                return Reply()
            case Answer(questions):
                reply = await give_answer(request, self._services, await sole(questions, self._services), text)
            case MaybeSecret() as secret:
                reply = await tell_of_secret(request, self._services, secret)
            case FactsAsked():
                return await memories(request, self._services)
            case Note(task) if topic.task is not None:
                reply = await self._steer(request, task, text)
            case NewTask(follows) if not _is_command_word(text):
                return await self._start(request, text, follows)
            case _:
                return await self._ask_whether_a_task(request, text)
        return _without_files(reply, carried=request.carries)

    async def offer_foreign(self, request: Request, topic: Topic, text: str, by: ForeignText) -> Reply:
        """Offer a text by another author (forwarded, for example) as a task, with the author's name `by`. Raises
        Refused, BadText or BadFiles.

        It is refused while a question is open here, or one for a secret elsewhere: the text may be a code, and offers
        are stored.
        """
        if topic.task is not None and not topic.pointed and only_talks(request, self._services, topic.task):
            return Reply()
        who = say("talk.foreign_author", name=shortened(by.author, _NAME_LIMIT)) if by.author else say("talk.foreign")
        asked = await self._services.task_service.open_questions(place=request.address)
        if topic.question is not None or asked or await secrets_asked(request, self._services, anybody=True):
            raise Refused(say("talk.foreign_answers_nothing", who=who))
        # An offer begins nothing, so it needs no list of what was missed, which would name its sender as its author.
        return await self.offer(replace(request, stale=False), text, say("talk.foreign_offer", who=who))

    async def _start(self, request: Request, text: str, follows: str) -> Reply:
        draft = TaskDraft(clean(text, say("desk.text.task")), request.device, follows=follows)
        options = {name: value for name, value in (("device", draft.device), ("follows", draft.follows)) if value}
        refuse_stale(replace(request, call=CommandCall("do", options, draft.text)))
        return await tasks.start(request, self._services, draft)

    async def _ask_whether_a_task(self, request: Request, text: str) -> Reply:
        words = say("talk.offer")
        if request.lead and _is_command_word(text):
            words = "\n".join([words, say("talk.offer_command", line=f"{request.lead}{text.strip().lower()}")])
        return await self.offer(request, text, words)

    async def offer(self, request: Request, text: str, words: str) -> Reply:
        """Store a text and ask, with the question `words`, whether it is a task. Only a press of the button starts it.
        Raises BadText or BadFiles, or StaleRequest for a text that was written while the service was away.
        """
        text = clean(text, say("desk.text.task"))
        refuse_stale(replace(request, call=CommandCall("do", {}, text)))
        offer = await _stored(request, self._services, text)
        buttons = [button(ButtonAction.RUN, offer.id, say("button.run"), style="primary")]
        if (task := await task_steered_in(request, self._services)) is not None:
            buttons.append(button(ButtonAction.STEER, offer.id, say("button.steer", task=task.id), choice=task.id))
        if offer.files:
            words = "\n".join([words, say("talk.offer_files", names=listed(file.name for file in offer.files))])
        return Reply(Message(body=words, buttons=(tuple(buttons),), reply_to=request.message))

    async def _steer(self, request: Request, task: Task, text: str) -> Reply:
        if not text.strip():
            return Reply()
        if request.stale:
            await require_to_go_on(request, self._services, task)
            refuse_stale(replace(request, call=CommandCall(STEER, {"task": task.id}, text)))
        await TaskCommands(request, self._services).steer(task, text.strip())
        return replace(public_reply(say("talk.noted", task=task.id)), told=True)

    async def run(self, request: Request, offer: str) -> Reply:
        """Start the offered text with this id as a task. The rights and roles that the person has when they press
        count.
        """
        async with self.claim(request, offer) as meant:
            files = await attached(meant.files, self._services)
            caller = replace(request, event=meant.event, message=meant.message, files=files)
            return await tasks.start(caller, self._services, TaskDraft(meant.text))

    async def steer_with(self, request: Request, offer: str, task_id: str) -> Reply:
        """Give the offered text with the id `offer` to a running task as a note, without its files."""
        async with self.claim(request, offer) as meant:
            task = await self._services.task_service.get(task_id)
            if task is None:
                raise Refused(say("task.unknown", name=task_id))
            return _without_files(await self._steer(request, task, meant.text), carried=bool(meant.files))

    @asynccontextmanager
    async def claim(self, request: Request, number: str) -> AsyncIterator[Offer]:
        """Take the offered text with this id for use in the block, so that it cannot be used twice. If the block
        raises, the button can be pressed again.

        Raises Refused if the text is gone, or was offered to another person.
        """
        offers = self._services.store.offers
        offer = await offers.get(number, now=self._services.clock())
        if offer is not None and not same_person(offer.person, request.person):
            raise Refused(say("talk.offer_not_yours"))
        if offer is None or not await offers.take(number):
            raise Refused(say("talk.offer_gone"))
        try:
            yield offer
        except BaseException:
            await offers.add(offer)
            raise

    async def steer_missed(self, request: Request) -> Reply:
        """Give a task a note that was written while the service was away, now that a person has confirmed it."""
        task = await self._services.task_service.get(request.option("task"))
        if task is None or task.state is TaskState.ENDED:
            raise Refused(say("missed.task_over", task=request.option("task")))
        return await self._steer(request, task, request.call.rest)


def _is_command_word(text: str) -> bool:
    """Whether the text may be meant as a command although it lacks the prefix that commands have here."""
    return text.strip().lower() in BY_NAME


def _without_files(reply: Reply, *, carried: bool) -> Reply:
    """The reply with a remark that the files which came along cannot be used here."""
    if not carried or reply.message is None:
        return reply
    words = f"{reply.message.body}\n{say('talk.files_left')}"
    return replace(reply, message=replace(reply.message, body=words), mark_suffices=False)


async def _stored(request: Request, services: Services, text: str) -> Offer:
    """Store a text with the files that came along, until a button is pressed. Raises BadFiles."""
    offer = Offer(
        id=secrets.token_hex(8),
        person=request.person,
        place=request.place,
        event=request.event,
        message=request.message,
        text=text,
        files=await keep(services.frames, request.files),
        made=services.clock(),
    )
    await services.store.offers.add(offer)
    return offer


_WITH_CODES: Final = frozenset({"answer", "pair"})
"""Commands whose text may contain codes. Such a text is never stored, not even until a press."""


async def offer_nearest(request: Request, unknown: UnknownCommand, services: Services) -> Reply:
    """Reply that there is no such command. If the person may use the most similar one, the reply has a button that runs
    it, with the message's text and files; not for a message that came late, nor for a command whose text may be a
    secret code, such as one for signing in. Raises BadFiles if a file cannot be kept for the button.
    """
    told = Message(body=str(unknown), private=True)
    near = BY_NAME.get(unknown.nearest)
    usable = near is not None and near.name not in _WITH_CODES and not request.stale
    if near is None or not usable or not verdict(request, services.policy, near.right).allowed:
        return Reply(told)
    offer = await _stored(request, services, f"{near.name} {unknown.rest}".strip())
    meant = button(ButtonAction.TRY, offer.id, f"{request.prefix or request.lead}{offer.text}", style="primary")
    return Reply(replace(told, buttons=((meant,),)))


@asynccontextmanager
async def meant_by_press(
    request: Request, offer: str, free_text: FreeTextHandler, services: Services
) -> AsyncIterator[Request]:
    """Yield the request that the button runs for the person who typed the unknown command. It can be run once; if the
    block raises, the button can be pressed again.

    Raises Refused or ParseError.
    """
    async with free_text.claim(request, offer) as typed:
        files = await attached(typed.files, services)
        yield replace(request, event=typed.event, call=parse(typed.text), message=typed.message, files=files)


VOICE_SECONDS: Final = 180
"""Maximum length of a voice note; a task is a few sentences."""
VOICE_BYTES: Final = 5 * 1024 * 1024
"""Maximum size of a voice note: three minutes as chats encode them are about a megabyte."""
FETCH_SECONDS: Final = 60.0
"""Time limit of a download, in seconds."""
AT_ONCE: Final = 2
"""Maximum voice notes transcribed at the same time; others wait."""


class VoiceNoteHandler:
    """Transcribes voice notes of people who may use the bot."""

    def __init__(self, services: Services, free_text: FreeTextHandler) -> None:
        self._services = services
        self._free_text = free_text
        self._free = asyncio.Semaphore(AT_ONCE)

    async def handle(self, request: Request, topic: Topic, voice: Voice) -> Reply:
        """Transcribe a voice note, and reply with the text and a button that makes it a task. Raises Refused, OverQuota
        or BadText.

        The text is never used as an answer: a code must not be sent to a speech endpoint, and an approval must not be
        misheard.
        """
        asked = await self._services.task_service.open_questions(place=request.address)
        if topic.question is not None or asked or await secrets_asked(request, self._services, anybody=False):
            raise Refused(say("voice.question"))
        if request.stale:
            raise Refused(say("voice.late"))
        transcriber = self._services.transcriber()
        if transcriber is None:
            raise Refused(say("voice.off"))
        if voice.seconds > VOICE_SECONDS or voice.size > VOICE_BYTES:
            raise Refused(say("voice.too_long", minutes=VOICE_SECONDS // 60))
        async with self._free:
            await self._require_quota(request)
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    audio = await voice.fetch()
                said = await transcriber.transcribe(audio, voice.name, voice.seconds)
            except (ChatError, TimeoutError, TranscriptionFailed) as error:
                logger.warning("A voice note was not transcribed: %s", str(error) or "its download took too long")
                raise Refused(say("voice.failed")) from None
            await self._services.store.usage.heard(request.person, said)  # before the next one asks what is left
        if not said.text:
            raise Refused(say("voice.silent"))
        return await self._free_text.offer(request, said.text, say("voice.heard", text=said.text))

    async def _require_quota(self, request: Request) -> None:
        try:
            await self._services.quotas.admit_voice(request.person, request.address)
        except OverQuota as refused:
            await self._services.store.audit.note(AuditKind.OVER_QUOTA, request.person, detail=refused.detail)
            raise
