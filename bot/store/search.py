"""Searches earlier tasks by words, state, phone and person, a page at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Text, bindparam, cast, exists, func, or_, select

from bot.domain.address import Person
from bot.domain.task import Task
from bot.store.codec import json_text
from bot.store.database import TableAccess, accounts_text, given, is_of, listed
from bot.store.tables.metadata import Number
from bot.store.tables.tasks import tasks
from bot.store.tasks import task_of

WORDS = 10
"""Most words of one search; further ones are ignored. There is no index: 50,000 tasks are read in 0.2 s."""
CHOICES = 200
"""Most phones, and people, that can be chosen from; those with the latest tasks come first."""

_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """The conditions of a search for tasks; "" matches anything.

    - `text`: A task's number, or words that must all occur in the task or its summary.
    - `standing`: A state or an outcome of a task.
    - `phone`: A phone's id.
    - `platform`, `person`: The platform and the id there of the person who gave the task.
    - `accounts`: If given, only tasks of these accounts.
    """

    text: str = ""
    standing: str = ""
    phone: str = ""
    platform: str = ""
    person: str = ""
    accounts: Collection[Person] | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """The values to choose from in a search: phones as (id, name), people as (platform, id, name)."""

    phones: Sequence[tuple[str, str]]
    people: Sequence[tuple[str, str, str]]


_WORD: Final = listed("words")
_PART: Final = tasks.alias("part")
_PEOPLE: Final = bindparam("people", type_=Text())
_IS_THEIRS: Final = or_(_PEOPLE.is_(None), is_of(tasks, "people"))
_PHONE: Final = bindparam("phone", type_=Text())
_STANDING: Final = bindparam("standing", type_=Text())
_PLATFORM: Final = bindparam("person_platform", type_=Text())
_FIND: Final = (
    select(tasks)
    .where(
        tasks.c.id < bindparam("before"),
        tasks.c.parent.is_(None),
        or_(
            cast(tasks.c.id, Text) == bindparam("number"),
            ~exists()
            .select_from(_WORD)
            .where(
                func.instr(func.folded(tasks.c.text), _WORD.c.value) == 0,
                func.instr(func.folded(tasks.c.summary), _WORD.c.value) == 0,
            ),
        ),
        or_(_STANDING == "", tasks.c.state == _STANDING, tasks.c.outcome == _STANDING),
        or_(
            _PHONE == "",
            tasks.c.phone == _PHONE,
            exists().where(_PART.c.parent == tasks.c.id, _PART.c.phone == _PHONE),
        ),
        or_(_PLATFORM == "", given(tasks.c.person_platform) & given(tasks.c.person_id)),
        _IS_THEIRS,
    )
    .order_by(tasks.c.id.desc())
    .limit(bindparam("limit", type_=Number))
)
_PHONES: Final = (
    select(tasks.c.phone, tasks.c.phone_name)
    .where(tasks.c.id.in_(select(func.max(tasks.c.id)).where(tasks.c.phone != "", _IS_THEIRS).group_by(tasks.c.phone)))
    .order_by(tasks.c.id.desc())
    .limit(CHOICES)
)
_PERSONS: Final = (
    select(tasks.c.person_platform, tasks.c.person_id, tasks.c.person_name)
    .where(
        tasks.c.id.in_(
            select(func.max(tasks.c.id))
            .where(tasks.c.parent.is_(None), _IS_THEIRS)
            .group_by(tasks.c.person_platform, tasks.c.person_id)
        )
    )
    .order_by(tasks.c.id.desc())
    .limit(CHOICES)
)


class TaskSearch(TableAccess):
    """Searches the table of tasks. A task on several phones is found as one task, without its parts."""

    async def find(self, wanted: TaskFilter, limit: int, *, before: str | None = None) -> tuple[Task, ...]:
        """Return at most `limit` tasks that match, the latest first; with `before`, a task's number, only earlier
        ones.
        """
        rows = await self._database.fetch(
            _FIND,
            {
                "before": _MAX_ID if before is None else int(before),
                "words": json_text(wanted.text.casefold().split()[:WORDS]),
                "number": wanted.text.strip().removeprefix("#"),
                "standing": wanted.standing,
                "phone": wanted.phone,
                "person_platform": wanted.platform,
                "person_id": wanted.person,
                "people": accounts_text(wanted.accounts),
                "limit": limit,
            },
        )
        return tuple(task_of(row) for row in rows)

    async def choices(self, accounts: Collection[Person] | None = None) -> Choices:
        """Return the phones and people of all tasks, or of the tasks of these accounts, with their latest names; at
        most `CHOICES` of each.
        """
        whose = {"people": accounts_text(accounts)}
        phones = await self._database.fetch(_PHONES, whose)
        people = await self._database.fetch(_PERSONS, whose)
        return Choices([tuple(row) for row in phones], [tuple(row) for row in people])
