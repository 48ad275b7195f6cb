"""Decides what a text written by a person means: an answer to a question, a note for a running task, a new task or
something else. Every chat platform and API uses the same rules.
"""

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
"""Seconds after a task's end in which a text in a private chat is still a follow-up of that task. The value is our
choice. In the task's own thread there is no limit.
"""
STILL_CODES = 3600.0
"""Seconds after a question for a secret has expired in which a text that looks like a code counts as a late answer. The
value is our choice.
"""

_STEERED = frozenset({TaskState.WORKING, TaskState.PAUSED})
"""States in which a task can be given a note."""
_APART = frozenset({TaskState.QUEUED, TaskState.ENDED})
"""States in which a text written at a task's place is not meant for the task."""
_CODE = re.compile(r"(?=\S*\d)\S{3,64}|\d[\d -]{2,30}\d")
"""One word with a digit, or digits in groups: codes, PINs and most passwords. A task is more than one word."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The text answers an open question: one of `questions`."""

    questions: tuple[OpenQuestion, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """The text is a note for this running task."""

    task: Task


@dataclass(frozen=True, slots=True)
class NewTask:
    """The text asks for a new task, which may follow up an earlier one."""

    follows: str = ""
    """The id of the earlier task that it follows up; "" for none."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """It is unclear whether the text asks for a new task: it looks like a code, or the task at this place cannot take
    notes now. Surfaces with buttons ask the person; the others start a new task.
    """

    follows: str = ""
    """The id of the task that it would follow up as a new task; "" for none."""


@dataclass(frozen=True, slots=True)
class FactsAsked:
    """The text only asks what the service remembers about the writer. In a chat, the stored facts are the answer; in a
    program's conversation, it becomes a new task.
    """

    follows: str = ""
    """The id of the task that it would follow up as a new task; "" for none."""


@dataclass(frozen=True, slots=True)
class MaybeSecret:
    """The text may be a code or password for a question that was asked elsewhere or is already closed. It is given to
    no task and stored nowhere.
    """

    asked: tuple[OpenQuestion, ...] = ()
    """The open questions that it may answer."""
    closed: OpenQuestion | None = None
    """The closed question that it may be a late answer to."""
    is_code: bool = True
    """Whether it looks like a code. A password may be any words."""


@dataclass(frozen=True, slots=True)
class Chatter:
    """The writer only talks in the thread of somebody else's task: nothing is to be done."""


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
    """Return what a text means at the place where the caller wrote it, given the tasks and open questions there.

    - `task` is a task that the text may refer to, such as the one whose thread it is written in.
    - `pointed` says that the text is a direct reply to that task's message.
    - `begins` says that the text begins a new conversation, even if an earlier one had the same name.
    - `written` is when the text was written, in Unix seconds; 0 means now.
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
    # In a language without blanks, a whole sentence looks like one word.
    is_code = text.isascii() and looks_like_a_code(text)
    if is_code or (current is not None and current.state not in _APART):
        return Unclear(follows)
    return NewTask(follows)


def only_talks(caller: Caller, services: Services, task: Task) -> bool:
    """Return whether the writer may not steer the task, so that their text in its thread is only conversation."""
    return not verdict(caller, services.policy, Right.USE, owner=task.person).allowed


async def _is_followed(caller: Caller, services: Services, before: Task) -> bool:
    """Whether a text follows up this task: it is written in the task's own thread, or soon after its end."""
    if before.ended is None or before.place != caller.address or not may_see(caller, services.policy, before):
        return False
    recent = services.clock() - before.ended <= FOLLOWED_SECONDS
    return recent or await services.task_service.made_for_tasks(caller.address)


async def task_steered_in(caller: Caller, services: Services) -> Task | None:
    """Return the running or paused task at the caller's place that a text may be a note for. None if there is none, or
    if a question is open at that place.
    """
    task = await services.task_service.in_place(caller.address)
    if task is None or task.state not in _STEERED or await services.task_service.open_questions(place=caller.address):
        return None
    return task


def looks_like_a_code(text: str) -> bool:
    """Return whether the text is a single word with a digit, or digits in groups, like codes and most passwords."""
    return _CODE.fullmatch(text.strip()) is not None


async def _secret(
    text: str, caller: Caller, services: Services, task: Task | None, written: float
) -> Answer | MaybeSecret | None:
    """Return what a text is if it may be a code or password for another question, open or closed; None if it is none.

    People who are asked for a code in a group often send it in private. A text that looks like a code is taken as the
    answer if the question for it is the only open question of the caller. Any other text may still be a password, while
    the caller is asked for a secret. A text to a task, or in a program's conversation (which has one subject), counts
    only if it looks like a code, and is never taken as the answer.
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
    """Return the open questions for a secret (a code or password) about the caller's own tasks. With `anybody`, also
    those about other people's tasks that the caller may answer.
    """
    found = []
    for one in await services.task_service.open_questions():
        if one.question.kind is not QuestionKind.SECRET or (task := await services.task_service.get(one.task)) is None:
            continue
        may = verdict(caller, services.policy, Right.USE, owner=task.person, phone=task.phone).allowed
        if services.policy.same(task.person, caller.person) or (anybody and may):
            found.append(one)
    return found


async def _closed_secret(caller: Caller, services: Services, written: float) -> OpenQuestion | None:
    """Return the latest recently closed question for a secret that was asked here or, in a private chat, about one of
    the caller's tasks.
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
