"""Texts that may be a code or password in the wrong place: no task, no word to one, and nothing that is kept."""

from __future__ import annotations

import re

from agent.questions import QuestionKind
from bot.application.access import verdict
from bot.application.services import Services
from bot.cards.formatting import title_of
from bot.cards.question import closed_line
from bot.commands.answers import cleared, give_answer, own
from bot.commands.request import Request, plain
from bot.domain.outgoing import Reply
from bot.domain.right import Right
from bot.domain.task import OpenQuestion
from bot.texts import say

STILL_CODES = 3600.0
"""Seconds after the time of a question for a secret in which a word like a code is taken for a late answer; ours."""

_CODE = re.compile(r"(?=\S*\d)\S{3,64}|\d[\d -]{2,30}\d")
"""One word with a digit, or digits in groups: codes, PINs and most passwords. A task is more than one word."""


async def stray_code(request: Request, services: Services, text: str) -> Reply | None:
    """What is said to a text in a private chat while a question for a secret is open elsewhere, None when none is.

    Whoever is asked for a code tells it rather in private than in a group. It is taken when nothing else can be meant.
    Any other text may be a password of several words.
    """
    looks_so = looks_like_a_code(text)
    asked = await asked_elsewhere(request, services, anybody=looks_so)
    if not asked:
        return None
    everything = [one for one in await services.task_service.open_questions() if await own(request, services, one)]
    if looks_so and len(asked) == 1 and everything == asked:
        return await give_answer(request, services, asked[0], text)
    return await _where(request, services, asked, delete=looks_so)


async def misplaced_code(request: Request, services: Services, text: str) -> Reply | None:
    """What is said when this looks like a code, and a question for one is open, but not for the task it is told to."""
    if not looks_like_a_code(text):
        return None
    asked = await asked_elsewhere(request, services, anybody=True)
    return await _where(request, services, asked, delete=True) if asked else None


async def asked_elsewhere(request: Request, services: Services, *, anybody: bool) -> list[OpenQuestion]:
    """The open questions for a secret about this person's tasks; with `anybody`, all that they may answer."""
    found = []
    for one in await services.task_service.open_questions():
        task = await services.task_service.get(one.task)
        if one.question.kind is not QuestionKind.SECRET or task is None:
            continue
        may = verdict(request, services.policy, Right.USE, owner=task.person, phone=task.phone).allowed
        if services.policy.same(task.person, request.person) or (anybody and may):
            found.append(one)
    return found


async def late_code(request: Request, services: Services, text: str) -> Reply | None:
    """What is said when this looks like the answer to a question for a secret that is closed, None otherwise.

    It is a secret all the same: it is neither kept nor offered as a task nor told to one.
    """
    if not looks_like_a_code(text):
        return None
    written = request.written or services.clock()
    for found in await services.store.questions.closed(
        QuestionKind.SECRET, asked_by=written, ends_from=written - STILL_CODES
    ):
        if not await _could_be_answered(request, services, found):
            continue
        words = f"{closed_line(found)} {say('answer.closed_secret')}"
        return plain(words if request.message is None else f"{words} {await cleared(request.message, services)}")
    return None


def looks_like_a_code(text: str) -> bool:
    """Whether a text is one word with a digit, or digits in groups, as codes and most passwords are."""
    return _CODE.fullmatch(text.strip()) is not None


async def _where(request: Request, services: Services, asked: list[OpenQuestion], *, delete: bool) -> Reply:
    """Where a secret is asked for. The tasks of others are not named."""
    tasks = [await services.task_service.get(one.task) for one in asked if await own(request, services, one)]
    number = next((task.called for task in tasks if task is not None), "12")
    how = {"answer": f"{request.lead}answer --task {number} …", "do": f"{request.lead}do …"}
    lines = [say("answer.elsewhere", **how), *(title_of(task) for task in tasks if task is not None)]
    if request.message is not None:
        lines.append(await cleared(request.message, services) if delete else say("answer.elsewhere_stays"))
    return plain("\n".join(lines))


async def _could_be_answered(request: Request, services: Services, asked: OpenQuestion) -> bool:
    """Whether it was asked here or, for a private chat, about a task of this person."""
    task = await services.task_service.get(asked.task)
    if task is None:
        return False
    whole = await services.task_service.get(task.parent) if task.parent else task
    here = whole is not None and (whole.place or whole.origin) == request.address
    return here or (request.place.private and services.policy.same(task.person, request.person))
