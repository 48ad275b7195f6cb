"""Recorded skills: who has saved which, what waits for a person's yes, and what came of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from agent.outcome import Outcome
from agent.recorded_skills.skill_file import RecordedSkill
from agent.recorded_skills.step_record import PressVerdict
from bot.domain.address import Person
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import usage_of

KEEP_SECONDS: Final = 86_400.0
"""How long a draft can be confirmed; ours."""
RUNS: Final = 200
"""Latest runs of a skill that its figures are made of."""
NAMES: Final = TypeAdapter(dict[str, str])
VERDICTS: Final = TypeAdapter(tuple[PressVerdict, ...])


@dataclass(frozen=True, slots=True)
class Draft:
    """A skill that a person was shown and has not confirmed yet. `made` is Unix seconds."""

    id: str
    person: Person
    name: str
    task: str
    skill: RecordedSkill
    made: float


@dataclass(frozen=True, slots=True)
class SkillRun:
    """One run of a skill that has ended. `cost` is None where the model has no price."""

    task: str
    outcome: Outcome
    seconds: float
    tokens: int
    cost: float | None
    arguments: str
    """As JSON."""


class SkillTable:
    """What the service knows of recorded skills besides their folders."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_draft(self, draft: Draft) -> None:
        """Keep what a person is shown; drafts of before are forgotten after a day."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM skill_drafts WHERE made < ?", (draft.made - KEEP_SECONDS,))
            await transaction.fetch(
                "INSERT INTO skill_drafts (id, person_platform, person_id, name, task, skill, made)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    draft.id,
                    draft.person.platform,
                    draft.person.id,
                    draft.name,
                    int(draft.task),
                    draft.skill.model_dump_json(exclude_defaults=True),
                    draft.made,
                ),
            )

        await self._database.write(work)

    async def draft(self, number: str, *, now: float) -> Draft | None:
        """The draft with this id, None when there is none (any more)."""
        rows = await self._database.fetch(
            "SELECT * FROM skill_drafts WHERE id = ? AND made >= ?", (number, now - KEEP_SECONDS)
        )
        if not rows:
            return None
        row = rows[0]
        person = Person(row["person_platform"], row["person_id"])
        skill = RecordedSkill.model_validate_json(row["skill"])
        return Draft(row["id"], person, row["name"], str(row["task"]), skill, row["made"])

    async def saved(self, draft: Draft, verdicts: Sequence[PressVerdict], *, now: float) -> None:
        """The draft is a skill now, of the person who has confirmed it; `verdicts` are those of the gate's reader on
        the presses of its run.
        """
        kept = VERDICTS.dump_json(tuple(verdicts)).decode()

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM skill_drafts WHERE id = ?", (draft.id,))
            await transaction.fetch(
                "INSERT INTO saved_skills (name, person_platform, person_id, task, saved, verdicts)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE"
                " SET task = excluded.task, saved = excluded.saved, verdicts = excluded.verdicts",
                (draft.name, draft.person.platform, draft.person.id, int(draft.task), now, kept),
            )

        await self._database.write(work)

    async def owner(self, name: str) -> Person | None:
        """Who has saved it first; None for one that nobody has saved here."""
        rows = await self._database.fetch("SELECT * FROM saved_skills WHERE name = ?", (name,))
        return Person(rows[0]["person_platform"], rows[0]["person_id"]) if rows else None

    async def made_of(self, name: str) -> int:
        """The number of the task that its present version was saved from; 0 for one that nobody has saved here."""
        rows = await self._database.fetch("SELECT task FROM saved_skills WHERE name = ?", (name,))
        return int(rows[0]["task"]) if rows else 0

    async def verdicts(self, name: str = "") -> tuple[PressVerdict, ...]:
        """What the gate's reader said of the presses of one skill that was saved here, without a name of all."""
        rows = await self._database.fetch("SELECT verdicts FROM saved_skills WHERE ? IN ('', name)", (name,))
        return tuple(each for row in rows for each in VERDICTS.validate_json(row["verdicts"]))

    async def names(self, skill: str, locale: str) -> dict[str, str]:
        """See agent.ports.skill_names.SkillNames."""
        rows = await self._database.fetch(
            "SELECT names FROM skill_names WHERE skill = ? AND locale = ?", (skill, locale)
        )
        return NAMES.validate_json(rows[0]["names"]) if rows else {}

    async def keep_names(self, skill: str, locale: str, names: Mapping[str, str]) -> None:
        """See agent.ports.skill_names.SkillNames."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM skill_names WHERE skill = ? AND locale = ?", (skill, locale))
            if names:
                await transaction.fetch(
                    "INSERT INTO skill_names (skill, locale, names) VALUES (?, ?, ?)",
                    (skill, locale, NAMES.dump_json(dict(names)).decode()),
                )

        await self._database.write(work)

    async def renamed(self, old: str, new: str) -> None:
        """It is called otherwise from now on: its runs of before count for it, and what is planned with it goes on.
        What is known of a former skill of the new name, whose folder somebody has taken away, is forgotten.
        """

        async def work(transaction: Transaction) -> None:
            await _forget(transaction, new)
            await transaction.fetch("UPDATE saved_skills SET name = ? WHERE name = ?", (new, old))
            await transaction.fetch("UPDATE tasks SET skill = ? WHERE skill = ?", (new, old))
            await transaction.fetch("UPDATE skill_names SET skill = ? WHERE skill = ?", (new, old))
            await transaction.fetch(
                "UPDATE schedules SET draft = json_set(draft, '$.skill.name', ?)"
                " WHERE json_extract(draft, '$.skill.name') = ?",
                (new, old),
            )

        await self._database.write(work)

    async def removed(self, name: str) -> None:
        """It is no more; another one that is given its name begins anew."""
        await self._database.write(lambda transaction: _forget(transaction, name))

    async def runs(self, name: str) -> tuple[SkillRun, ...]:
        """The latest runs of a skill that have not ended by a person's own will (a cancel, a no), the latest first."""
        rows = await self._database.fetch(
            "SELECT id, outcome, started, ended, usage, arguments FROM tasks"
            " WHERE skill = ? AND state = 'ended' AND parts = 0 AND started IS NOT NULL"
            " AND outcome NOT IN ('cancelled', 'declined')"
            " ORDER BY id DESC LIMIT ?",
            (name, RUNS),
        )
        found = []
        for row in rows:
            usage = usage_of(row["usage"])
            seconds = float(row["ended"] - row["started"])
            outcome = Outcome(row["outcome"])
            found.append(SkillRun(str(row["id"]), outcome, seconds, usage.tokens, usage.cost, row["arguments"]))
        return tuple(found)


async def _forget(transaction: Transaction, name: str) -> None:
    await transaction.fetch("DELETE FROM saved_skills WHERE name = ?", (name,))
    await transaction.fetch("DELETE FROM skill_names WHERE skill = ?", (name,))
    await transaction.fetch("UPDATE tasks SET skill = '' WHERE skill = ?", (name,))
