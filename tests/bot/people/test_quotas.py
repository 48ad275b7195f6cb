"""Quotas by person and day: asked at acceptance and while a task works, in tiers that admins give."""

from __future__ import annotations

import asyncio
import itertools
import json
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.base import Usage
from agent.run import Outcome
from bot.config.settings import Settings, SettingsError, load_settings
from bot.domain.address import Address, Person
from bot.domain.limits import Tier
from bot.domain.outgoing import Message, Reply
from bot.domain.task import OverQuota, TaskState
from bot.domain.task_request import Origin, TaskRequest, WishedPhone
from tests.bot.schedules.rig import Rig
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, PRIVATE, World, a_phone, a_step_event, a_world

TIERS = {"guest": {"tasks": 1}, "basic": {"tasks": 2, "steps": 5}, "big": {"tasks": 9, "tokens": 1000}}
DAY = 86_400.0


def tiers(default: str = "basic", **changed: object) -> Settings:
    return Settings.model_validate({"tiers": TIERS | changed, "default_tier": default})


def words(reply: Reply) -> str:
    message = reply.message or Message()
    return "\n".join((message.heading, message.body, message.footer))


async def audited(world: World) -> list[tuple[str, str, str]]:
    return [(entry.kind, entry.person.id, str(entry.detail)) for entry in await world.store.audit.page(50)]


async def test_the_last_task_of_the_day_is_accepted_and_the_next_is_told_how_much_and_until_when(
    tmp_path: Path,
) -> None:
    """Seen failing with `admit` left out of `Record.accept`: the third task was accepted."""
    async with a_world(tmp_path, settings=tiers()) as world:
        for _ in range(2):
            assert (await world.type("do open settings")).task
        refused = await world.type("do open settings")
        assert not refused.task
        assert "2 of 2 tasks (tier basic)" in words(refused)
        assert "after 1970-01-13 00:00 (UTC)" in words(refused)
        assert ("over_quota", ANNA.id, "tasks 2/2 basic") in await audited(world)
        assert len(await world.task_service.active()) == 2, "nothing is kept of what was refused"
        assert (await world.type("do open settings", BEN)).task, "each has their own"
        assert (await world.type("do open settings", ADA)).task
        world.clock.advance(DAY)
        assert (await world.type("do open settings")).task, "a new day"
    async with a_world(tmp_path, settings=tiers()) as world:
        world._numbers = itertools.count(100)
        world.clock.advance(DAY)
        assert (await world.type("do open settings")).task
        assert not (await world.type("do open settings")).task, "a restart forgets nothing"


async def test_what_was_cancelled_in_the_queue_does_not_count(tmp_path: Path) -> None:
    async with a_world(tmp_path, settings=tiers("guest")) as world:
        task = await world.do()
        assert not (await world.type("do more")).task
        await world.type(f"cancel {task.id}")
        await world.until(task, TaskState.ENDED)
        assert (await world.type("do more")).task


async def test_who_is_in_which_tier(tmp_path: Path) -> None:
    nurse = replace(BEN, roles=frozenset({"guild/7", "guild/8"}))
    async with a_world(tmp_path, settings=tiers()) as world:
        tier_of, here = world.services.quotas.tier_of, CHANNEL.address
        assert tier_of(ANNA, here) == "basic"
        assert tier_of(ADA, here) == "", "an admin has none"
        assert tier_of(Person("web", "operator"), Address("web", "console", "home")) == ""
        assert "role:guild/7 is now in the tier guest" in words(await world.type("people tier role:7 guest", ADA))
        await world.type("people tier role:8 big", ADA)
        assert tier_of(nurse, here) == "big", "of several roles the largest"
        assert tier_of(nurse, PRIVATE.address) == "basic", "a role counts on its own server"
        await world.type("people tier 43 guest", ADA)
        assert tier_of(nurse, here) == "guest", "what was given to the person comes first"
        await world.type("people tier 99 big", ADA)
        assert tier_of(ADA, here) == "big"
        listed = words(await world.type("people", ADA))
        assert "discord:43: tier guest" in listed
        assert "role:guild/8: tier big" in listed
        assert "no longer in the tier big" in words(await world.type("people tier 99 default", ADA))
        assert "had no tier of their own" in words(await world.type("people tier 99 default", ADA))
        assert tier_of(ADA, here) == ""
        assert ("tier", ADA.id, "discord:43 guest") in await audited(world)
        assert ("tier", ADA.id, "discord:99 -big") in await audited(world)
        assert "set a tier" in words(await world.type("audit", ADA))
    async with a_world(tmp_path, settings=tiers()) as world:
        assert world.services.quotas.tier_of(BEN, CHANNEL.address) == "guest"


async def test_tiers_are_shown_and_only_those_that_are_defined_are_given(tmp_path: Path) -> None:
    async with a_world(tmp_path, settings=tiers()) as world:
        shown = words(await world.type("people tier", ADA))
        assert "basic: 2 tasks, 5 steps (the default)" in shown
        assert "big: 9 tasks, 1,000 tokens" in shown
        unknown = words(await world.type("people tier 43 huge", ADA))
        assert 'no tier "huge"' in unknown
        assert "guest, basic, big, default" in unknown
        assert "Only an admin" in words(await world.type("people tier 43 big", ANNA))
    async with a_world(tmp_path) as world:
        assert "No tier is defined" in words(await world.type("people tier", ADA))
        assert "Today" not in words(await world.type("usage"))


async def test_a_tier_that_is_gone_gives_nobody_more(tmp_path: Path) -> None:
    """Seen failing with the refusal of an undefined tier taken out of `admit`."""
    async with a_world(tmp_path, settings=tiers()) as world:
        await world.type("people tier 42 guest", ADA)
        task = await world.do()
    left = Settings.model_validate({"tiers": {"basic": {"tasks": 9}}, "default_tier": "basic"})
    async with a_world(tmp_path, settings=left) as world:
        refused = await world.type("do open settings")
        assert "guest is no longer defined" in words(refused)
        assert not refused.task
        fault = await world.services.quotas.reached_limit(task.id, 0, Usage())
        assert fault is not None
        assert "guest is no longer defined" in fault.sentence


async def test_usage_tells_what_is_left(tmp_path: Path) -> None:
    async with a_world(tmp_path, settings=tiers()) as world:
        assert "Today, tier basic: 0 of 2 tasks, 0 of 5 steps" in words(await world.type("usage"))
        task = await world.working()
        await world.step(task, 1)
        told = words(await world.type("usage"))
        assert "Today, tier basic: 1 of 2 tasks, 1 of 5 steps. Resets at 1970-01-13 00:00 (UTC)." in told
        assert "Today" not in words(await world.type("usage", ADA)), "an admin has no tier"


async def test_several_phones_count_as_several_tasks(tmp_path: Path) -> None:
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Moto"), a_phone("Nova"), settings=tiers()) as world:
        phones = tuple(WishedPhone(phone.id, phone.name) for phone in world.phones.list())
        wish = TaskRequest("open settings", ANNA, Origin(CHANNEL.address, ""), phones=phones)
        with pytest.raises(OverQuota, match="counts as 3 tasks"):
            await world.task_service.accept(wish)
        assert await world.task_service.active() == ()
        await world.task_service.accept(replace(wish, phones=phones[:2]))
        assert "2 of 2 tasks" in words(await world.type("do open settings"))
        for part in (await world.task_service.active())[1:]:
            assert await world.services.quotas.reached_limit(part.id, 5, Usage()) is not None, (
                "its tier is that of the whole"
            )


async def test_a_task_of_somebody_over_quota_is_blocked_with_what_and_when_and_told_once(tmp_path: Path) -> None:
    """The agent asks before anything that costs, when it has the phone, and after each step."""
    async with a_world(tmp_path, settings=tiers()) as world:
        quotas, first = world.services.quotas, await world.working()
        second = await world.do()
        assert await quotas.reached_limit(first.id, 4, Usage()) is None
        for number in range(1, 4):
            await world.step(first, number)
        assert await quotas.reached_limit(second.id, 1, Usage()) is None, "three of the one and one of the other"
        fault = await quotas.reached_limit(second.id, 2, Usage())
        assert fault is not None
        assert fault.outcome is Outcome.BLOCKED
        assert fault.sentence == (
            "Today's quota is used up: 5 of 5 steps (tier basic). The task was stopped there and is not done. "
            "The quota resets at 1970-01-13 00:00 (UTC); start the rest as a new task then."
        )
        assert await quotas.reached_limit(second.id, 2, Usage()) == fault
        kept = [entry for entry in await audited(world) if entry[0] == "over_quota"]
        assert kept == [("over_quota", ANNA.id, "steps 5/5 basic")]
        await world.type("people tier 42 big", ADA)
        assert await quotas.reached_limit(second.id, 2, Usage()) is None, "a tier that is given counts at once"
        assert await quotas.reached_limit(second.id, 2, Usage(input=900, output=100)) is not None
        await world.type("people tier 42 guest", ADA)
        assert await quotas.reached_limit(first.id, 0, Usage()) is None
        started = await quotas.reached_limit(second.id, 0, Usage())
        assert started is not None, "of what waits, the earlier comes first"
        assert "1 of 1 tasks" in started.sentence
        assert await quotas.reached_limit(second.id, 1, Usage()) is None, "what has begun is not stopped by it"
        await world.type("people tier 42 default", ADA)
        world.clock.advance(DAY)
        fault = await quotas.reached_limit(second.id, 2, Usage())
        assert fault is not None
        assert "the quota has reset since" in fault.sentence, "it counts for the day on which it was given"


async def test_a_tier_by_role_is_the_one_of_the_roles_when_the_phone_is_given(tmp_path: Path) -> None:
    """Seen failing (the task of the big tier goes on) without `now_with` in `Quotas.update_tier`."""
    nurse = replace(BEN, roles=frozenset({"guild/8"}))
    async with a_world(tmp_path, settings=tiers("", none={"tokens": 0})) as world:
        quotas = world.services.quotas
        await world.type("people tier role:8 big", ADA)
        await world.type("people tier role:9 none", ADA)
        task = await world.do("open settings", nurse)
        assert await quotas.reached_limit(task.id, 0, Usage()) is None
        await quotas.update_tier(task, replace(BEN, roles=frozenset({"guild/9"})))
        fault = await quotas.reached_limit(task.id, 0, Usage())
        assert fault is not None
        assert "(tier none)" in fault.sentence
        await quotas.update_tier(task, nurse)
        assert await quotas.reached_limit(task.id, 0, Usage()) is None
        await quotas.update_tier(task, BEN)
        assert await world.store.tiers.of_task(task.id) == "", "without any of the roles there is the default: none"
        await world.type("people tier 43 big", ADA)
        await quotas.update_tier(task, replace(BEN, roles=frozenset({"guild/9"})))
        assert await quotas.reached_limit(task.id, 0, Usage()) is None, "what was given to the person comes first"


async def test_a_scheduled_task_over_quota_is_told_and_kept(tmp_path: Path) -> None:
    async with a_world(tmp_path, settings=tiers("guest")) as world:
        rig = Rig(world)
        await rig.plan("every 1h do check the mail")
        await world.do("something else")
        told = (await rig.after(3600.0))[-1]
        assert (told.outcome, told.text) == (Outcome.BLOCKED, "check the mail")
        assert "1 of 1 tasks (tier guest)" in told.summary
        assert not (await rig.schedules())[0].paused, "it is tried again the next time"


@dataclass
class Oracle:
    """What somebody with a pencil would count."""

    tier: Tier
    tasks: dict[tuple[str, date], int] = field(default_factory=lambda: defaultdict(int))
    steps: dict[tuple[str, date], int] = field(default_factory=lambda: defaultdict(int))
    tokens: dict[tuple[str, date], int] = field(default_factory=lambda: defaultdict(int))
    cost: dict[tuple[str, date], float] = field(default_factory=lambda: defaultdict(float))

    def day(self, now: float, person: Person) -> tuple[str, date]:
        return person.id, datetime.fromtimestamp(now, UTC).date()

    def open(self, key: tuple[str, date]) -> bool:
        limits = (self.tier.tasks, self.tier.steps, self.tier.tokens, self.tier.cost)
        used = (self.tasks[key], self.steps[key], self.tokens[key], self.cost[key])
        return all(limit is None or amount < limit for amount, limit in zip(used, limits, strict=True))


limit = st.none() | st.integers(0, 6)
some_tier = st.builds(
    Tier,
    tasks=limit,
    steps=limit,
    tokens=st.none() | st.integers(0, 600),
    cost=st.none() | st.sampled_from((0.0, 1.0, 2.5)),
)
deeds = st.lists(
    st.tuples(
        st.sampled_from((ANNA, BEN)),
        st.sampled_from((0.0, 3600.0, 50_000.0)),
        st.integers(0, 3),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=15)
@given(tier=some_tier, done=deeds)
def test_it_counts_as_somebody_with_a_pencil_would(tier: Tier, done: list[tuple[Person, float, int, bool]]) -> None:
    """Random tiers, people, times and work, over restarts: what is accepted and when work has to stop."""
    with tempfile.TemporaryDirectory() as path:
        asyncio.run(_compared(Path(path), tier, done))


async def _compared(path: Path, tier: Tier, done: list[tuple[Person, float, int, bool]]) -> None:
    oracle, now, numbers = Oracle(tier), 1_000_000.0, itertools.count(1)
    configured = Settings.model_validate({"tiers": {"one": tier}, "default_tier": "one"})
    todo = list(done)
    while todo:
        async with a_world(path, settings=configured) as world:
            # Events of a former process are other events.
            world._numbers = numbers
            world.clock.now = now
            while todo:
                person, later, steps, restart = todo.pop(0)
                world.clock.advance(later)
                now = world.clock.now
                key = oracle.day(now, person)
                task = (await world.type("do open settings", person)).task
                assert bool(task) is oracle.open(key), (tier, key)
                if task:
                    await _worked(world, task, steps, oracle, key)
                if restart:
                    break


async def _worked(world: World, task: str, steps: int, oracle: Oracle, key: tuple[str, date]) -> None:
    oracle.tasks[key] += 1
    found = await world.task_service.known(task)
    for number in range(1, steps + 1):
        event = a_step_event(found, number)
        event = event.model_copy(update={"usage": replace(event.usage, cost=0.5 * number)})
        world.agent.tell(task, event)
        await world.until(found, lambda task, number=number: task.steps >= number)  # type: ignore[misc]
        oracle.steps[key] += 1
        oracle.tokens[key] += 110
        oracle.cost[key] += 0.5
        stop = await world.services.quotas.reached_limit(task, number, event.usage)
        tier = oracle.tier
        spent = (oracle.steps[key], oracle.tokens[key], oracle.cost[key])
        over = any(
            limit is not None and used >= limit
            for used, limit in zip(spent, (tier.steps, tier.tokens, tier.cost), strict=True)
        )
        assert (stop is not None) is over, (tier, spent)


def test_tiers_are_checked_where_they_are_set(tmp_path: Path) -> None:
    file = tmp_path / "settings.env"

    def loaded(*lines: str) -> Settings:
        file.write_text("\n".join(lines), encoding="utf-8")
        return load_settings(file)

    known = loaded(f"TIERS={json.dumps(TIERS)}", "DEFAULT_TIER=basic")
    assert known.tiers["basic"] == Tier(tasks=2, steps=5)
    assert list(known.tiers) == ["guest", "basic", "big"], "their order counts"
    for wrong in (
        '{"a": {"tasks": -1}}',
        '{"a": {"weeks": 1}}',
        '{"A b": {}}',
        "[]",
        "nonsense",
        '{"a": {"steps": "5"}}',
    ):
        with pytest.raises(SettingsError, match=r"^TIERS: expected tiers by name"):
            loaded(f"TIERS={wrong}", "DEFAULT_TIER=a")
    with pytest.raises(SettingsError, match=r"^DEFAULT_TIER: expected the name of a tier in TIERS"):
        loaded('TIERS={"a": {}}', "DEFAULT_TIER=b")
    with pytest.raises(SettingsError, match=r"^DEFAULT_TIER"):
        loaded("DEFAULT_TIER=b")
