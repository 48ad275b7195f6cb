"""The table of tasks, and of the chat events (messages) that they were created from."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy import Text, and_, bindparam, case, delete, func, or_, select, update

from agent.run import NeedsModel
from bot.domain.address import Address, Person
from bot.domain.task import Task, TaskState, UnknownTask
from bot.domain.task_request import Origin, SkillCall, TaskRequest
from bot.domain.watch import Verdict
from bot.store.codec import Codec, address_beginning, address_of, address_text, json_text, row_number
from bot.store.database import (
    Parameters,
    Row,
    Source,
    Statement,
    TableAccess,
    Transaction,
    Value,
    accounts_text,
    given,
    insert,
    is_listed,
    is_of,
)
from bot.store.tables.tasks import events, tasks

_MAX_ID = 2**63 - 1
_REQUESTS: Final = TypeAdapter(TaskRequest)
_COLUMNS: Final[Mapping[str, bool | set[str]]] = {
    "text": True,
    "person": True,
    "skill": True,
    "origin": {"address", "anchor"},
}
"""What of a request has columns of its own."""


def _request_of(row: Row) -> TaskRequest:
    kept: dict[str, Any] = json.loads(row["request"])
    kept["text"] = row["text"]
    kept["person"] = Person(row["person_platform"], row["person_id"], row["person_name"], row["person_language"])
    kept["origin"] |= {"address": address_of(row["origin"]), "anchor": row["anchor"]}
    kept["skill"] = SkillCall(row["skill"], json.loads(row["arguments"])) if row["skill"] else None
    return _REQUESTS.validate_python(kept)


_TASK: Final = Codec(
    Task,
    tasks,
    own={
        "request": _request_of,
        "needs_model": lambda row: NeedsModel.model_validate_json(row["needs_model"]) if row["needs_model"] else None,
        "verdict": lambda row: Verdict.model_validate_json(row["verdict"]) if row["verdict"] else None,
    },
)
_ADD: Final = insert(
    tasks,
    (
        "text",
        "person_platform",
        "person_id",
        "person_name",
        "person_language",
        "origin",
        "anchor",
        "phone",
        "skill",
        "arguments",
        "schedule",
        "request",
        "parent",
        "parts",
        "state",
        "created",
        "changed",
        "phone_name",
        "usage",
    ),
).returning(tasks)
_THAT: Final = given(tasks.c.id)
_GET: Final = select(tasks).where(_THAT)
_WORKED_WITH: Final = update(tasks).where(_THAT).values(model=bindparam("model"))
_FOLLOWS: Final = update(tasks).where(_THAT).values(skill=bindparam("skill"), arguments=bindparam("arguments"))
_WAITS: Final = update(tasks).where(_THAT).values(waiting=func.coalesce(tasks.c.waiting, bindparam("now")))
_WAITING: Final = select(tasks.c.waiting).where(_THAT)
_OF_EVENT: Final = select(tasks).join(events).where(given(events.c.source), given(events.c.event))
_REMEMBER_EVENT: Final = insert(events, events.c.keys())
_FORGET_EVENTS: Final = delete(events).where(events.c.seen < bindparam("before"))
_SAVED: Final = sorted(({*_TASK.columns} - {"id", "created", "parent", "parts"}) | {"needs_model", "verdict"})
"""The columns that change."""
_SAVE: Final = (
    update(tasks)
    .where(_THAT)
    .values({column: bindparam(column) for column in _SAVED})
    .values(changed=case((tasks.c.state == bindparam("state"), tasks.c.changed), else_=bindparam("now")))
)
_PARTS: Final = select(tasks).where(given(tasks.c.parent)).order_by(tasks.c.id)
_TOLD: Final = select(tasks.c.told).where(_THAT)
_TELL: Final = update(tasks).where(_THAT).values(told=bindparam("told"))

_IS_LIVE: Final = tasks.c.state != "ended"
# By the sum: otherwise SQLite saves itself the sorting and reads all tasks that there ever were.
_ACTIVE: Final = select(tasks).where(_IS_LIVE).order_by(tasks.c.id + 0)
_THESE: Final = is_listed(tasks.c.id, "tasks")
_AROUND: Final = (
    select(tasks)
    .where(or_(_THESE, is_listed(tasks.c.parent, "tasks"), tasks.c.id.in_(select(tasks.c.parent).where(_THESE))))
    .order_by(tasks.c.id)
)
_WORKING_ON: Final = _ACTIVE.where(tasks.c.state != "queued", given(tasks.c.phone)).limit(1)
_INTERRUPTED: Final = _ACTIVE.where(
    tasks.c.state == "interrupted", tasks.c.parts == 0, tasks.c.changed <= bindparam("time")
)
_RECENT: Final = (
    select(tasks)
    .where(tasks.c.id < bindparam("before"), tasks.c.parent.is_(None))
    .order_by(tasks.c.id.desc())
    .limit(bindparam("limit"))
)
_RECENT_OF: Final = _RECENT.where(is_of(tasks, "accounts"))

_HERE: Final = bindparam("here", type_=Text())
_IS_HOME: Final = or_(tasks.c.place == _HERE, and_(tasks.c.place.is_(None), tasks.c.origin == _HERE))
_WHOLE: Final = select(tasks).where(tasks.c.parent.is_(None)).limit(1)
_IN_PLACE: Final = _WHOLE.where(_IS_HOME).order_by(_IS_LIVE.desc(), tasks.c.id.desc())
_MADE_FOR_TASKS: Final = select(tasks.c.id).where(tasks.c.place == _HERE, tasks.c.origin != _HERE).limit(1)
_MEANT: Final = (
    _IS_LIVE.desc(),
    tasks.c.schedule != "",
    or_(tasks.c.origin == _HERE, tasks.c.place.is_not_distinct_from(_HERE)).desc(),
    tasks.c.id.desc(),
)
_CHAT: Final = bindparam("chat", type_=Text())
_IS_IN_CHAT: Final = func.substr(tasks.c.origin, 1, func.length(_CHAT)) == _CHAT
_LATEST_FOR: Final = _WHOLE.where(is_of(tasks, "accounts"), _IS_IN_CHAT).order_by(*_MEANT)
_LATEST_AT_HOME: Final = _WHOLE.where(or_(_IS_HOME, is_of(tasks, "accounts")), _IS_IN_CHAT).order_by(
    (func.coalesce(tasks.c.place, tasks.c.origin) == _HERE).desc(), *_MEANT
)


class Tasks(TableAccess):
    """The table of tasks. Methods with a `transaction` argument take effect when that is committed."""

    async def add(
        self,
        transaction: Transaction,
        request: TaskRequest,
        *,
        now: float,
        parent: str | None = None,
        parts: int = 0,
    ) -> Task:
        """Add a queued task for the request and return it.

        `parent` is the number of the task on several phones of which this is one phone's part; `parts` is how many
        parts it has itself.
        """
        person, skill, phones = request.person, request.skill or SkillCall(""), request.phones
        values: Parameters = {
            "text": request.text,
            "person_platform": person.platform,
            "person_id": person.id,
            "person_name": person.name,
            "person_language": person.language,
            "origin": address_text(request.origin.address),
            "anchor": request.origin.anchor,
            "phone": phones[0].id if len(phones) == 1 else "",
            "skill": skill.name,
            "arguments": json_text(dict(skill.arguments)),
            "schedule": "" if request.watch is None else request.watch.schedule,
            "request": _request_text(request),
            "parent": None if parent is None else int(parent),
            "parts": parts,
            "state": TaskState.QUEUED.value,
            "created": now,
            "changed": now,
            "phone_name": "" if parent is None else phones[0].name,
            "usage": "{}",
        }
        return task_of((await transaction.fetch(_ADD, values))[0])

    async def worked_with(self, transaction: Transaction, task: str, model: str) -> None:
        """Store the name of the model that performs the task."""
        await transaction.fetch(_WORKED_WITH, {"id": int(task), "model": model})

    async def follows(self, transaction: Transaction, task: str, skill: str, arguments: Mapping[str, str]) -> None:
        """Store that the task follows this skill with these arguments."""
        values: Parameters = {"id": int(task), "skill": skill, "arguments": json_text(dict(arguments))}
        await transaction.fetch(_FOLLOWS, values)

    async def waits(self, transaction: Transaction, task: str, *, now: float) -> None:
        """Store when people were first told that the task waits for a phone; an earlier time is kept."""
        await transaction.fetch(_WAITS, {"id": int(task), "now": now})

    async def waiting_since(self, transaction: Transaction, task: str) -> float | None:
        """Return when people were first told that the task waits for a phone, in Unix seconds; None if they were
        not.
        """
        rows = await transaction.fetch(_WAITING, {"id": int(task)})
        return None if rows[0]["waiting"] is None else float(rows[0]["waiting"])

    async def of_event(self, source: Source | None, origin: Origin) -> Task | None:
        """Return the task that was created from this origin's event (message id); None if the event is new."""
        values: Parameters = {"source": _source(origin), "event": origin.event}
        rows = await (source or self._database).fetch(_OF_EVENT, values)
        return task_of(rows[0]) if rows else None

    async def remember_event(self, transaction: Transaction, origin: Origin, task: str, *, now: float) -> None:
        """Store that the task was created from this origin's event (message id)."""
        values: Parameters = {"source": _source(origin), "event": origin.event, "task": int(task), "seen": now}
        await transaction.fetch(_REMEMBER_EVENT, values)

    async def forget_events(self, *, before: float) -> None:
        """Delete stored events older than the Unix time `before`: no platform repeats an event that late."""
        await self._database.execute(_FORGET_EVENTS, {"before": before})

    async def save(self, transaction: Transaction, task: Task, *, now: float) -> None:
        """Store the changeable fields of a task (state, outcome, phone, usage and the like). If its state differs,
        `now` (Unix seconds) is stored as the time of the change.
        """
        values: Parameters = _TASK.values(task) | {
            "now": now,
            "needs_model": "" if task.needs_model is None else task.needs_model.model_dump_json(),
            "verdict": "" if task.verdict is None else task.verdict.model_dump_json(),
        }
        await transaction.fetch(_SAVE, values)

    async def parts(self, task: str, source: Source | None = None) -> tuple[Task, ...]:
        """Return the parts of a task on several phones, in the order in which the phones were named; empty for other
        tasks.
        """
        return tuple(map(task_of, await (source or self._database).fetch(_PARTS, {"parent": int(task)})))

    async def steps_shown(self, task: str) -> int:
        """Return how many of the task's steps were shown as messages."""
        rows = await self._database.fetch(_TOLD, {"id": int(task)})
        return int(rows[0]["told"]) if rows else 0

    async def set_steps_shown(self, task: str, steps: int) -> None:
        """Store how many of the task's steps were shown as messages."""
        await self._database.execute(_TELL, {"id": int(task), "told": steps})

    async def get(self, task: str, source: Source | None = None) -> Task | None:
        """Return the task with this number; None if there is none."""
        number = row_number(task)
        if number is None:
            return None
        rows = await (source or self._database).fetch(_GET, {"id": number})
        return task_of(rows[0]) if rows else None

    async def known(self, task: str, source: Source | None = None) -> Task:
        """Return the task with this number. Raises UnknownTask."""
        if (found := await self.get(task, source)) is None:
            raise UnknownTask(task)
        return found

    async def around(self, tasks: Collection[str]) -> tuple[Task, ...]:
        """Return these tasks, their parts, and the tasks that they are parts of, ordered by number."""
        return await self._all(_AROUND, tasks=json_text(sorted(tasks)))

    async def active(self) -> tuple[Task, ...]:
        """Return all unfinished tasks in order of acceptance; parts come after the task that they belong to."""
        return await self._all(_ACTIVE)

    async def working_on(self, phone: str) -> Task | None:
        """Return the oldest unfinished task that is no longer queued and whose phone (the last used, or else the wished
        one) has this id; None if there is none. The task need not be using the phone now.
        """
        return next(iter(await self._all(_WORKING_ON, phone=phone)), None)

    async def files_in_use(self) -> frozenset[str]:
        """Return the references of the files that belong to unfinished tasks."""
        return frozenset(file.content for task in await self.active() for file in task.request.files)

    async def interrupted_before(self, time: float) -> tuple[Task, ...]:
        """Return the tasks that were interrupted at or before the Unix time `time` and still are; of tasks on several
        phones, their parts.
        """
        return await self._all(_INTERRUPTED, time=time)

    async def recent(
        self, limit: int, *, before: str | None = None, accounts: Collection[Person] | None = None
    ) -> tuple[Task, ...]:
        """Return at most `limit` tasks, the latest first. The parts of tasks on several phones are left out.

        With `before`, a task's number, only earlier ones; with `accounts`, only tasks of these accounts.
        """
        earlier = _MAX_ID if before is None else int(before)
        if accounts is None:
            return await self._all(_RECENT, before=earlier, limit=limit)
        return await self._all(_RECENT_OF, before=earlier, limit=limit, accounts=accounts_text(accounts))

    async def in_place(self, address: Address) -> Task | None:
        """Return the task whose messages go to this place: the latest unfinished one, else the latest; None if there
        is none. Of a task on several phones it is the whole task, never a part.
        """
        return next(iter(await self._all(_IN_PLACE, here=address_text(address))), None)

    async def made_for_tasks(self, address: Address) -> bool:
        """Return whether the place is a thread that was opened for a task."""
        if not address.thread:
            return False
        return bool(await self._database.fetch(_MADE_FOR_TASKS, {"here": address_text(address)}))

    async def latest_for(self, accounts: Collection[Person], address: Address, *, elsewhere: bool) -> Task | None:
        """Return the task that a person means who writes here without naming one; None if they have none. Without
        `elsewhere`, only tasks that were asked for in this chat or its threads count.

        In a thread that was opened for a task, tasks of this thread come first, whoever gave them. Among the person's
        tasks the order is: unfinished ones before ended ones; other tasks before single readings of watches (schedules
        that read one value), which are not shown to anybody; tasks from this place before others; the latest first.
        """
        statement = _LATEST_AT_HOME if await self.made_for_tasks(address) else _LATEST_FOR
        chat = "" if elsewhere else address_beginning(address.platform, address.account, address.chat, address.guild)
        here, wanted = address_text(address), accounts_text(accounts)
        return next(iter(await self._all(statement, here=here, accounts=wanted, chat=chat)), None)

    async def _all(self, statement: Statement, **values: Value) -> tuple[Task, ...]:
        return tuple(map(task_of, await self._database.fetch(statement, values)))


def _source(origin: Origin) -> str:
    """Where an event's id is unique: Telegram counts messages per chat."""
    return json_text([origin.address.platform, origin.address.account, origin.address.chat])


def _request_text(request: TaskRequest) -> str:
    """What of a request has no columns of its own."""
    return _REQUESTS.dump_json(request, exclude=_COLUMNS, exclude_defaults=True).decode()


def task_of(row: Row) -> Task:
    """Return the task stored in a row of the table."""
    return _TASK.read(row)
