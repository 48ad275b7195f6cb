"""Menus of commands: as the rights are, in two languages, and told only when something changed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bot.chats.telegram.chat import TelegramChat
from bot.commands.spec import COMMANDS
from bot.domain.right import Grant, Right
from bot.people.access import Lists, Policy
from bot.people.subjects import Audience, audiences
from tests.bot.chats.telegram.conftest import QUICK, Home, running
from tests.bot.chats.telegram.recording import Recording

USED = [command.name for command in COMMANDS if command.right is not Right.ADMIN]
ALL = [command.name for command in COMMANDS]


class People:
    """A policy that a test may change."""

    def __init__(self, *users: str, chats: Sequence[str] = (), admins: Sequence[str] = ()) -> None:
        self.policy = Policy({"telegram": Lists(frozenset(), frozenset(chats), frozenset(users), frozenset(admins))})

    def __call__(self) -> tuple[Audience, ...]:
        return audiences(self.policy, "telegram")


@asynccontextmanager
async def shown(home: Home, people: People, path: Path) -> AsyncIterator[TelegramChat]:
    times = replace(QUICK, menus=0.02)
    async with running(home, Recording(), times=times, audiences=people, directory=path) as chat:
        yield chat


def names(home: Home, menu: str) -> list[str]:
    return [command["command"] for command in home.fake.world.menus.get(menu, [])]


async def test_each_sees_what_each_may_use(home: Home, tmp_path: Path) -> None:
    ada = home.fake.user("ada")
    home.fake.private(ada)
    group, alice = home.group.id, home.alice.id
    people = People(str(alice), chats=[str(group)], admins=[str(ada.id)])
    async with shown(home, people, tmp_path):
        await home.fake.wait_until(lambda: names(home, f"chat_member {group} {ada.id} zh"))
        assert names(home, "default") == names(home, "default zh") == ["help"]
        assert names(home, f"chat {alice}") == names(home, f"chat {group}") == USED
        assert names(home, f"chat {ada.id}") == names(home, f"chat_member {group} {ada.id}") == ALL
        english, chinese = home.fake.world.menus[f"chat {alice}"], home.fake.world.menus[f"chat {alice} zh"]
        assert english[0]["description"] != chinese[0]["description"]
        assert all(command["description"] for command in english)


async def test_what_did_not_change_is_not_told_again(home: Home, tmp_path: Path) -> None:
    """Seen failing without the fingerprints: every start set every menu."""
    people = People(str(home.alice.id))
    async with shown(home, people, tmp_path):
        await home.fake.wait_until(lambda: names(home, f"chat {home.alice.id} zh"))
        await home.fake.wait_until((tmp_path / "telegram_menus.json").exists)
    told = len(home.fake.called("setMyCommands"))
    async with shown(home, people, tmp_path):
        people.policy = replace(people.policy, grants=(Grant("telegram", str(home.alice.id), Right.ADMIN),))
        await home.fake.wait_until(lambda: names(home, f"chat {home.alice.id} zh") == ALL)
        assert len(home.fake.called("setMyCommands")) == told + 2
        people.policy = Policy()
        await home.fake.wait_until(lambda: not names(home, f"chat {home.alice.id} zh"))
        assert set(home.fake.world.menus) == {"default", "default zh"}


@pytest.mark.parametrize("told", ["[1]", "null", "7", '"x"', "{", "[" * 100_000, '{"": 1, "chat": {"a": "b"}}'])
@pytest.mark.parametrize("inner", [False, True])
async def test_an_odd_state_file_is_an_empty_one(home: Home, tmp_path: Path, told: str, inner: bool) -> None:
    """What is no object of texts is read as nothing."""
    held = json.dumps({str(home.fake.bot.id): told}) if inner else told
    (tmp_path / "telegram_menus.json").write_text(held)
    async with shown(home, People(str(home.alice.id)), tmp_path):
        await home.fake.wait_until(lambda: names(home, f"chat {home.alice.id} zh"))


async def test_an_account_that_is_no_text_in_the_state_file_is_unknown(home: Home, tmp_path: Path) -> None:
    """Also inside its texts: `{'default': '…'}` is no JSON, and menus are told all the same."""
    (tmp_path / "telegram_menus.json").write_text(json.dumps({str(home.fake.bot.id): {"": "told", "1/": "told"}}))
    async with shown(home, People(str(home.alice.id)), tmp_path):
        await home.fake.wait_until(lambda: names(home, f"chat {home.alice.id} zh"))


async def test_keeping_the_menus_that_ends_by_a_fault_is_in_the_log(
    home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log tells of it."""

    def broken() -> tuple[Audience, ...]:
        raise ZeroDivisionError

    async with running(home, Recording(), times=replace(QUICK, menus=0.02), audiences=broken, directory=tmp_path):
        await home.fake.wait_until(lambda: "ZeroDivisionError" in caplog.text)


async def test_a_menu_that_is_refused_keeps_nobody_from_the_others(
    home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home.fake.faults.fail("setMyCommands", 400, "Bad Request: BOT_COMMAND_INVALID")
    (tmp_path / "telegram_menus.json").write_text("[1]")
    async with shown(home, People("424242", str(home.alice.id)), tmp_path):
        await home.fake.wait_until(lambda: names(home, f"chat {home.alice.id} zh"))
    assert "bot_command_invalid" in caplog.text.lower()


async def test_a_flood_is_waited_out(home: Home, tmp_path: Path) -> None:
    home.fake.faults.flood(1, "setMyCommands")
    async with shown(home, People(str(home.alice.id)), tmp_path):
        await home.fake.wait_until(lambda: names(home, f"chat {home.alice.id} zh"))
    assert len(home.fake.called("setMyCommands")) == 5


@pytest.mark.parametrize("policy", [Policy(), Policy({"telegram": Lists(admins=frozenset({"9"}))})])
def test_where_nobody_may_do_anything_nobody_sees_a_menu(policy: Policy) -> None:
    assert audiences(policy, "telegram") == ()
