"""What an endpoint says, as the independent reader, of the presses of the table of which the rules know nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Final, cast

from agent.graph.executor.context import RunContext
from agent.graph.executor.reader import PATIENCE_S, _shown, _verdicts
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.guards.reading import UNKNOWN, Pressed, PressReading, Verdict, is_press, strictest
from agent.models.base import Message, Model, ModelRequest, Purpose
from agent.models.errors import ModelError
from agent.observing import ScreenView
from agent.prompts import prompt
from devices.phone import Observation
from tests.agent.guards.screens import SIZE, touch
from tests.agent.guards.table.cases import Case

AT_ONCE: Final = 4


def is_read(case: Case, policy: Policy) -> bool:
    """Whether the rules let the press pass without knowing it: then the reader is asked."""
    action, spot = touch(case.window, case.press)
    gate = policy.gate(action, spot)
    return gate.verdict == "allow" and gate.standing == "unknown" and is_press(action, spot)


async def read(cases: Sequence[Case], model: Model, policy: Policy) -> list[PressReading]:
    """The reading of each; what the endpoint does not answer, or answers with rubbish, is unknown."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case) -> PressReading:
        action, spot = touch(case.window, case.press)
        seen = Observation(SIZE, None, spot.around, package=spot.package, activity=spot.activity)
        # The reader needs of a run only the names of apps and the picture, and there is none.
        context = cast("RunContext", SimpleNamespace(policy=policy, mask=Mask(), screen=SimpleNamespace(view=None)))
        sight = cast("ScreenView", SimpleNamespace(observation=seen))
        shown = await _shown(context, sight, Pressed(action.kind, seen, spot.target, spot.point))
        request = ModelRequest(
            Purpose.GUARD, (Message("system", (prompt("guard"),)), Message("user", shown)), schema=Verdict
        )
        async with turn:
            try:
                async with asyncio.timeout(PATIENCE_S):
                    reply = await model.complete(request)
            except (ModelError, TimeoutError):
                return UNKNOWN
        return replace(strictest(_verdicts(reply)), tokens=reply.usage.input + reply.usage.output)

    return list(await asyncio.gather(*map(one, cases)))
