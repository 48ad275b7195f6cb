"""The pilot on virtual phones through the real mind: one phone for each layout, as new before every instruction."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from agent.effect_facts import in_english
from agent.events import Asked, TaskEnded
from agent.models.base import Models
from agent.offline.pilot import OfflinePilot
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.state import PhoneState
from tests.agent.graph.rig import Rig, Work, direct_rig, order

SECRET = "secret:"
"""Begins an answer that is handed over as a secret."""
MAX_STEPS = 60
"""As a task has when nothing else is set."""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Result:
    """How a task ended, what was asked meanwhile, and all its steps."""

    end: TaskEnded
    asked: tuple[Asked, ...]
    thoughts: tuple[str, ...]

    @property
    def story(self) -> str:
        """For a failing test."""
        return "\n".join([*self.thoughts, f"{self.end.outcome}: {self.end.summary}", f"data: {self.end.data}"])


@dataclass
class Phones:
    """A rig for each seed."""

    rigs: dict[int, Rig] = field(default_factory=dict)

    def fresh(self, seed: int, **state: Any) -> Rig:
        """The phone with this layout as it was when it was new, with an empty journal."""
        rig = self.rigs[seed]
        renew(rig.phone, **state)
        return Rig(rig.phone, rig.phones)


@asynccontextmanager
async def phones_on(*seeds: int) -> AsyncIterator[Phones]:
    """A phone for each seed."""
    async with AsyncExitStack() as stack:
        phones = Phones()
        for number, seed in enumerate(seeds, 1):
            phones.rigs[seed] = await stack.enter_async_context(direct_rig(seed=seed, number=number))
        yield phones


def renew(phone: VirtualPhone, **state: Any) -> None:
    """Put the phone's state back to that of a new one; `state` are fields that differ."""
    now = phone.state
    fresh = PhoneState(now.identity, now.width, now.height, now.density, seed=now.seed, port=now.port, **state)
    for each in fields(fresh):
        setattr(now, each.name, getattr(fresh, each.name))
    phone.faults.set(page_ms=0, effect_ms=0, deaf=False)
    phone.changed()


async def piloted(rig: Rig, text: str, *answers: str, quick: bool = False) -> Result:
    """Give the pilot a task and answer what it asks, in order."""
    pilot = OfflinePilot()
    agent = rig.agent(Models(pilot, pilot, pilot), dialect="auto")
    work = Work(agent, order(text, quick=quick, task=f"p{next(_numbers)}", max_steps=MAX_STEPS))
    known: set[str] = set()
    for answer in answers:
        asked = await work.until(Asked, lambda each: each.question.id not in known)
        known.add(asked.question.id)
        secret = answer.startswith(SECRET)
        await work.answer(rig.secrets.keep(answer.removeprefix(SECRET)) if secret else answer)
    end = await work.ended()
    return Result(
        end,
        tuple(event for event in work.events if isinstance(event, Asked)),
        tuple(f"{step.thought} -> {in_english(step.effect)}" for step in work.steps),
    )
