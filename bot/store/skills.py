"""The tables of recorded skills: who saved which, drafts that wait for a person's confirmation, and results of their
runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter
from sqlalchemy import bindparam, delete, select, update

from agent.recorded_skills.skill_file import RecordedSkill
from agent.recorded_skills.step_record import PressVerdict
from agent.run import Outcome
from bot.domain.address import Person
from bot.store.codec import Codec, json_text, usage_of
from bot.store.database import (
    JsonField,
    JsonPart,
    Parameters,
    TableAccess,
    Transaction,
    given,
    in_turn,
    insert,
    upsert,
)
from bot.store.tables.tasks import saved_skills, schedules, skill_drafts, skill_names, tasks
from bot.store.waiting import PATIENCE_S

KEEP_SECONDS: Final = 86_400.0
"""How long a draft can be confirmed. Our choice."""
RUNS: Final = 200
"""Number of the latest runs of a skill that its statistics cover."""
NAMES: Final = TypeAdapter(dict[str, str])


@dataclass(frozen=True, slots=True)
class Draft:
    """A skill that was shown to a person who has not confirmed it yet.

    - `task`: Number of the task that it was recorded from.
    - `made`: When it was made, in Unix seconds.
    """

    id: str
    person: Person
    name: str
    task: str
    skill: RecordedSkill
    made: float


@dataclass(frozen=True, slots=True)
class SkillRun:
    """One finished run of a skill. `cost` is None where the model has no price."""

    task: str
    outcome: Outcome
    seconds: float
    tokens: int
    cost: float | None
    arguments: str
    """As JSON."""


@dataclass(frozen=True, slots=True)
class _Saved:
    """A saved skill, with the guard model's verdicts on the buttons that its recorded run pressed."""

    name: str
    person: Person
    task: int
    saved: float
    verdicts: tuple[PressVerdict, ...]


_DRAFT: Final = Codec(Draft, skill_drafts, lean={"skill"})
_SAVED: Final = Codec(_Saved, saved_skills)
_FORGET_DRAFTS: Final = delete(skill_drafts).where(skill_drafts.c.made < bindparam("oldest"))
_ADD_DRAFT: Final = insert(skill_drafts, _DRAFT.columns)
_GET_DRAFT: Final = select(skill_drafts).where(given(skill_drafts.c.id), skill_drafts.c.made >= bindparam("oldest"))
_FORGET_DRAFT: Final = delete(skill_drafts).where(given(skill_drafts.c.id))
_ADD: Final = insert(saved_skills, _SAVED.columns)
_SAVE: Final = _ADD.on_conflict_do_update(
    index_elements=[saved_skills.c.name],
    set_={name: _ADD.excluded[name] for name in ("task", "saved", "verdicts")},
)
_ALL: Final = select(saved_skills)
_GET: Final = _ALL.where(given(saved_skills.c.name))
_IN_LOCALE: Final = (given(skill_names.c.skill), given(skill_names.c.locale))
_NAMES: Final = select(skill_names.c.names).where(*_IN_LOCALE)
_FORGET_NAMES: Final = delete(skill_names).where(*_IN_LOCALE)
_KEEP_NAMES: Final = upsert(skill_names, skill_names.c.keys())
_FORGET: Final = (
    delete(saved_skills).where(given(saved_skills.c.name)),
    delete(skill_names).where(skill_names.c.skill == bindparam("name")),
    update(tasks).where(tasks.c.skill == bindparam("name")).values(skill=""),
)
_RENAME: Final = tuple(
    update(column.table).where(column == bindparam("old")).values({column: bindparam("new")})
    for column in (saved_skills.c.name, tasks.c.skill, skill_names.c.skill)
)
_PLANNED: Final = select(schedules.c.id, schedules.c.draft).where(
    JsonField(JsonPart(schedules.c.draft, "skill"), "name") == bindparam("old")
)
_PLAN: Final = update(schedules).where(given(schedules.c.id)).values(draft=bindparam("draft"))
_RUNS: Final = (
    select(tasks.c.id, tasks.c.outcome, tasks.c.started, tasks.c.ended, tasks.c.usage, tasks.c.arguments)
    .where(
        given(tasks.c.skill),
        tasks.c.skill != "",  # as in the index
        tasks.c.state == "ended",
        tasks.c.parts == 0,
        tasks.c.started.is_not(None),
        tasks.c.outcome.not_in(("cancelled", "declined")),
    )
    .order_by(tasks.c.id.desc())
    .limit(RUNS)
)


class SkillTable(TableAccess):
    """The tables of what the service knows about recorded skills besides their folders."""

    async def add_draft(self, draft: Draft) -> None:
        """Store a draft that is shown to a person, and delete drafts older than `KEEP_SECONDS`."""
        forget_old = (_FORGET_DRAFTS, {"oldest": draft.made - KEEP_SECONDS})
        await self._database.write(in_turn(forget_old, (_ADD_DRAFT, _DRAFT.values(draft))))

    async def draft(self, number: str, *, now: float) -> Draft | None:
        """Return the draft with this id; None if there is none or it is too old."""
        return _DRAFT.first(await self._database.fetch(_GET_DRAFT, {"id": number, "oldest": now - KEEP_SECONDS}))

    async def saved(self, draft: Draft, verdicts: Sequence[PressVerdict], *, now: float) -> None:
        """Record that the draft was confirmed and saved as a skill, and delete the draft.

        `verdicts` are the guard model's verdicts on the buttons that its recorded run pressed.
        """
        saved = _Saved(draft.name, draft.person, int(draft.task), now, tuple(verdicts))
        await self._database.write(in_turn((_FORGET_DRAFT, {"id": draft.id}), (_SAVE, _SAVED.values(saved))))

    async def owner(self, name: str) -> Person | None:
        """Return the person who first saved this skill; None if it was not saved here."""
        saved = _SAVED.first(await self._database.fetch(_GET, {"name": name}))
        return None if saved is None else Person(saved.person.platform, saved.person.id)

    async def made_of(self, name: str) -> int:
        """Return the number of the task from which the skill's current version was saved; 0 if it was not saved
        here.
        """
        saved = _SAVED.first(await self._database.fetch(_GET, {"name": name}))
        return 0 if saved is None else saved.task

    async def verdicts(self, name: str = "") -> tuple[PressVerdict, ...]:
        """Return the guard model's verdicts on the recorded button presses of one skill saved here, or of all if
        `name` is "".
        """
        rows = await (self._database.fetch(_GET, {"name": name}) if name else self._database.fetch(_ALL))
        return tuple(each for saved in _SAVED.read_all(rows) for each in saved.verdicts)

    async def names(self, skill: str, locale: str) -> dict[str, str]:
        """Return the learned labels of this skill's elements in this locale; empty if there are none.

        They map a casefolded recorded label to the label on phones with this locale.
        """
        rows = await self._database.fetch(_NAMES, {"skill": skill, "locale": locale}, patience=PATIENCE_S)
        return NAMES.validate_json(rows[0]["names"]) if rows else {}

    async def keep_names(self, skill: str, locale: str, names: Mapping[str, str]) -> None:
        """Replace the learned labels of this skill's elements in this locale; an empty mapping deletes them.

        `names` maps a casefolded recorded label to the label on phones with this locale.
        """
        values: Parameters = {"skill": skill, "locale": locale, "names": NAMES.dump_json(dict(names)).decode()}
        await self._database.execute(_KEEP_NAMES if names else _FORGET_NAMES, values, patience=PATIENCE_S)

    async def renamed(self, old: str, new: str) -> None:
        """Rename a skill in all tables, including its earlier runs and the schedules that use it.

        Data of a former skill with the new name, whose folder was deleted, is deleted first.
        """

        async def work(transaction: Transaction) -> None:
            await _forget(transaction, new)
            for statement in _RENAME:
                await transaction.fetch(statement, {"old": old, "new": new})
            for row in await transaction.fetch(_PLANNED, {"old": old}):
                draft = json.loads(row["draft"])
                draft["skill"]["name"] = new
                await transaction.fetch(_PLAN, {"id": row["id"], "draft": json_text(draft)})

        await self._database.write(work)

    async def removed(self, name: str) -> None:
        """Delete the data of a deleted skill, so that another skill with its name starts fresh."""
        await self._database.write(lambda transaction: _forget(transaction, name))

    async def runs(self, name: str) -> tuple[SkillRun, ...]:
        """Return the latest `RUNS` finished runs of a skill, the latest first, without those that a person cancelled
        or declined.
        """
        rows = await self._database.fetch(_RUNS, {"skill": name})
        found = []
        for row in rows:
            usage = usage_of(row["usage"])
            seconds = float(row["ended"] - row["started"])
            outcome = Outcome(row["outcome"])
            found.append(SkillRun(str(row["id"]), outcome, seconds, usage.tokens, usage.cost, row["arguments"]))
        return tuple(found)


async def _forget(transaction: Transaction, name: str) -> None:
    for statement in _FORGET:
        await transaction.fetch(statement, {"name": name})
