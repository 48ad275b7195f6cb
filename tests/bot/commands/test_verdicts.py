"""verdicts: admins see which controls are not read again, and have all of them read again."""

from __future__ import annotations

from agent.guards.press_verdicts import KeptVerdict
from tests.bot.commands.test_overview import words
from tests.bot.world import ADA, ANNA, World

NOW = 10_000_000.0
HARMLESS = KeptVerdict("a", "org.example.shop", "7", "cart", "a-model", NOW)


async def test_they_are_counted_and_forgotten(world: World) -> None:
    world.clock.now = NOW
    table, readings = world.store.press_verdicts, world.services.readings
    for key, at in (("a", NOW), ("b", NOW), ("old", 0.0)):
        await table.keep(KeptVerdict(key, HARMLESS.package, HARMLESS.version, "cart", HARMLESS.model, at))
    await readings.load()
    assert "org.example.shop 7: 2 (a-model)" in words(await world.type("verdicts", ADA))
    assert [each.key for each in await table.all(0.0)] == ["a", "b"]
    assert readings.of("a", "7") is not None
    assert "Forgotten" in words(await world.type("verdicts clear", ADA))
    assert readings.of("a", "7") is None
    assert await table.all(0.0) == ()
    assert "None" in words(await world.type("verdicts", ADA))


async def test_only_admins_see_and_forget_them(world: World) -> None:
    await world.store.press_verdicts.keep(HARMLESS)
    for line in ("verdicts", "verdicts clear"):
        assert "org.example.shop" not in words(await world.type(line, ANNA))
    assert await world.store.press_verdicts.all(0.0) == (HARMLESS,)
