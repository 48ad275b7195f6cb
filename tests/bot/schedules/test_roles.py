"""Who may use the bot by a role alone can schedule: the role is asked of the platform when the time has come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.events import Started
from agent.run import Outcome, RunId
from bot.config.settings import Settings
from bot.domain.chat import ChatError, FloodWait
from bot.domain.outgoing import Message, Reply
from bot.domain.task import TaskState
from bot.people.access import Lists, Policy
from tests.bot.chats.loopback import LoopbackChat
from tests.bot.schedules.rig import HOUR, Rig
from tests.bot.triggers.rig import NotifiedPhone
from tests.bot.world import ADA, EVE, a_phone, a_world

NURSE = replace(EVE, roles=frozenset({"guild/7"}))
LISTED = Policy({"discord": Lists(frozenset({"guild"}), frozenset({"chan"}), frozenset({"1"}), frozenset({"99"}))})


class Telling(LoopbackChat):
    """A platform that tells roles, or does not."""

    def __init__(self) -> None:
        super().__init__()
        self.roles: frozenset[str] | Exception = frozenset({"guild/7"})
        self.asked: list[tuple[str, str]] = []

    async def roles_of(self, person: str, guild: str) -> frozenset[str]:
        self.asked.append((person, guild))
        if isinstance(self.roles, Exception):
            raise self.roles
        return self.roles


@pytest.fixture
def chat() -> Telling:
    return Telling()


@pytest.fixture
async def rig(tmp_path: Path, chat: Telling) -> AsyncIterator[Rig]:
    """Nobody there is listed but an admin, and a role opens the channel."""
    tiers = Settings.model_validate({"tiers": {"few": {"tasks": 2}}})
    async with a_world(tmp_path, chat=chat, policy=LISTED, settings=tiers) as world:
        await world.type("people allow role:7", ADA)
        yield Rig(world)


def words(reply: Reply) -> str:
    return (reply.message or Message()).body


async def test_a_role_is_enough_as_long_as_it_is_held(rig: Rig, chat: Telling) -> None:
    """Seen failing with `with_roles` giving back roles that nobody was asked for."""
    await rig.plan("every 1h do look at the weather", NURSE)
    (first,) = await rig.after(HOUR)
    assert first.outcome is None
    assert chat.asked == [("666", "guild")]
    await rig.world.end(first)
    chat.roles = frozenset({"guild/8"})
    told = (await rig.after(HOUR))[-1]
    assert told.outcome is Outcome.BLOCKED
    assert "no longer allowed to do that" in told.summary
    assert (await rig.schedules())[0].paused


@pytest.mark.parametrize("trouble", [ChatError("Discord is away"), FloodWait(9.0), TimeoutError()])
async def test_roles_that_are_not_told_are_not_guessed(rig: Rig, chat: Telling, trouble: Exception) -> None:
    """Seen failing with the roles that the owner had when they made the plan used instead."""
    await rig.plan("every 1h do look at the weather", NURSE)
    chat.roles = trouble
    (told,) = await rig.after(HOUR)
    assert told.outcome is Outcome.BLOCKED
    assert "the platform could not say" in told.summary
    assert not (await rig.schedules())[0].paused
    chat.roles = frozenset({"guild/7"})
    assert (await rig.after(HOUR))[-1].outcome is None, "it is tried again the next time"


async def test_a_tier_of_a_role_counts_for_what_is_scheduled(rig: Rig) -> None:
    await rig.world.type("people tier role:7 few", ADA)
    await rig.plan("every 1h do look at the weather", NURSE)
    for _ in range(2):
        task = (await rig.after(HOUR))[-1]
        rig.world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
        await rig.world.end(await rig.world.until(task, TaskState.WORKING))
    told = (await rig.after(HOUR))[-1]
    assert "2 of 2 tasks (tier few)" in told.summary


async def test_where_no_roles_mean_anything_nobody_is_asked(rig: Rig, chat: Telling) -> None:
    await rig.world.type("people deny role:7", ADA)
    await rig.plan("every 1h do look at the weather", ADA)
    assert (await rig.after(HOUR))[-1].outcome is None
    assert chat.asked == []


async def test_a_platform_that_tells_no_roles_takes_no_such_plan(tmp_path: Path) -> None:
    async with a_world(tmp_path, policy=LISTED) as world:
        await world.type("people allow role:7", ADA)
        refused = words(await world.type("schedule every 1h do look at the weather", NURSE))
        assert "comes from a role" in refused
        assert await world.store.schedules.all() == ()


@pytest.mark.parametrize(
    "line",
    [
        "schedule --device pixel,nokia every 1h do look at the weather",
        "schedule --device nokia,pixel every 1h do look at the weather",
        "when pixel gets a notification from Chat do --device nokia look at the weather",
        "when nokia gets a notification from Chat do --device pixel look at the weather",
    ],
)
async def test_a_right_has_to_last_on_every_phone_that_is_used(tmp_path: Path, line: str) -> None:
    """Seen failing for the first with only the last phone looked at, and for the third without the trigger's phone."""
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Nokia"), policy=LISTED) as world:
        world.phones.touchable = {name: NotifiedPhone(world.clock) for name in ("pixel", "nokia")}
        await world.type("people allow role:7", ADA)
        await world.type("people --device nokia allow 666", ADA)
        assert "comes from a role" in words(await world.type(line, NURSE))
        assert await world.store.schedules.all() == ()
        lasting = line.replace("pixel", "nokia")
        assert "comes from a role" not in words(await world.type(lasting, NURSE))
        assert len(await world.store.schedules.all()) == 1
