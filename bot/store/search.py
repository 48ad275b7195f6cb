"""Finding tasks of before: by words, how they stand, phone and person, a page at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.domain.address import Person
from bot.domain.task import Task
from bot.store.database import Database
from bot.store.json_columns import json_text
from bot.store.tasks import task_of

WORDS = 10
"""Words of one search; more are not looked for. Without an index 50,000 tasks are read through in 0.2 s."""
CHOICES = 200
"""Phones and people that can be chosen from; those who were there last come first."""

_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """What a task must be; "" is anything. `text` are words of which each occurs in task or summary, or a number.

    `standing` is a state or an outcome, `phone` an id, and a person a platform and the id there. With `accounts` it is
    one of theirs.
    """

    text: str = ""
    standing: str = ""
    phone: str = ""
    platform: str = ""
    person: str = ""
    accounts: Collection[Person] | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to choose from: phones as (id, name), people as (platform, id, name)."""

    phones: Sequence[tuple[str, str]]
    people: Sequence[tuple[str, str, str]]


class TaskSearch:
    """Reads the table of tasks. Parts are found under the task that they are parts of."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, wanted: TaskFilter, limit: int, *, before: str | None = None) -> tuple[Task, ...]:
        """The latest first; with `before`, those accepted earlier than that task."""
        rows = await self._database.fetch(
            "SELECT * FROM tasks WHERE id < ?1 AND parent IS NULL"
            " AND (?2 = '[]' OR CAST(id AS TEXT) = ?3 OR NOT EXISTS (SELECT 1 FROM json_each(?2) AS word"
            "      WHERE instr(folded(text), word.value) = 0 AND instr(folded(summary), word.value) = 0))"
            " AND (?4 = '' OR state = ?4 OR outcome = ?4)"
            " AND (?5 = '' OR phone = ?5 OR EXISTS"
            "      (SELECT 1 FROM tasks AS part WHERE part.parent = tasks.id AND part.phone = ?5))"
            " AND (?6 = '' OR (person_platform = ?6 AND person_id = ?7))"
            " AND (?9 IS NULL OR person_platform || ':' || person_id IN (SELECT value FROM json_each(?9)))"
            " ORDER BY id DESC LIMIT ?8",
            (
                _MAX_ID if before is None else int(before),
                json_text(wanted.text.casefold().split()[:WORDS]),
                wanted.text.strip().removeprefix("#"),
                wanted.standing,
                wanted.phone,
                wanted.platform,
                wanted.person,
                limit,
                _accounts_text(wanted.accounts),
            ),
        )
        return tuple(task_of(row) for row in rows)

    async def choices(self, accounts: Collection[Person] | None = None) -> Choices:
        """Phones and people of all tasks, or of those of these accounts, by the names that they had last."""
        whose = _accounts_text(accounts)
        phones = await self._database.fetch(
            "SELECT phone, phone_name, MAX(id) AS last FROM tasks WHERE phone <> ''"
            " AND (?2 IS NULL OR person_platform || ':' || person_id IN (SELECT value FROM json_each(?2)))"
            " GROUP BY phone ORDER BY last DESC LIMIT ?1",
            (CHOICES, whose),
        )
        people = await self._database.fetch(
            "SELECT person_platform, person_id, person_name, MAX(id) AS last FROM tasks WHERE parent IS NULL"
            " AND (?2 IS NULL OR person_platform || ':' || person_id IN (SELECT value FROM json_each(?2)))"
            " GROUP BY person_platform, person_id ORDER BY last DESC LIMIT ?1",
            (CHOICES, whose),
        )
        return Choices(
            [(row["phone"], row["phone_name"]) for row in phones],
            [(row["person_platform"], row["person_id"], row["person_name"]) for row in people],
        )


def _accounts_text(accounts: Collection[Person] | None) -> str | None:
    return None if accounts is None else json_text([f"{account.platform}:{account.id}" for account in accounts])
