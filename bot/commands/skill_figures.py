"""Statistics of the runs of recorded skills, and lines for people that describe skills with these statistics."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.run import Outcome
from agent.skills.library import Skill
from bot.cards.formatting import duration
from bot.domain.locale import money
from bot.store.skills import SkillRun
from bot.store.store import Store
from bot.texts import listed, say, spoken

TAKEOVERS: Final = 3
"""Runs in which a model had to help at the same step before a new version is offered."""
TAKEOVERS_LOOKED: Final = 10
"""Latest runs that are examined for this."""


@dataclass(frozen=True, slots=True)
class SkillFigures:
    """Statistics of a recorded skill's runs, and what the successful ones saved compared with the run it was recorded
    from.
    """

    runs: int
    succeeded: int
    seconds: float
    """Seconds saved."""
    tokens: int
    """Model tokens saved."""
    money: float | None
    """Money saved; None if the recorded run had no price."""
    proven: bool
    """Whether it has worked with arguments other than the recorded ones or, if it takes none, at all."""
    again: str = ""
    """The task from which to save a new version, as a model often had to help at one step; "" for none."""
    step: int = 0
    """The number of that step, from 1."""


async def figures_of(skill: Skill, store: Store) -> SkillFigures | None:
    """Return the statistics of a skill's runs. None for a skill that is only a text, and before the first run."""
    recorded = skill.recorded
    runs = () if recorded is None else await store.skills.runs(skill.name)
    if recorded is None or not runs:
        return None
    done = [run for run in runs if run.outcome is Outcome.SUCCEEDED]
    first = {each.name: each.example for each in recorded.parameters}
    source = recorded.source
    # Only runs of this version: where a model had to help with a former version says nothing about this one.
    made_of = await store.skills.made_of(skill.name)
    own = [run for run in runs[:TAKEOVERS_LOOKED] if int(run.task) > made_of]
    place = await _taken_over(store, own)
    latest = next((run.task for run in own if run.outcome is Outcome.SUCCEEDED), "")
    return SkillFigures(
        runs=len(runs),
        succeeded=len(done),
        seconds=sum(max(0.0, source.seconds - run.seconds) for run in done),
        tokens=sum(source.tokens - run.tokens for run in done),
        money=None if source.cost is None else sum(source.cost - (run.cost or 0.0) for run in done),
        proven=any(json.loads(run.arguments) != first or not first for run in done),
        again=latest if place is not None else "",
        step=0 if place is None or not latest else place + 1,
    )


def skill_line(skill: Skill, figures: SkillFigures | None) -> str:
    """Return a text that describes one skill. For a recorded one it includes its parameters, results and savings."""
    words = f"{skill.name}: {skill.described(spoken())}"
    recorded = skill.recorded
    if recorded is None:
        return words
    names = listed(each.name for each in recorded.parameters) or "-"
    words += "\n  " + say("skills.recorded", version=recorded.version, names=names)
    if figures is None:
        return words
    share = f"{figures.succeeded / figures.runs:.0%}"
    words += " · " + say("skills.runs", done=figures.succeeded, number=figures.runs, share=share)
    saved = {"time": duration(figures.seconds), "tokens": f"{max(0, figures.tokens):,}"}
    if figures.money is None:
        words += " · " + say("skills.saved", **saved)
    else:
        words += " · " + say("skills.saved_money", **saved, money=money(max(0.0, figures.money)))
    words += f" · {say('skills.proven')}" if figures.proven else ""
    if figures.again:
        words += "\n  " + say("skills.new_version", step=figures.step, task=figures.again, name=skill.name)
    return words


async def _taken_over(store: Store, runs: Sequence[SkillRun]) -> int | None:
    """The recorded step at which a model most often had to help, if that was often enough for a new version."""
    places: Counter[int] = Counter()
    for run in runs:
        at, seen = 0, set[int]()
        for row in await store.steps.of(run.task):
            if row.action.get("kind") == "finish":
                continue
            if row.record.followed is None:
                seen.add(at)
            else:
                at = row.record.followed + 1
        places.update(seen)
    found = places.most_common(1)
    return found[0][0] if found and found[0][1] >= TAKEOVERS else None
