"""Recorded skills on phones that have changed: ended right, calls of a model, touches of something else, what is done
twice after a kill, and a replayed step's own time. Everything is counted by the virtual phone, never by a model.

`make bench`, or `.venv/bin/python -m benchmarks --only skills` (about half an hour on two cores).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from agent.events import Step
from agent.models.base import Models
from agent.run import Outcome
from benchmarks.row import Row
from tests.agent.graph.rig import Work, order
from tests.agent.recorded.stage import (
    BY_NAME,
    DISMISSING,
    SKILLS,
    Change,
    Played,
    Reader,
    Run,
    Stage,
    changes,
    library_of,
    phone,
    shuffled,
    spanish,
    wanted,
)
from tests.fixtures.virtual_time import VirtualTimeLoop

FRAME_S, INPUT_S = 0.25, 0.11
"""What a foreign phone takes for a picture and for an input."""
WORDS: Final = ("Mira", "Noor", "Otto", "Pia", "Quin", "Rosa", "Sven", "Tara", "Uwe", "Vera", "Wim", "Xenia", "Yves")
GOODS: Final = ("Blue mug", "Red mug", "Desk lamp", "Umbrella", "Coffee beans 500 g", "Green tea 100 g", "Notebook A5")
TRIES: Final = 100
MOST_CALLS: Final = 3


def extra_touches(run: Run, first: Run, played: Played, values: dict[str, str]) -> list[str]:
    """What was touched that the recording does not touch or type into, but for what closes a pop-up."""
    _, meant = wanted(first, played, values)
    left = list(run.touched)
    fields = [each for each in ("Title", "Note", "To", "Text message", "User name") if each in played.text]
    for words in (*meant, *fields, *DISMISSING):
        if words in left:
            left.remove(words)
    return left


def is_right(run: Run, first: Run, played: Played, values: dict[str, str], change: Change) -> bool:
    """Whether the phone has kept just what it should have, and the task ended as done."""
    kept, _ = wanted(first, played, values)
    if change.dark:  # "Turn on Dark theme" has nothing to do on such a phone
        kept = {**kept, "toggles": tuple(name for name in kept["toggles"] if name != "dark")}
    return run.outcome is Outcome.SUCCEEDED and dict(kept) == dict(run.truth)


@dataclass
class Counted:
    """What came of all skills under one change."""

    wrong: int = 0
    """Not ended right, or not with three calls of a model at most."""
    calls: int = 0
    touches: int = 0
    tokens: int = 0


async def _changed(stage: Stage, to: Change, *, ids: bool) -> Counted:
    found, name = Counted(), to.name
    for played in SKILLS:
        change, values = to, dict(played.first)
        _, first = await stage.recorded(played, ids=ids)
        run = await stage.played(played, change, values, ids=ids)
        right = is_right(run, first, played, values, change.of(played)) and run.calls <= MOST_CALLS
        extra = extra_touches(run, first, played, values)
        found.wrong += not right
        found.calls += run.calls
        found.tokens += run.tokens
        found.touches += len(extra)
        if extra or not right:
            print(f"  {name}, ids {ids}: {played.name} {run.outcome} {run.calls} calls {run.touched} {run.truth}")
    return found


async def _others(stage: Stage) -> tuple[int, int]:
    """Runs with other values: wrong ends, and those in which an old value was left anywhere."""
    chance, wrong, old = shuffled(1), 0, 0
    able = [played for played in SKILLS if played.first and played.name not in {"read-note", "greet", "ask", "thank"}]
    for _ in range(TRIES):
        played = chance.choice(able)
        values = {
            name: chance.choice([each for each in (GOODS if name == "item" else WORDS) if each != before])
            for name, before in played.first.items()
        }
        _, first = await stage.recorded(played)
        run = await stage.played(played, Change("unchanged"), values)
        wrong += not is_right(run, first, played, values, Change("unchanged"))
        told = f"{run.truth} {run.touched} {run.summary}"
        old += any(before in told for name, before in played.first.items() if before not in values.values())
    return wrong, old


async def _killed(stage: Stage) -> tuple[int, int]:
    """Runs that were killed at some point and went on in a new process: what was done twice, and wrong ends."""
    chance, twice, wrong = shuffled(2), 0, 0
    for _ in range(TRIES):
        played = chance.choice([BY_NAME["note"], BY_NAME["add-mug"], BY_NAME["order-mug"], BY_NAME["greet"]])
        values = dict(played.first)
        _, first = await stage.recorded(played)
        run = await stage.played(played, Change("unchanged"), values, kill_at=chance.randint(2, 60))
        kept, _ = wanted(first, played, values)
        twice += any(len(run.truth[name]) > len(kept[name]) for name in kept)
        wrong += not is_right(run, first, played, values, Change("unchanged"))
    return twice, wrong


async def _step_seconds(stage: Stage) -> float:
    """The median time of a replayed step on a phone that takes its time for pictures and inputs."""
    played = BY_NAME["note"]
    skill, _ = await stage.recorded(played)
    library, reader = library_of(played.name, skill), Reader()
    async with phone(Change("unchanged")) as rig:
        rig.phone.faults.set(frame_ms=int(FRAME_S * 1000), input_ms=int(INPUT_S * 1000))
        given = {"skill": played.name, "arguments": dict(played.first)}
        work = Work(
            rig.agent(Models(reader, reader, reader), skills=library, main={"skills": library}),
            order(skill.asked(played.first), task="9").model_copy(update=given),
        )
        times, clock = [], asyncio.get_running_loop().time
        for number in range(1, len(skill.steps) + 1):
            await work.until(Step, lambda step, number=number: step.step == number)  # type: ignore[misc]
            times.append(clock())
        await work.ended()
    return median(after - before for before, after in pairwise(times[1:]))


def _otherwise(what: str, found: Counted, most: float) -> Row:
    return Row(f"{what}: otherwise", 100 * found.wrong / len(SKILLS), most, "%")


async def _measured() -> list[Row]:
    stage, rows = Stage(), []
    touches = tokens = runs = 0
    for name in changes(ids=True):
        for ids in (True, False):
            found = await _changed(stage, changes(ids=ids)[name], ids=ids)
            touches, tokens, runs = touches + found.touches, tokens + found.tokens, runs + 1
            what = f"skills: {name}, {'with' if ids else 'without'} ids"
            rows.append(_otherwise(what, found, 0 if name == "unchanged" else 5))
            if name == "unchanged":
                rows.append(Row(f"{what}: model calls", found.calls, 0, ""))
            print(rows[-1], f"{found.calls} calls, {found.tokens} tokens", flush=True)
    for ids in (True, False):  # not among the kinds of change that tokens are counted over
        found = await _changed(stage, spanish(ids=ids), ids=ids)
        touches += found.touches
        rows.append(_otherwise(f"skills: a language of the same letters, {'with' if ids else 'without'} ids", found, 5))
        print(rows[-1], f"{found.calls} calls", flush=True)
    rows.append(Row("skills: touches of something else than meant", touches, 0, ""))
    led = sum([(await stage.led(played)).tokens for played in SKILLS])
    rows.append(
        Row("skills: tokens, of those of a model that is asked at each step", 100 * tokens / runs / led, 5, "%")
    )
    print(rows[-1], flush=True)
    wrong, old = await _others(stage)
    rows.append(Row(f"skills: {TRIES} other values: ended otherwise", wrong, 0, ""))
    rows.append(Row(f"skills: {TRIES} other values: an old one left", old, 0, ""))
    twice, unfinished = await _killed(stage)
    rows.append(Row(f"skills: {TRIES} kills: something done twice", twice, 0, ""))
    rows.append(Row(f"skills: {TRIES} kills: ended otherwise", unfinished, TRIES / 10, ""))
    return rows


async def measured() -> list[Row]:
    """What is counted, in virtual time and so in a loop of its own; then what takes time, by the clock on the wall."""

    def run() -> list[Row]:
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            return runner.run(_measured())

    rows = await asyncio.to_thread(run)
    return [*rows, Row("skills: a replayed step", await _step_seconds(Stage()), 1.5 * (FRAME_S + INPUT_S), "s")]
