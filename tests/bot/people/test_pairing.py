"""Pairing: a code for strangers in private, approved once by an admin, with limits everywhere."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.chats.installed import installed, model_of
from bot.config.settings import load_settings
from bot.domain.address import Address, Person, Place
from bot.domain.outgoing import Message, Reply
from bot.people.access import Policy
from bot.people.pairing import LIFETIME, PAUSE, WRONG_ALLOWED, Locked, Pairing
from tests.bot.world import ADA, ANNA, CHANNEL, EVE, PRIVATE, Clock, World, a_world

OPERATOR = Person("web", "operator", "operator")
CONSOLE = Place(Address("web", "console", "home"))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A service without any list."""
    async with a_world(tmp_path, policy=Policy(), pairing=True) as made:
        yield made


def words(reply: Reply) -> str:
    return (reply.message or Message()).body


def code_in(reply: Reply) -> str:
    found = re.search(r"\b[A-Z2-9]{8}\b", words(reply))
    assert found is not None, reply
    return found[0]


async def test_a_stranger_is_let_in_by_the_code(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    code = code_in(await world.say("hello", EVE, PRIVATE))
    assert await world.type("do open settings", EVE) == Reply()
    assert "Eve (discord:666), 60 minutes left" in words(await world.type("pair", OPERATOR, CONSOLE))
    assert "can now use the bot" in words(await world.type(f"pair {code.lower()}", OPERATOR, CONSOLE))
    assert (await world.type("do open settings", EVE, PRIVATE)).task
    assert "No one is waiting with this code" in words(await world.type(f"pair {code}", OPERATOR, CONSOLE))
    assert code not in caplog.text
    assert code not in repr(vars(world.rights.pairing))


@pytest.mark.parametrize("line", ["pair me", "pair unlink"])
async def test_the_console_has_no_account_to_link(world: World, line: str) -> None:
    assert "Nothing to link here" in words(await world.type(line, OPERATOR, CONSOLE))


async def test_nothing_but_pairing_is_done_and_nothing_is_said_in_groups(world: World) -> None:
    """Seen failing with the check for a private place in `offer` taken out."""
    for place in (CHANNEL, Place(replace(CHANNEL.address, thread="t"))):
        assert await world.type("help", ANNA, place) == Reply()
        assert await world.say("hello", ANNA, place) == Reply()
    assert await world.type("help", EVE, PRIVATE, stale=True) == Reply()
    assert "code" in words(await world.type("do open settings", EVE, PRIVATE))
    assert await world.task_service.recent(5) == ()


async def test_the_one_who_waits_cannot_approve_anything(world: World) -> None:
    """Seen failing with `require` left out of `pair`: Anna then let Eve in."""
    await world.type("people allow discord:42", OPERATOR, CONSOLE)
    code = code_in(await world.say("hello", EVE, PRIVATE))
    assert "Only an admin" in words(await world.type(f"pair {code}", ANNA, PRIVATE))
    assert "Only an admin" not in words(await world.type(f"pair {code}", EVE, PRIVATE))
    assert await world.type("do open settings", EVE, PRIVATE) == Reply()


async def test_it_is_off_unless_it_is_turned_on(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        assert await world.say("hello", EVE, PRIVATE) == Reply()
        assert "Pairing is off" in words(await world.type("pair ABCDEFGH", ADA))


def test_a_code_is_good_once_and_for_an_hour() -> None:
    clock = Clock()
    pairing = Pairing(clock)
    code = pairing.code_for(EVE)
    clock.advance(LIFETIME)
    assert pairing.approve(code, ADA) is None
    code = pairing.code_for(EVE)
    assert pairing.approve(code, ADA) == EVE
    assert pairing.approve(code, ADA) is None


def test_three_wait_on_one_platform_and_each_has_one_code() -> None:
    clock = Clock()
    pairing = Pairing(clock)
    first = pairing.code_for(Person("discord", "1"))
    assert pairing.code_for(Person("discord", "1")) == ""
    clock.advance(PAUSE)
    second = pairing.code_for(Person("discord", "1"))
    assert second
    assert pairing.approve(first, ADA) is None
    assert all(pairing.code_for(Person("discord", str(number))) for number in (2, 3))
    assert pairing.code_for(Person("discord", "4")) == ""
    assert pairing.code_for(Person("telegram", "4"))
    assert len(pairing.waiting()) == 4


def test_wrong_codes_lock_the_door_for_an_hour() -> None:
    """Seen failing with the check of `_wrong` in `approve` taken out: the right code was then taken."""
    clock = Clock()
    pairing = Pairing(clock)
    for _ in range(WRONG_ALLOWED):
        assert pairing.approve("AAAAAAAA", ADA) is None
    code = pairing.code_for(EVE)
    with pytest.raises(Locked):
        pairing.approve(code, ADA)
    clock.advance(LIFETIME)
    assert pairing.approve(pairing.code_for(EVE), ADA) == EVE


async def test_the_lock_is_told(world: World) -> None:
    for _ in range(WRONG_ALLOWED):
        await world.type("pair AAAAAAAA", OPERATOR, CONSOLE)
    assert "Too many wrong codes" in words(await world.type("pair AAAAAAAA", OPERATOR, CONSOLE))


def test_with_pairing_a_chat_starts_without_lists(tmp_path: Path) -> None:
    file = tmp_path / "env"
    file.write_text("DISCORD_BOT_TOKEN=x\nTELEGRAM_BOT_TOKEN=1:x\nPAIRING=on\n", encoding="utf-8")
    settings = load_settings(file, model_of(installed()))
    assert not any(platform.refusal(settings) for platform in installed())
