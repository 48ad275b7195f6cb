"""A free phone is looked at, and the model asked, while the kind of the task is being decided."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent.events import Started
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.models.errors import ModelUnreachable
from agent.run import Outcome, RunId
from agent.skills.library import Skill, Skills
from tests.agent.graph.rig import LIMIT, Rig, Work, order
from tests.fakes.ports import LentPhone
from tests.fakes.scripted_model import HANG, call, data, models, text

FINISH = call("finish", status="success", summary="done")
NOTES = call("open_app", name="Notes")
TASK = "add milk to my list in Notes"

Deciding = Callable[[ModelRequest], Awaitable[ModelReply]]


@pytest.fixture
def lent(rig: Rig) -> LentPhone:
    """The leases of the rig, which lend its phone."""
    rig.leases = lent = LentPhone(rig.phones)
    return lent


class Asked(asyncio.Event):
    """Set once the model was asked for the first action."""

    def __call__(self, _: ModelRequest) -> ModelReply:
        self.set()
        return NOTES

    def before(self, kind: ModelReply) -> Deciding:
        """The answer to what kind of task it is, which takes until then."""

        async def decide(_: ModelRequest) -> ModelReply:
            await asyncio.wait_for(self.wait(), LIMIT)
            return kind

        return decide


async def test_the_first_answer_is_asked_for_beside_the_kind(rig: Rig, lent: LentPhone) -> None:
    """The kind is told only after the model has been asked for the first action, which nobody asks again."""
    asked = Asked()
    have, model = models([asked, FINISH], intent=[asked.before(data(kind="simple"))])
    ended = await Work(rig.agent(have), order(TASK, quick=False)).ended()
    assert ended.outcome is Outcome.SUCCEEDED
    assert len(model.asked(Purpose.ACT)) == 2
    assert lent.log[:2] == ["borrow", "keep"]
    assert ended.usage.calls == len(model.requests)


async def test_what_needs_no_phone_leaves_nothing_of_it(rig: Rig, lent: LentPhone) -> None:
    """The picture is kept nowhere, the phone is free, and what the dropped request has cost is counted."""
    asked = Asked()
    have, _ = models([asked], intent=[asked.before(data(kind="refuse", answer="No."))])
    work = Work(rig.agent(have), order(TASK, quick=False))
    ended = await work.ended()
    assert not rig.frames.kept
    assert not lent.held
    assert not rig.inputs()
    assert not any(isinstance(event, Started) for event in work.events)
    assert ended.usage.calls == 2


async def test_another_goal_asks_anew(rig: Rig, lent: LentPhone) -> None:
    """A task that is planned after all begins with its first part, and the answer to the whole is not used."""
    asked = Asked()
    have, model = models(
        [asked, FINISH],
        intent=[asked.before(data(kind="complex"))],
        plan=[text("1. open it")],
        supervise=[data(decision="continue", remaining=["open it"], next="open it"), data(decision="complete")],
        summarize=[text("All done.")],
    )
    work = Work(rig.agent(have), order(TASK, quick=False))
    ended = await work.ended()
    assert ended.outcome is Outcome.SUCCEEDED
    assert "open it" in model.asked(Purpose.ACT)[-1].messages[-1].text
    assert not rig.inputs()
    assert lent.log == ["borrow", "release", "acquire", "release"]
    assert ended.usage.calls == len(model.requests)


async def test_a_skill_that_is_chosen_asks_anew(rig: Rig, lent: LentPhone) -> None:
    """Seen failing (the answer of a model that had not read the skill was used) without the comparison."""
    asked = Asked()
    have, model = models([asked, NOTES, FINISH], intent=[asked.before(data(kind="simple", skill="lists"))])
    skills = Skills({"lists": Skill("lists", "Lists.", Path("lists"), "Use the blue list.")})
    agent = rig.agent(have, main={"skills": skills}, skills=skills)
    ended = await Work(agent, order(TASK, quick=False)).ended()
    ahead, *after = ("blue list" in "".join(part.text for part in each.messages) for each in model.asked(Purpose.ACT))
    assert (ahead, after) == (False, [True, True])
    assert ended.usage.calls == len(model.requests)
    assert lent.log[:2] == ["borrow", "keep"]


async def test_whoever_needs_the_phone_has_it_at_once(rig: Rig, lent: LentPhone) -> None:
    """The run that only may need it gives it back while it is still decided, and waits for it like any other."""
    asked, free = Asked(), asyncio.Event()

    async def decide(request: ModelRequest) -> ModelReply:
        await asked.before(data(kind="simple"))(request)
        lent.wanted()
        async with asyncio.timeout(LIMIT):
            while lent.held:
                await asyncio.sleep(0)
        free.set()
        return data(kind="simple")

    have, model = models([asked, NOTES, FINISH], intent=[decide])
    ended = await Work(rig.agent(have), order(TASK, quick=False)).ended()
    assert free.is_set()
    assert ended.outcome is Outcome.SUCCEEDED
    assert lent.log == ["borrow", "release", "acquire", "release"]
    assert ended.usage.calls == len(model.requests)


@pytest.mark.parametrize("state", ["locked", "asleep"])
async def test_a_phone_that_rests_is_left_alone(rig: Rig, lent: LentPhone, state: str) -> None:
    """Seen failing (it was woken, and the model asked) without the look at how it is."""
    if state == "locked":
        rig.phone.windows.lock("1234")
    else:
        rig.phone.windows.sleep()
    looked = asyncio.Event()
    kept = rig.phones.get(rig.phones.list()[0].id)

    async def refuse(_: ModelRequest) -> ModelReply:
        async with asyncio.timeout(LIMIT):
            while not any("dumpsys" in entry.argv for entry in rig.phone.journal.entries):
                await asyncio.sleep(0)
        await kept.observe()  # whose turn comes after the look that is on its way
        looked.set()
        return data(kind="refuse", answer="No.")

    have, model = models([], intent=[refuse])
    await Work(rig.agent(have), order(TASK, quick=False)).ended()
    assert looked.is_set()
    assert not model.asked(Purpose.ACT)
    assert rig.phone.state.awake is (state == "locked")
    assert not lent.held


async def test_a_first_answer_that_fails_is_asked_for_again(rig: Rig, lent: LentPhone) -> None:
    """Seen failing (the task ended) without it."""
    asked = asyncio.Event()

    def fails(_: ModelRequest) -> ModelReply:
        asked.set()
        raise ModelUnreachable("the connection was lost")

    async def simple(_: ModelRequest) -> ModelReply:
        await asyncio.wait_for(asked.wait(), LIMIT)
        return data(kind="simple")

    have, model = models([fails, NOTES, FINISH], intent=[simple])
    ended = await Work(rig.agent(have), order(TASK, quick=False)).ended()
    assert ended.outcome is Outcome.SUCCEEDED
    assert len(model.asked(Purpose.ACT)) == 3
    assert lent.log[:2] == ["borrow", "keep"]


async def test_stop_while_it_is_decided(rig: Rig, lent: LentPhone) -> None:
    """Both requests are cut off, and the phone is given back."""
    have, model = models([HANG], intent=[HANG])
    work = Work(rig.agent(have), order(TASK, quick=False))
    async with asyncio.timeout(LIMIT):
        while not (model.asked(Purpose.ACT) and model.asked(Purpose.INTENT)):
            await asyncio.sleep(0)
        await work.agent.cancel("7")
    ended = await work.ended()
    assert ended.outcome is Outcome.CANCELLED
    assert not lent.held
    assert not rig.inputs()


@pytest.mark.parametrize(
    "asked",
    [
        "what is the capital of Peru",
        f"add {'very ' * 60}much milk to my list",
        "add milk to my list\nthen add bread",
    ],
)
async def test_what_may_need_no_phone_or_a_plan_borrows_none(rig: Rig, lent: LentPhone, asked: str) -> None:
    """Of what the words alone do not show to be one act on a phone, no picture leaves the service."""
    have, _ = models([FINISH], intent=[data(kind="refuse", answer="No.")])
    await Work(rig.agent(have), order(asked, quick=False)).ended()
    assert "borrow" not in lent.log


async def test_another_run_is_not_lent_what_is_held(lent: LentPhone, rig: Rig) -> None:
    """A phone at work is not looked at."""
    async for _ in lent.acquire(RunId("1"), ""):
        pass
    have, model = models([], intent=[data(kind="refuse", answer="No.")])
    await Work(rig.agent(have), order(TASK, quick=False)).ended()
    assert "borrow" not in lent.log
    assert not model.asked(Purpose.ACT)
