"""What a text means where it is written, the same on every surface: an answer, a note, a new task, or none of these."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.questions import QuestionKind
from bot.application.access import Caller, may_see, verdict
from bot.application.own_facts import asks_for_all
from bot.application.services import Services
from bot.application.task_access import own_question
from bot.domain.right import API_PLATFORM, Right
from bot.domain.task import OpenQuestion, Task, TaskState

FOLLOWED_SECONDS = 1800.0
"""For so long after its end a private chat is still about a task; ours. A task's own thread always is."""
STILL_CODES = 3600.0
"""Seconds after the time of a question for a secret in which a word like a code is taken for a late answer; ours."""

_STEERED = frozenset({TaskState.WORKING, TaskState.PAUSED})
"""Such a task can be told something."""
_APART = frozenset({TaskState.QUEUED, TaskState.ENDED})
"""What is written beside such a task is not meant for it."""
_CODE = re.compile(r"(?=\S*\d)\S{3,64}|\d[\d -]{2,30}\d")
"""One word with a digit, or digits in groups: codes, PINs and most passwords. A task is more than one word."""


@dataclass(frozen=True, slots=True)
class Answer:
    """It answers one of these questions."""

    questions: tuple[OpenQuestion, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """It is for this task, which is at work there."""

    task: Task


@dataclass(frozen=True, slots=True)
class NewTask:
    """It asks for something."""

    follows: str = ""
    """The id of the task of before that it follows up; "" for none."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """It may ask for something: it looks like a code, or is for a task that can be told nothing now. A surface on which
    people can press a button asks; on others it is a new task.
    """

    follows: str = ""
    """The id of the task that it would follow up as a new task; "" for none."""


@dataclass(frozen=True, slots=True)
class FactsAsked:
    """It asks what is remembered about whoever writes, and nothing else. Where a model answers it is a new task."""

    follows: str = ""
    """The id of the task that it follows up then; "" for none."""


@dataclass(frozen=True, slots=True)
class MaybeSecret:
    """It may be the code or password that is asked for elsewhere, or one that comes too late: it is told to no task and
    kept nowhere.
    """

    asked: tuple[OpenQuestion, ...] = ()
    """The open questions that it may be for."""
    closed: OpenQuestion | None = None
    """The question for which it comes too late."""
    is_code: bool = True
    """Whether it looks like a code; any words may be a password."""


@dataclass(frozen=True, slots=True)
class Chatter:
    """Somebody talks in the thread of a task that is not theirs: nothing is done."""


Meaning = Answer | Note | NewTask | Unclear | FactsAsked | MaybeSecret | Chatter


async def interpret(
    text: str,
    caller: Caller,
    services: Services,
    *,
    task: Task | None = None,
    pointed: bool = False,
    begins: bool = False,
    written: float = 0.0,
) -> Meaning:
    """What the text means where the caller writes it, by what is asked and done there.

    It may be about a `task`: `pointed` when it replies to that. `begins` says that it is the first of a
    conversation, whatever was said before in one of the same name. `written` is in Unix seconds, 0 for now.
    """
    if task is not None and not pointed and only_talks(caller, services, task):
        return Chatter()
    service, here = services.task_service, None if task is not None else caller.address
    asked = () if begins else await service.open_questions(task=None if task is None else task.id, place=here)
    if asked:
        return Answer(asked)
    if (secret := await _secret(text, caller, services, task, written or services.clock())) is not None:
        return secret
    if task is not None:
        return Note(task)
    current = None if begins else await service.in_place(caller.address)
    # Without a model the words alone count: nothing could tell what they refer to.
    is_followed = current is not None and not services.offline and await _is_followed(caller, services, current)
    follows = current.id if current is not None and is_followed else ""
    if asks_for_all(text):
        return FactsAsked(follows)
    if current is not None and current.state in _STEERED:
        return Note(current)
    # A sentence of a language without blanks is no code.
    is_code = text.isascii() and looks_like_a_code(text)
    if is_code or (current is not None and current.state not in _APART):
        return Unclear(follows)
    return NewTask(follows)


def only_talks(caller: Caller, services: Services, task: Task) -> bool:
    """Whether somebody talks in a task's thread without steering it, as people may."""
    return not verdict(caller, services.policy, Right.USE, owner=task.person).allowed


async def _is_followed(caller: Caller, services: Services, before: Task) -> bool:
    """Whether what is written now follows up that task: in its own thread, or soon after its end."""
    if before.ended is None or before.place != caller.address or not may_see(caller, services.policy, before):
        return False
    recent = services.clock() - before.ended <= FOLLOWED_SECONDS
    return recent or await services.task_service.made_for_tasks(caller.address)


async def task_steered_in(caller: Caller, services: Services) -> Task | None:
    """The task at work where the caller writes, which a text there may be for; None while it asks something."""
    task = await services.task_service.in_place(caller.address)
    if task is None or task.state not in _STEERED or await services.task_service.open_questions(place=caller.address):
        return None
    return task


def looks_like_a_code(text: str) -> bool:
    """Whether a text is one word with a digit, or digits in groups, as codes and most passwords are."""
    return _CODE.fullmatch(text.strip()) is not None


async def _secret(
    text: str, caller: Caller, services: Services, task: Task | None, written: float
) -> Answer | MaybeSecret | None:
    """What a text is that may be a code or password for another question, open or closed; None for none.

    Whoever is asked for a code in a group tells it rather in private. There it answers the question when nothing else
    can be meant, and any words may be a password. What is said to a task, or in a conversation of a program, which is
    about one thing, is none unless it looks like a code.
    """
    is_code = looks_like_a_code(text)
    apart = task is not None or caller.address.platform == API_PLATFORM
    if is_code or not apart:
        asked = await secrets_asked(caller, services, anybody=is_code)
        if is_code and not apart and len(asked) == 1:
            everything = await services.task_service.open_questions()
            if [one for one in everything if await own_question(one, caller, services)] == asked:
                return Answer(tuple(asked))
        if asked:
            return MaybeSecret(tuple(asked), is_code=is_code)
    if is_code and (closed := await _closed_secret(caller, services, written)) is not None:
        return MaybeSecret(closed=closed)
    return None


async def secrets_asked(caller: Caller, services: Services, *, anybody: bool) -> list[OpenQuestion]:
    """The open questions for a secret about the caller's tasks; with `anybody`, all that they may answer."""
    found = []
    for one in await services.task_service.open_questions():
        if one.question.kind is not QuestionKind.SECRET or (task := await services.task_service.get(one.task)) is None:
            continue
        may = verdict(caller, services.policy, Right.USE, owner=task.person, phone=task.phone).allowed
        if services.policy.same(task.person, caller.person) or (anybody and may):
            found.append(one)
    return found


async def _closed_secret(caller: Caller, services: Services, written: float) -> OpenQuestion | None:
    """The latest question for a secret that was open not long ago, asked here or, for a private chat, about a task of
    the caller.
    """
    for found in await services.store.questions.closed(
        QuestionKind.SECRET, asked_by=written, ends_from=written - STILL_CODES
    ):
        task = await services.task_service.get(found.task)
        if task is None:
            continue
        whole = await services.task_service.get(task.parent) if task.parent else task
        here = whole is not None and (whole.place or whole.origin) == caller.address
        if here or (caller.place.private and services.policy.same(task.person, caller.person)):
            return found
    return None
