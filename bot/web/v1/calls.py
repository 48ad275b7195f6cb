"""Connects API requests to the application layer, used with the caller's account, and waits for tasks and their
questions for programs that hold a conversation.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from agent.events import Asked, Step, Thinking
from agent.models.base import PILOT
from agent.ports.memory import Fact
from agent.questions import QuestionKind
from bot.application.access import Caller as Asking
from bot.application.access import Refused, Unknown, may_see, require, verdict
from bot.application.interpret import Answer, Chatter, FactsAsked, MaybeSecret, NewTask, Note, Unclear, interpret
from bot.application.schedules import ScheduleCommands
from bot.application.services import Services
from bot.application.skills import SkillCommands, draft_of_skill
from bot.application.tasks import TaskCommands
from bot.cards.question import closed_line
from bot.domain.address import Person, Place
from bot.domain.incoming import Attachment
from bot.domain.right import Right, Token
from bot.domain.task import OpenQuestion, Task
from bot.domain.task_events import ToolCalled
from bot.domain.task_request import SkillCall, TaskDraft
from bot.people.subjects import Subject
from bot.store.conversations import Conversation
from bot.texts import say, spoken
from bot.web.auth import Caller
from bot.web.v1.models import WhatToDo
from bot.web.wakeup import any_of, ends_before

EXPIRY_SEEN_S: Final = 15.0
"""Seconds within which an expired token is noticed."""


class Calls:
    """The operations that one caller can request through the API. `event` identifies the request, which creates at most
    one task.
    """

    def __init__(self, services: Services, caller: Caller, event: str = "") -> None:
        self.services = services
        self.caller = caller
        self.event = event or f"api:{secrets.token_hex(8)}"
        self.person: Person = replace(caller.person, language=spoken())

    @property
    def token(self) -> Token:
        """The caller's access token. Raises Refused for callers from the console, which has no API conversations."""
        if self.caller.token is None or self.caller.session:
            raise Refused(say("api.for_programs"))
        return self.caller.token

    def asking(self, conversation: str = "") -> Asking:
        """Return the caller as the application layer takes them, placed in their own chat ("") or in a conversation."""
        place = Place(replace(self.caller.home, thread=conversation), private=True)
        return Asking(self.person, place, self.event)

    def commands(self, conversation: str = "") -> TaskCommands:
        """Return the task operations for the caller, in their own chat ("") or in a conversation."""
        return TaskCommands(self.asking(conversation), self.services)

    def schedules(self) -> ScheduleCommands:
        """The schedule operations for the caller."""
        return ScheduleCommands(self.asking(), self.services)

    def skills(self) -> SkillCommands:
        """The skill operations for the caller."""
        return SkillCommands(self.asking(), self.services)

    def draft(self, wish: WhatToDo, follows: str = "") -> TaskDraft:
        """Return the draft of the wished task, with its skill if it names one. `follows` is the task that it follows
        up. Raises Refused.
        """
        draft = replace(wish.draft(wish.text), follows=follows)
        return draft_of_skill(draft, SkillCall(wish.skill, wish.arguments), self.services) if wish.skill else draft

    def require(self, right: Right, phone: str = "") -> None:
        """Check that the caller has this right, for one phone or ("") in general. Raises NotAllowed."""
        require(self.asking(), self.services.policy, right, phone=phone)

    async def task(self, number: str) -> Task:
        """Return the task with this number, if the caller may see it. Raises Unknown."""
        return await self.commands().task(number)

    async def take_in(self, data: bytes) -> str:
        """Store a file for a later task of the caller and return its reference."""
        content = await self.services.frames.save(data, suffix="bin")
        await self.services.store.own_files.handed_in(content, self.person)
        return content

    async def facts(self) -> tuple[Fact, ...]:
        """Return the remembered facts about the caller, oldest first."""
        return await self.services.memory.all(str(Subject.of_person(self.person)))

    def may_see(self, task: Task) -> bool:
        """Return whether the task may be shown to the caller."""
        return may_see(self.asking(), self.services.policy, task)

    @property
    def models(self) -> tuple[tuple[str, str], ...]:
        """The role and the name of each configured model."""
        now = self.services.live.now
        roles = (("vision", now.vlm_model or PILOT), ("basic", now.basic_model), ("reasoning", now.reasoning_model))
        return tuple((role, name) for role, name in roles if name)

    @property
    def owners(self) -> tuple[str, ...]:
        """The caller's accounts as `platform:id`, the form in which conversations store their owners."""
        return tuple(owner_text(account) for account in self.services.policy.accounts(self.person))

    async def conversation(self, number: str) -> Conversation:
        """Return the caller's conversation with this id. Raises Unknown if they have none, Refused for callers from the
        console, and NotAllowed.
        """
        self.require(Right.USE)
        _ = self.token  # only programs have conversations
        found = await self.services.store.conversations.get(number)
        if found is None or found.owner not in self.owners:
            raise Unknown(say("api.no_conversation"))
        return found

    async def latest_in(self, conversation: Conversation) -> str:
        """Return the id of the task that the conversation's next task follows up: its latest unfinished one, else its
        latest; "" if there is none.
        """
        task = await self.services.task_service.in_place(self.asking(conversation.id).address)
        return "" if task is None else task.id

    async def while_held(self, work: Awaitable[None], holds: Callable[[], bool], stopping: asyncio.Event) -> bool:
        """Run `work` until it ends, the service stops, or `holds` returns False because the token is no longer valid.
        Returns whether it ended.
        """
        changed = asyncio.Event()
        forget = self.services.rights.tokens.on_change(changed.set)

        async def no_longer() -> None:
            while holds() and not stopping.is_set():
                changed.clear()
                await any_of(changed, stopping, seconds=EXPIRY_SEEN_S)

        try:
            return await ends_before(no_longer(), work)
        finally:
            forget()

    async def meaning(self, text: str, conversation: str, *, begins: bool = False) -> Answer | Note | NewTask:
        """Return what a text means in a conversation, without asking back. Raises Refused if it may be a code that is
        asked for elsewhere, or was asked for by a closed question; such a text is not stored.
        """
        match await interpret(text, self.asking(conversation), self.services, begins=begins):
            case (Answer() | Note() | NewTask()) as found:
                return found
            case MaybeSecret(closed=closed):
                elsewhere = say("programs.secret_elsewhere")
                raise Refused(f"{closed_line(closed)} {say('answer.closed_secret')}" if closed else elsewhere)
            case Unclear(follows) | FactsAsked(follows):
                return NewTask(follows)
            case Chatter():
                return NewTask()

    async def files(self, contents: list[tuple[str, str]]) -> tuple[Attachment, ...]:
        """Load files for a task; each pair is a name and a reference. Raises Unknown for a missing file or one of
        somebody else.
        """
        accounts, own_files = self.services.policy.accounts(self.person), self.services.store.own_files
        admin = verdict(self.asking(), self.services.policy, Right.ADMIN).allowed
        for _, content in contents:
            if not admin and not await own_files.has(content, accounts, self.caller.home):
                raise Unknown(say("refusal.file_missing"))
        try:
            return tuple([Attachment(name, await self.services.frames.load(content)) for name, content in contents])
        except KeyError:
            raise Unknown(say("refusal.file_missing")) from None


def owner_text(person: Person) -> str:
    """Return an account as `platform:id`, the form in which conversations store their owners."""
    return f"{person.platform}:{person.id}"


ProgressEvent = Step | Thinking | ToolCalled
"""Events that are reported as progress."""
Progress = Callable[[ProgressEvent], Awaitable[None]]


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
        async with aclosing(calls.services.followers.events(task.id, thinking=progress is not None)) as events:
            asked = await question_of(calls, task)
            if asked is not None:
                return
            async for heard in events:
                if heard.last:
                    return
                if isinstance(heard.event, ProgressEvent) and progress is not None:
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
