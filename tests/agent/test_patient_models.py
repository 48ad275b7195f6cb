"""A model endpoint that is away for ten minutes, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from agent.models.base import Delta, Message, ModelReply, ModelRequest, Models, Purpose
from agent.models.errors import ModelKeyRejected, ModelUnreachable
from agent.models.patient import PATIENCE_S, PatientModel, patient

MINUTE = 60.0


@dataclass
class Endpoint:
    """Answers, unless it is away at that time."""

    now: float = 0.0
    away: tuple[float, float] = (10.0, 10.0)
    calls: int = 0
    said: list[str] = field(default_factory=list)
    error: Exception = field(default_factory=lambda: ModelUnreachable("host cannot be reached."))

    @property
    def name(self) -> str:
        return "a-model"

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        del request
        self.calls += 1
        if on_delta is not None:
            on_delta(Delta("a piece"))
        if self.away[0] <= self.now < self.away[1]:
            raise self.error
        return ModelReply("yes")

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def patient(self) -> PatientModel:
        return PatientModel(
            self, lambda request, why: self.said.append(f"{request.conversation}: {why}"), sleep=self.sleep,
            clock=lambda: self.now,
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
    assert endpoint.said == ["7-1: host cannot be reached. Waiting for it, at most 15 minutes."]
    assert not model.away
    assert (await model.complete(asked())).waited == 0


async def test_it_is_not_waited_for_ever() -> None:
    endpoint = Endpoint()
    model = endpoint.patient()
    await model.complete(asked())
    endpoint.now, endpoint.away = 20.0, (15.0, 1e9)
    with pytest.raises(ModelUnreachable):
        await model.complete(asked())
    assert PATIENCE_S - MINUTE < endpoint.now - 20.0 <= PATIENCE_S
    assert model.away


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
    models, each = patient(Models(one, other, one), lambda _request, _why: None)
    assert models.vision is models.reasoning
    assert len(each) == 2
    assert models.basic.name == "a-model"
