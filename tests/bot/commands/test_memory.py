"""remember, forget, memories: kept by person, shown to that person alone, and removed when they say so."""

from __future__ import annotations

import pytest

from bot.application.own_facts import asks_for_all
from tests.bot.commands.test_overview import words
from tests.bot.world import ANNA, BEN, PRIVATE, World


async def test_a_fact_is_kept_shown_and_forgotten(world: World) -> None:
    assert "#1 I drink oat milk" in words(await world.type("remember I drink oat milk"))
    await world.type("remember the gym closes at ten")
    shown = words(await world.type("memories", ANNA, PRIVATE))
    assert shown.startswith("What I remember about you: 2 facts\n#1 I drink oat milk (you said it")
    assert words(await world.type("do 你知道我什么", ANNA, PRIVATE)) == shown
    gone = words(await world.type("forget OAT", ANNA, PRIVATE))
    assert gone.strip().startswith("Forgotten for good: 1 fact.")
    assert "backups" in gone
    assert "gym" in words(await world.type("memories", ANNA, PRIVATE))
    assert "1 fact" in words(await world.type("forget all", ANNA, PRIVATE))
    assert "I remember nothing" in words(await world.type("memories", ANNA, PRIVATE))


async def test_nobody_sees_or_forgets_what_is_another_persons(world: World) -> None:
    await world.type("remember my code word is tulip")
    assert "I remember nothing" in words(await world.type("memories", BEN, PRIVATE))
    for typed in ("forget 1", "forget tulip", "forget all"):
        assert "Nothing was forgotten" in words(await world.type(typed, BEN))
    assert "tulip" in words(await world.type("memories", ANNA, PRIVATE))


async def test_facts_are_not_shown_where_others_read(world: World) -> None:
    await world.type("remember my code word is tulip")
    await world.type("remember tulip is my flower")
    for typed in ("memories", "forget tulip"):
        told = words(await world.type(typed))
        assert "private chat" in told
        assert "tulip" not in told


async def test_of_several_none_is_forgotten(world: World) -> None:
    await world.type("remember tea at four")
    await world.type("remember tea with milk")
    told = words(await world.type("forget tea", ANNA, PRIVATE))
    assert "none was forgotten" in told
    assert "#2 tea with milk" in told
    assert "1 fact" in words(await world.type("forget #2", ANNA, PRIVATE))


async def test_what_is_too_long_is_not_kept(world: World) -> None:
    assert "Nothing was kept" in words(await world.type("remember " + "a" * 501))


@pytest.mark.parametrize(
    "text", ["what do you know about me", "What do you remember about me?", "你记得我什么？", "你知道关于我的什么"]
)
def test_the_question_for_all_is_known(text: str) -> None:
    assert asks_for_all(text)


@pytest.mark.parametrize(
    "text", ["what do you know about me and my cat", "open what do you know about me", "你知道什么"]
)
def test_another_question_is_not(text: str) -> None:
    assert not asks_for_all(text)
