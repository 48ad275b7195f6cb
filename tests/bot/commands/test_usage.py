"""usage: who sees what, grouped how, short enough for a phone's screen."""

from __future__ import annotations

from agent.run import Outcome
from tests.bot.commands.test_overview import words
from tests.bot.world import ADA, ANNA, BEN, PRIVATE, World


async def worked(world: World) -> None:
    """Anna's two tasks with a step each, and one of Ben's without."""
    for person in (ANNA, ANNA, BEN):
        task = await world.working("open settings", person)
        if person is ANNA:
            await world.step(task, 1)
        world.clock.advance(60.0)
        await world.end(task, Outcome.SUCCEEDED)


async def test_everybody_sees_their_own_and_an_admin_all(world: World) -> None:
    await worked(world)
    reply = await world.type("usage")
    assert reply.message is not None
    assert reply.message.private
    assert words(reply).startswith("Your usage, last 30 days\n1970-01-12\n  2 tasks · 2 steps · 2 min")
    assert "Everyone's usage" in words(await world.type("usage", ADA))
    assert "Total: 3 tasks" in words(await world.type("usage", ADA))
    assert "1 task · 0 steps" in words(await world.type("usage", BEN))


async def test_groups(world: World) -> None:
    await worked(world)
    text = words(await world.type("usage --by person --days 7", ADA))
    assert text.index("Anna\n  2 tasks") < text.index("Ben\n  1 task")
    assert "last 7 days" in text
    assert "Pixel\n  2 tasks" in words(await world.type("usage phone"))
    assert "not recorded\n  2 tasks" in words(await world.type("usage model"))


async def test_what_is_long_ago_is_left_out(world: World) -> None:
    await worked(world)
    world.clock.advance(3 * 86_400.0)
    assert "No tasks in that period." in words(await world.type("usage --days 2"))
    assert "2 tasks" in words(await world.type("usage --days 4", ANNA, PRIVATE))


async def test_only_the_latest_days_are_listed(world: World) -> None:
    for _ in range(17):
        task = await world.working()
        await world.end(task)
        world.clock.advance(86_400.0)
    text = words(await world.type("usage --days 60"))
    assert "1970-01-28" in text
    assert "1970-01-12" not in text
    assert "… and 2 more" in text
    assert "Total: 17 tasks" in text


async def test_what_cannot_be_grouped_or_counted_is_told(world: World) -> None:
    assert "Known: person, phone, role, model, day." in words(await world.type("usage --by moon"))
    for days in ("0", "367", "-1", "x", "٣", "9999999"):
        assert "from 1 to 366" in words(await world.type(f"usage --days {days}"))
