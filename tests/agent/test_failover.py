"""A second endpoint in the place of the first, behind real HTTP: when it answers, when not, and the way back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import pytest

from agent.events import ModelAway
from agent.models.base import ModelReply, ModelRequest, ModelSwitched, Purpose, StandIn
from agent.models.connection import RetryPolicy
from agent.models.errors import InputTooLong, ModelError, ModelUnreachable
from agent.models.state import Cause, ModelStatus
from agent.outages import FIRST_PAUSE_S, PATIENCE_S, FailoverModel, PatientModel
from tests.agent.models.endpoints import VirtualTime, asking, model_at
from tests.fakes.model_server import Answer, ModelServer, refused

pytestmark = pytest.mark.slow

WELL = Answer(text="first", times=0)
OTHER = Answer(text="second", times=0)


@dataclass
class Both:
    """The two endpoints, the model made of them, and what was told."""

    first: ModelServer
    second: ModelServer
    model: PatientModel
    time: VirtualTime
    told: list[tuple[str, ModelAway]]

    async def word_is_in(self) -> None:
        """The first has answered, or refused, what it is asked beside the steps."""
        (asked,) = [task for task in asyncio.all_tasks() if task.get_name() == "is the first model back"]
        await asyncio.wait([asked])


@asynccontextmanager
async def both(first: list[Answer], second: list[Answer]) -> AsyncIterator[Both]:
    time, told = VirtualTime(), list[tuple[str, ModelAway]]()
    once = RetryPolicy(attempts=1, sleep=time.sleep, clock=lambda: time.now)
    async with AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(ModelServer(script)) for script in (first, second)]
        models = [
            await stack.enter_async_context(model_at(server, model=name, time=time, retry=once))
            for server, name in ((one, "one"), (two, "two"))
        ]
        model = FailoverModel(*models, clock=lambda: time.now)
        stack.push_async_callback(model.close)
        patient = PatientModel(
            model, lambda request, away: told.append((request.task, away)), sleep=time.sleep, clock=lambda: time.now
        )
        yield Both(one, two, patient, time, told)


def step(purpose: Purpose = Purpose.ACT, *, rendered_for: str = "") -> ModelRequest:
    request = asking("What now?")
    return ModelRequest(purpose, request.messages, task="7", rendered_for=rendered_for)


async def rendered_anew(model: PatientModel) -> ModelReply:
    """The answer to a step that is rendered for whichever model answers, as often as that changes."""
    while True:
        try:
            return await model.complete(step(rendered_for=model.active_name))
        except ModelSwitched:
            continue


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (refused(503, "overloaded"), Cause.BUSY),
        (refused(500, "it broke"), Cause.BROKEN),
        (refused(402, "insufficient_quota"), Cause.NO_CREDIT),
        (refused(401, "bad key"), Cause.KEY_REJECTED),
        (refused(404, "model_not_found"), Cause.UNKNOWN_MODEL),
    ],
)
async def test_the_second_answers_at_once_and_it_is_told(failure: Answer, cause: Cause) -> None:
    """Seen failing with the first asked alone: the step waited, or the task ended."""
    async with both([failure], [OTHER]) as there:
        reply = await there.model.complete(step())
        assert (reply.text, reply.stand_in) == ("second", StandIn("two", cause))
        assert there.time.waits == []
        assert there.told == [("7", ModelAway(cause=cause, stand_in="two"))]
        state = there.model.state
        assert (state.status, state.model, state.cause, state.stand_in) == (ModelStatus.FAILING, "one", cause, "two")
        assert [share.model for share in reply.usage.booked] == ["two"]
        await there.model.complete(step())
        assert len(there.first.requests) == 1, "no step asks a failing endpoint again"


async def test_it_goes_back_when_the_first_is_well_and_counts_what_that_took() -> None:
    """Seen failing without the word: the second answered for good."""
    async with both([refused(503, "overloaded", times=2), WELL], [OTHER]) as there:
        await there.model.complete(step())
        for pause in (FIRST_PAUSE_S, 2 * FIRST_PAUSE_S):
            there.time.now += pause
            assert (await there.model.complete(step())).text == "second"
            await there.word_is_in()
            reply = await there.model.complete(step())
        assert reply.text == "first"
        assert reply.stand_in is None
        assert [share.calls for share in reply.usage.booked] == [1, 1], "the word, and the answer"
        assert there.told[-1] == ("7", ModelAway())
        assert there.model.state.status is ModelStatus.CONNECTED
        assert there.model.state.stand_in == ""


async def test_the_reader_of_presses_is_no_other_model() -> None:
    """Seen failing without its exception: another model judged what a press does."""
    async with both([refused(503, "overloaded", times=0)], [OTHER]) as there:
        await there.model.complete(step())
        with pytest.raises(ModelError):
            await there.model.complete(step(Purpose.GUARD))
        assert len(there.second.requests) == 1


async def test_what_the_first_says_of_the_request_is_its_answer() -> None:
    async with both([refused(400, "context_length_exceeded")], [OTHER]) as there:
        with pytest.raises(InputTooLong):
            await there.model.complete(step())
        assert there.second.requests == []


async def test_when_both_are_away_the_outage_is_waited_for() -> None:
    gone = refused(503, "overloaded", times=3)
    async with both([Answer(text="first"), gone, WELL], [gone, OTHER]) as there:
        assert (await there.model.complete(step())).text == "first"
        reply = await there.model.complete(step())
        assert reply.text == "first"
        assert reply.waited > 0
        assert not there.model.state.stand_in


async def test_a_failure_that_passes_is_told_before_one_that_does_not() -> None:
    async with both([refused(402, "insufficient_quota")], [refused(503, "overloaded")]) as there:
        with pytest.raises(ModelUnreachable):
            await there.model.complete(step())


async def test_a_step_that_is_rendered_for_one_is_not_given_to_the_other() -> None:
    """Seen failing without `_check`: each was sent what the other one reads."""
    async with both([refused(503, "overloaded"), WELL], [OTHER]) as there:
        assert there.model.active_name == "one"
        with pytest.raises(ModelSwitched, match="two"):
            await there.model.complete(step(rendered_for="one"))
        assert (there.second.requests, there.model.active_name) == ([], "two")
        reply = await there.model.complete(step(rendered_for="two"))
        assert (reply.text, reply.stand_in, reply.waited) == ("second", StandIn("two", Cause.BUSY), 0)
        there.time.now += FIRST_PAUSE_S
        await there.model.complete(step(rendered_for="two"))
        await there.word_is_in()
        with pytest.raises(ModelSwitched, match="one"):
            await there.model.complete(step(rendered_for="two"))
        assert (await there.model.complete(step(rendered_for="one"))).text == "first"
        assert [len(end.requests) for end in (there.first, there.second)] == [3, 2]


async def test_an_outage_of_both_is_waited_for_once_however_often_the_step_is_rendered() -> None:
    """Seen failing (without an end) with `_interrupted` left out: each rendering began the waiting anew."""
    gone = refused(503, "overloaded", times=0)
    async with both([Answer(text="first"), gone], [gone]) as there:
        assert (await rendered_anew(there.model)).text == "first"
        async with asyncio.timeout(60):
            with pytest.raises(ModelUnreachable):
                await rendered_anew(there.model)
        assert PATIENCE_S - 30 < there.time.now <= PATIENCE_S
        assert [away.until is None for _, away in there.told] == [False, True], "told once, and once that it is over"


async def test_a_wait_that_is_not_gone_on_with_ends_with_its_conversation() -> None:
    """A run may be stopped between two renderings. Seen failing with a card that goes on waiting."""
    gone = refused(503, "overloaded", times=0)
    async with both([Answer(text="first"), gone], [gone]) as there:
        await there.model.complete(step())
        for name in ("one", "two"):
            with pytest.raises(ModelSwitched):
                await there.model.complete(step(rendered_for=name))
        assert [away.until is None for _, away in there.told] == [False]
        there.model.end_conversation("")
        assert [away.until is None for _, away in there.told] == [False, True]


async def test_an_outage_of_both_ends_with_whichever_is_back() -> None:
    async with both(
        [Answer(text="first"), refused(503, "away", times=2), WELL], [refused(503, "away", times=0)]
    ) as there:
        assert (await rendered_anew(there.model)).text == "first"
        assert (await rendered_anew(there.model)).text == "first"
