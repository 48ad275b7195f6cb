"""A model endpoint that is away for ten minutes, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from agent.context_window import window_of
from agent.events import ModelAway
from agent.models.base import Delta, Message, ModelReply, ModelRequest, Models, Purpose
from agent.models.errors import ModelKeyRejected, ModelUnreachable
from agent.models.state import Cause, ModelStatus
from agent.outages import PATIENCE_S, PatientModel, patient
from tests.fakes.scripted_model import Windowed

MINUTE = 60.0
NOON = 1_800_000_000.0


@dataclass
class Endpoint:
    """Answers, unless it is away at that time."""

    now: float = 0.0
    away: tuple[float, float] = (10.0, 10.0)
    calls: int = 0
    said: list[tuple[str, ModelAway]] = field(default_factory=list)
    tries: list[float] = field(default_factory=list)
    error: Exception = field(default_factory=lambda: ModelUnreachable("host cannot be reached."))

    @property
    def name(self) -> str:
        return "a-model"

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        del request
        self.calls += 1
        self.tries.append(self.now)
        if on_delta is not None:
            on_delta(Delta("a piece"))
        if self.away[0] <= self.now < self.away[1]:
            raise self.error
        return ModelReply("yes")

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def patient(self, sleep: Callable[[float], Awaitable[None]] | None = None) -> PatientModel:
        return PatientModel(
            self, lambda request, away: self.said.append((request.conversation, away)), sleep=sleep or self.sleep,
            clock=lambda: self.now, wall=lambda: NOON + self.now,
        )  # fmt: skip


def asked(purpose: Purpose = Purpose.ACT) -> ModelRequest:
    return ModelRequest(purpose, (Message("user", ("what now?",)),), conversation="7-1")


async def test_ten_minutes_are_waited_for_and_told_once() -> None:
    """Seen failing with a plain model: the call raises at once, and with it the task ends."""
    endpoint = Endpoint()
    model = endpoint.patient()
    assert (await model.complete(asked())).waited == 0
    endpoint.now, endpoint.away = 20.0, (15.0, 15.0 + 10 * MINUTE)
    reply = await model.complete(asked())
    assert reply.text == "yes"
    assert 9 * MINUTE < reply.waited < 11 * MINUTE
    assert endpoint.calls < 30, "with pauses in between"
    until = NOON + 20.0 + PATIENCE_S
    assert endpoint.said == [("7-1", ModelAway(until=until)), ("7-1", ModelAway())]
    assert model.state.status is ModelStatus.CONNECTED
    assert (await model.complete(asked())).waited == 0


async def test_it_is_not_waited_for_ever() -> None:
    endpoint = Endpoint()
    model = endpoint.patient()
    await model.complete(asked())
    endpoint.now, endpoint.away = 20.0, (15.0, 1e9)
    with pytest.raises(ModelUnreachable):
        await model.complete(asked())
    assert PATIENCE_S - MINUTE < endpoint.now - 20.0 <= PATIENCE_S
    assert (model.state.status, model.state.cause) == (ModelStatus.FAILING, Cause.NO_CONNECTION)


async def test_what_the_endpoint_asks_for_is_waited_for_between_growing_pauses() -> None:
    """Seen failing before: with `Retry-After: 120` it was asked again after 2, 4, 8 … seconds all the same."""
    endpoint = Endpoint()
    model = endpoint.patient()
    await model.complete(asked())
    endpoint.now, endpoint.away = 0.0, (0.0, 1e9)
    endpoint.error = ModelUnreachable("busy", status=429, retry_after=120.0, cause=Cause.BUSY)
    endpoint.tries.clear()
    with pytest.raises(ModelUnreachable):
        await model.complete(asked())
    assert endpoint.tries == [120.0 * number for number in range(8)]
    assert endpoint.said == [("7-1", ModelAway(cause=Cause.BUSY, until=NOON + PATIENCE_S)), ("7-1", ModelAway())]


async def test_who_asks_for_more_than_the_patience_is_not_waited_for() -> None:
    """Seen failing before: 15 minutes of tries although the endpoint had said that it takes an hour."""
    endpoint = Endpoint()
    model = endpoint.patient()
    await model.complete(asked())
    endpoint.away, endpoint.error = (0.0, 1e9), ModelUnreachable("busy", status=429, retry_after=3600.0)
    with pytest.raises(ModelUnreachable):
        await model.complete(asked())
    assert (endpoint.calls, endpoint.said) == (2, [])


async def test_who_stops_waiting_takes_the_note_back_at_once() -> None:
    """Seen failing before: a paused task still said that its model was waited for."""
    endpoint, waits = Endpoint(), asyncio.Event()

    async def never(_seconds: float) -> None:
        waits.set()
        await asyncio.Event().wait()

    model = endpoint.patient(never)
    await model.complete(asked())
    endpoint.away = (0.0, 1e9)
    call = asyncio.create_task(model.complete(asked()))
    await waits.wait()
    assert len(endpoint.said) == 1
    call.cancel()
    async with asyncio.timeout(1):
        await asyncio.wait({call})
    assert endpoint.said[-1] == ("7-1", ModelAway())


async def test_an_endpoint_that_never_answered_is_told_at_once() -> None:
    endpoint = Endpoint(away=(0.0, 1e9))
    with pytest.raises(ModelUnreachable):
        await endpoint.patient().complete(asked())
    assert endpoint.calls == 1


async def test_a_refusal_and_a_caption_are_not_waited_for() -> None:
    endpoint = Endpoint()
    model = endpoint.patient()
    await model.complete(asked())
    endpoint.away = (0.0, 1e9)
    with pytest.raises(ModelUnreachable):
        await model.complete(asked(Purpose.CAPTION))
    endpoint.error = ModelKeyRejected("the key is wrong")
    with pytest.raises(ModelKeyRejected):
        await model.complete(asked())
    assert endpoint.calls == 3


async def test_what_was_streamed_before_the_break_is_not_streamed_again() -> None:
    endpoint = Endpoint()
    model = endpoint.patient()
    await model.complete(asked())
    endpoint.away = (0.0, MINUTE)
    pieces: list[Delta] = []
    await model.complete(asked(), on_delta=pieces.append)
    assert len(pieces) == 1


def test_roles_that_share_a_model_share_its_patience() -> None:
    one, other = Endpoint(), Endpoint()
    models, each = patient(Models(one, other, one), lambda _request, _away: None)
    assert models.vision is models.reasoning
    assert len(each) == 2
    assert models.basic.name == "a-model"


async def test_the_window_is_that_of_the_model_behind_it() -> None:
    models, _ = patient(Models(*[Windowed({}, tokens=9_000)] * 3), lambda _request, _away: None)
    assert await window_of(models.vision) == 9_000
