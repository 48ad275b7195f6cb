"""The tasks, and the events that they came from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from agent.outcome import Outcome
from bot.domain.address import Address, Person
from bot.domain.task import Task, TaskState
from bot.domain.task_request import Origin, SkillCall, TaskRequest
from bot.domain.watch import Verdict
from bot.store.connection import Source, Transaction
from bot.store.database import Database
from bot.store.json_columns import (
    address_of,
    address_text,
    json_text,
    row_number,
    sources_of,
    sources_text,
    todos_of,
    todos_text,
    usage_of,
    usage_text,
)

_MAX_ID = 2**63 - 1
_REQUESTS: Final = TypeAdapter(TaskRequest)
_COLUMNS: Final[Mapping[str, bool | set[str]]] = {
    "text": True,
    "person": True,
    "skill": True,
    "origin": {"address", "anchor"},
}
"""What of a request has columns of its own."""


class Tasks:
    """The table of tasks. What takes a transaction becomes true with the rest of that transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        transaction: Transaction,
        request: TaskRequest,
        *,
        now: float,
        parent: str | None = None,
        parts: int = 0,
    ) -> Task:
        """A new task, queued, with the next number; `parent` is the task of which it is one phone's part, `parts` how
        many parts it has itself.
        """
        person, skill, phones = request.person, request.skill or SkillCall(""), request.phones
        rows = await transaction.fetch(
            "INSERT INTO tasks (text, person_platform, person_id, person_name, person_language, origin, anchor, phone,"
            " skill, arguments, schedule, request, parent, parts, phone_name, usage, created, changed, state) VALUES"
            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, 'queued') RETURNING *",
            (
                request.text,
                person.platform,
                person.id,
                person.name,
                person.language,
                address_text(request.origin.address),
                request.origin.anchor,
                phones[0].id if len(phones) == 1 else "",
                skill.name,
                json_text(dict(skill.arguments)),
                "" if request.watch is None else request.watch.schedule,
                _request_text(request),
                None if parent is None else int(parent),
                parts,
                "" if parent is None else phones[0].name,
                now,
                now,
            ),
        )
        return task_of(rows[0])

    async def worked_with(self, transaction: Transaction, task: str, model: str) -> None:
        """Keep the name of the model that was set for acting."""
        await transaction.fetch("UPDATE tasks SET model = ? WHERE id = ?", (model, int(task)))

    async def follows(self, transaction: Transaction, task: str, skill: str, arguments: Mapping[str, str]) -> None:
        """The task follows a skill from now on."""
        await transaction.fetch(
            "UPDATE tasks SET skill = ?, arguments = ? WHERE id = ?", (skill, json_text(dict(arguments)), int(task))
        )

    async def waits(self, transaction: Transaction, task: str, *, now: float) -> None:
        """Keep that people were told that the task waits for a phone; the first time counts, also over a restart."""
        await transaction.fetch("UPDATE tasks SET waiting = COALESCE(waiting, ?) WHERE id = ?", (now, int(task)))

    async def waiting_since(self, transaction: Transaction, task: str) -> float | None:
        """When it was first told that the task waits for a phone, None when it never was."""
        rows = await transaction.fetch("SELECT waiting FROM tasks WHERE id = ?", (int(task),))
        return None if rows[0]["waiting"] is None else float(rows[0]["waiting"])

    async def of_event(self, source: Source | None, origin: Origin) -> Task | None:
        """The task that was accepted from the same event, None when it is new."""
        rows = await (source or self._database).fetch(
            "SELECT tasks.* FROM tasks JOIN events ON events.task = tasks.id WHERE source = ? AND event = ?",
            (_source(origin), origin.event),
        )
        return task_of(rows[0]) if rows else None

    async def remember_event(self, transaction: Transaction, origin: Origin, task: str, *, now: float) -> None:
        """From now on the event stands for this task."""
        await transaction.fetch(
            "INSERT INTO events (source, event, task, seen) VALUES (?, ?, ?, ?)",
            (_source(origin), origin.event, int(task), now),
        )

    async def forget_events(self, *, before: float) -> None:
        """Forget events seen before that time: no platform tells them again so late."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM events WHERE seen < ?", (before,))

        await self._database.write(work)

    async def save(self, transaction: Transaction, task: Task, *, now: float) -> None:
        """Keep what may change in a task; `now` counts as the time of the change when its state is another."""
        await transaction.fetch(
            "UPDATE tasks SET changed = CASE WHEN state = ? THEN changed ELSE ? END, state = ?, place = ?, outcome = ?,"
            " summary = ?, data = ?, phone = ?, phone_name = ?, steps = ?, usage = ?, started = ?, ended = ?,"
            " frame = ?, todos = ?, sources = ?, verdict = ? WHERE id = ?",
            (
                task.state.value,
                now,
                task.state.value,
                None if task.place is None else address_text(task.place),
                None if task.outcome is None else task.outcome.value,
                task.summary,
                task.data,
                task.phone,
                task.phone_name,
                task.steps,
                usage_text(task.usage),
                task.started,
                task.ended,
                task.frame,
                todos_text(task.todos),
                sources_text(task.sources),
                "" if task.verdict is None else task.verdict.model_dump_json(),
                int(task.id),
            ),
        )

    async def parts(self, task: str, source: Source | None = None) -> tuple[Task, ...]:
        """The parts of a task for several phones, in the order in which these were named; none for any other task."""
        rows = await (source or self._database).fetch("SELECT * FROM tasks WHERE parent = ? ORDER BY id", (int(task),))
        return tuple(task_of(row) for row in rows)

    async def told(self, task: str) -> int:
        """How many of the task's steps were shown as messages."""
        rows = await self._database.fetch("SELECT told FROM tasks WHERE id = ?", (int(task),))
        return int(rows[0]["told"]) if rows else 0

    async def tell(self, task: str, steps: int) -> None:
        """So many of its steps were shown as messages by now."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("UPDATE tasks SET told = ? WHERE id = ?", (steps, int(task)))

        await self._database.write(work)

    async def get(self, task: str, source: Source | None = None) -> Task | None:
        """The task with this number, None when there is none."""
        number = row_number(task)
        if number is None:
            return None
        rows = await (source or self._database).fetch("SELECT * FROM tasks WHERE id = ?", (number,))
        return task_of(rows[0]) if rows else None

    async def active(self) -> tuple[Task, ...]:
        """All that have not ended, in order of acceptance; parts stand behind the task that they are parts of."""
        # +id: otherwise SQLite saves itself the sorting and reads all tasks that there ever were.
        return await self._all("SELECT * FROM tasks WHERE state <> 'ended' ORDER BY +id")

    async def working_on(self, phone: str) -> Task | None:
        """The task that has begun and has this phone, None when there is none."""
        sql = "SELECT * FROM tasks WHERE state <> 'ended' AND state <> 'queued' AND phone = ? ORDER BY +id LIMIT 1"
        return next(iter(await self._all(sql, phone)), None)

    async def files_in_use(self) -> frozenset[str]:
        """References of the files that came with tasks that have not ended."""
        return frozenset(file.content for task in await self.active() for file in task.request.files)

    async def interrupted_before(self, time: float) -> tuple[Task, ...]:
        """The tasks that have been interrupted since before that time; of a task with parts, its parts."""
        return await self._all(
            # Both conditions: an index of a part is used when the part is named as in the index.
            "SELECT * FROM tasks WHERE state <> 'ended' AND state = 'interrupted' AND parts = 0 AND changed <= ?"
            " ORDER BY +id",
            time,
        )

    async def recent(
        self, limit: int, *, before: str | None = None, accounts: Collection[Person] | None = None
    ) -> tuple[Task, ...]:
        """The latest first; with `before`, those accepted earlier than that task; with `accounts`, only theirs.

        Parts are not told apart from the task that they are parts of.
        """
        return await self._all(
            "SELECT * FROM tasks WHERE id < ?1 AND parent IS NULL"
            " AND (?2 IS NULL OR (person_platform, person_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2)))"
            " ORDER BY id DESC LIMIT ?3",
            int(before) if before is not None else _MAX_ID,
            None if accounts is None else _accounts_text(accounts),
            limit,
        )

    async def in_place(self, address: Address) -> Task | None:
        """The task whose messages go there, or will: the latest that lives, else the latest."""
        found = await self._all(
            "SELECT * FROM tasks WHERE place = ?1 OR (place IS NULL AND origin = ?1)"
            " ORDER BY state <> 'ended' DESC, id DESC LIMIT 1",
            address_text(address),
        )
        return found[0] if found else None

    async def made_for_tasks(self, address: Address) -> bool:
        """Whether the place is a thread that was opened for a task; later ones that were given in it are at home there
        too.
        """
        if not address.thread:
            return False
        return bool(
            await self._database.fetch(
                "SELECT 1 FROM tasks WHERE place = ?1 AND origin <> ?1 LIMIT 1", (address_text(address),)
            )
        )

    async def latest_for(self, accounts: Collection[Person], address: Address) -> Task | None:
        """The task that somebody means who names none: one whose own place this is, else one of the person's; those
        that live before those that ended, those that were given before the readings of watches, which nobody is shown,
        those from here before those from elsewhere, the latest first.
        """
        here = address_text(address)
        at_home = await self.made_for_tasks(address)
        found = await self._all(
            "SELECT * FROM tasks"
            " WHERE parent IS NULL AND ((?3 AND (place = ?1 OR (place IS NULL AND origin = ?1)))"
            " OR (person_platform, person_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2)))"
            " ORDER BY (?3 AND COALESCE(place, origin) = ?1) DESC, state <> 'ended' DESC,"
            " schedule <> '', (origin = ?1 OR place IS ?1) DESC, id DESC LIMIT 1",
            here,
            _accounts_text(accounts),
            at_home,
        )
        return found[0] if found else None

    async def _all(self, sql: str, *values: str | float | None) -> tuple[Task, ...]:
        return tuple(task_of(row) for row in await self._database.fetch(sql, values))


def _accounts_text(accounts: Collection[Person]) -> str:
    return json_text([[account.platform, account.id] for account in accounts])


def _source(origin: Origin) -> str:
    """Where an event's id is unique: Telegram counts messages per chat."""
    return json_text([origin.address.platform, origin.address.account, origin.address.chat])


def _request_text(request: TaskRequest) -> str:
    """What of a request has no columns of its own."""
    return _REQUESTS.dump_json(request, exclude=_COLUMNS, exclude_defaults=True).decode()


def _request_of(row: sqlite3.Row) -> TaskRequest:
    kept: dict[str, Any] = json.loads(row["request"])
    kept["text"] = row["text"]
    kept["person"] = Person(row["person_platform"], row["person_id"], row["person_name"], row["person_language"])
    kept["origin"] |= {"address": address_of(row["origin"]), "anchor": row["anchor"]}
    kept["skill"] = SkillCall(row["skill"], json.loads(row["arguments"])) if row["skill"] else None
    return _REQUESTS.validate_python(kept)


def task_of(row: sqlite3.Row) -> Task:
    """A row of the table as a task."""
    return Task(
        id=str(row["id"]),
        request=_request_of(row),
        place=None if row["place"] is None else address_of(row["place"]),
        state=TaskState(row["state"]),
        outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
        summary=row["summary"],
        data=row["data"],
        phone=row["phone"],
        steps=row["steps"],
        usage=usage_of(row["usage"]),
        created=row["created"],
        started=row["started"],
        ended=row["ended"],
        frame=row["frame"],
        parent="" if row["parent"] is None else str(row["parent"]),
        parts=row["parts"],
        phone_name=row["phone_name"],
        todos=todos_of(row["todos"]),
        sources=sources_of(row["sources"]),
        verdict=Verdict.model_validate_json(row["verdict"]) if row["verdict"] else None,
    )
