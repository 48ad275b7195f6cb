"""What takes effect when a backup is restored: people's rights, settings, and schedules and tasks that would run."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bot.domain.address import Person
from bot.domain.right import Grant, TierGift
from bot.store.connection import Row
from bot.store.people import GIFT, GRANT, LINKED


@dataclass(frozen=True, slots=True)
class Waiting:
    """A schedule or unfinished task in a backup.

    - `person`: Whom it works for.
    - `when`: When a schedule is due, in the words in which it was written; "" for a task.
    - `text`: What is to be done.
    """

    id: str
    person: Person
    when: str
    text: str


@dataclass(frozen=True, slots=True)
class Brought:
    """Everything in a backed-up store that has an effect once a service runs with it.

    - `links`: Groups of accounts, each group being one person's.
    - `moves`: Chats whose id changed, as (platform, old id, new id); permissions for the old id also hold for the new
      one.
    - `settings`: Settings changed by admins, as (name, value).
    """

    people: tuple[Person, ...]
    """Who has given tasks."""
    grants: tuple[Grant, ...]
    links: tuple[tuple[Person, ...], ...]
    moves: tuple[tuple[str, str, str], ...]
    tiers: tuple[TierGift, ...]
    settings: tuple[tuple[str, str], ...]
    schedules: tuple[Waiting, ...]
    tasks: tuple[Waiting, ...]
    """Those that have not ended."""


def brought(store: Path) -> Brought:
    """Read these contents from a store's database file of any schema version. Blocks. Raises sqlite3.Error.

    The file must have been checked before (`bot.store.backup.looked_through`).
    """
    with closing(sqlite3.connect(store)) as database:
        database.row_factory = sqlite3.Row

        def rows(table: str, end: str = "") -> list[Row]:
            return database.execute(f"SELECT * FROM {table} {end}").fetchall()  # noqa: S608 - the names are ours

        linked: dict[int, list[Person]] = {}
        for row in rows("links", "ORDER BY person, platform"):
            linked.setdefault(row["person"], []).append(LINKED.read(row))
        tasks = rows("tasks", "ORDER BY id")
        going = [row for row in tasks if row["state"] != "ended" and row["parent"] is None]
        return Brought(
            people=tuple(dict.fromkeys(map(_person, tasks))),
            grants=GRANT.read_all(rows("grants")),
            links=tuple(map(tuple, linked.values())),
            moves=tuple((row["platform"], row["old"], row["new"]) for row in rows("moved_chats")),
            tiers=GIFT.read_all(rows("person_tiers")),
            settings=tuple((row["name"], row["value"]) for row in rows("settings")),
            schedules=tuple(
                Waiting(str(row["id"]), _person(row), row["words"], json.loads(row["draft"])["text"])
                for row in rows("schedules", "ORDER BY id")
            ),
            tasks=tuple(Waiting(str(row["id"]), _person(row), "", row["text"]) for row in going),
        )


def _person(row: Row) -> Person:
    return Person(row["person_platform"], row["person_id"], row["person_name"])
