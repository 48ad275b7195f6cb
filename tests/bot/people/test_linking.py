"""Linked accounts: one person on several platforms, linked by a code, with no more rights than are safe."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.questions import QuestionKind
from bot.application.schedules import MOST
from bot.config.settings import Settings
from bot.domain.address import Address, Person, Place
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Grant, Right
from bot.domain.task import TaskState
from bot.people.access import Lists, Policy, authorize
from bot.people.pairing import LIFETIME, WRONG_ALLOWED, WRONG_TOGETHER, Linking, Locked, Pairing
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, EVE, POLICY, PRIVATE, Clock, World, a_world

TELE_ANNA = Person("telegram", "5", "Anna on Telegram")
TELE_EVE = Person("telegram", "6", "Eve on Telegram")
TELE = Place(Address("telegram", "bot", "5"), private=True)
TELE_GROUP = Place(Address("telegram", "bot", "-100"))
KNOWN = Policy({**POLICY.platforms, "telegram": Lists(chats=frozenset({"-100"}), users=frozenset({"5"}))})
OPERATOR = Person("web", "operator", "operator")
CONSOLE = Place(Address("web", "console", "home"))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Anna is known on both platforms."""
    async with a_world(tmp_path, policy=KNOWN) as made:
        yield made


def words(reply: Reply) -> str:
    message = reply.message or Message()
    return f"{message.heading}\n{message.body}"


def code_in(reply: Reply) -> str:
    found = re.search(r"\b[A-Z2-9]{8}\b", words(reply))
    assert found is not None, reply
    return found[0]


async def link(world: World, known: Person = ANNA, other: Person = TELE_ANNA) -> Reply:
    code = code_in(await world.type("pair me", known, PRIVATE if known.platform == "discord" else TELE))
    there = TELE if other.platform == "telegram" else PRIVATE
    assert "type the code once more" in words(await world.type(f"pair {code}", other, there)).lower()
    return await world.type(f"pair {code.lower()}", other, there)


async def test_two_accounts_become_one_person_until_they_are_unlinked(tmp_path: Path) -> None:
    """Seen failing with `join` left out of `Rights.link`."""
    async with a_world(tmp_path, policy=KNOWN) as world:
        task = await world.working("a private thing", ANNA, PRIVATE)
        assert "no task" in words(await world.type(f"cancel {task.id}", TELE_ANNA, TELE)).lower()
        assert "now count as one person" in words(await link(world))
        assert "Linked with: Anna (discord:42)" in words(await world.type("whoami", TELE_ANNA, TELE))
        assert "Anna on Telegram (telegram:5)" in words(await world.type("whoami", ANNA, PRIVATE))
        assert "a private thing" in words(await world.type("tasks", TELE_ANNA, TELE))
        assert "is busy with task" not in words(await world.type("file report", TELE_ANNA, TELE))
        asked = await world.ask(task)
        assert "Answered" in words(await world.type("answer the blue one", TELE_ANNA, TELE))
        found = await world.task_service.question(asked.question.id)
        assert found is not None
        assert found.answer == "the blue one"
        await world.type("cancel", TELE_ANNA, TELE)
        await world.until(task, TaskState.ENDED)
        kinds = [(entry.kind, entry.person.id, entry.detail) for entry in await world.store.audit.page(9)]
        assert ("linked", "5", "discord:42 telegram:5") in kinds
        listed = words(await world.type("people", OPERATOR, CONSOLE))
        assert "One person: discord:42 = telegram:5" in listed
    async with a_world(tmp_path, policy=KNOWN) as world:
        assert "Linked with" in words(await world.type("whoami", ANNA, PRIVATE))
        assert "no longer linked with discord:42" in words(await world.type("pair unlink", TELE_ANNA, TELE))
        assert "Linked with" not in words(await world.type("whoami", ANNA, PRIVATE))
        assert "is not linked" in words(await world.type("pair unlink", TELE_ANNA, TELE))
        assert "a private thing" not in words(await world.type("tasks", TELE_ANNA, TELE))


async def test_what_is_private_stays_out_of_groups_over_a_link_too(world: World) -> None:
    await world.working("a private thing", ANNA, PRIVATE)
    await link(world)
    assert "telegram" not in words(await world.type("whoami", ANNA))
    assert "is not linked" in words(await world.type("people unlink role:42", ADA))
    assert "a private thing" not in words(await world.type("tasks", TELE_ANNA, TELE_GROUP))


async def test_rights_that_admins_gave_follow_but_never_admin_and_never_the_lists() -> None:
    """Seen failing with `min` left out of `Policy.grants_of`: a linked account of an admin was an admin."""
    linked = ((ANNA, TELE_EVE),)
    open_group = Policy({"telegram": Lists(chats=frozenset({"-100"}))}, links=linked)

    def may(policy: Policy, right: Right, place: Place = TELE, owner: Person | None = None) -> bool:
        return authorize(TELE_EVE, place, right, policy, owner=owner).allowed

    lists = Policy({**POLICY.platforms}, links=linked)
    assert authorize(ANNA, PRIVATE, Right.APPROVE, lists).allowed
    assert not may(lists, Right.USE), "a list names an account and not a person"
    admins = Policy({"discord": Lists(admins=frozenset({"42"}))}, links=linked)
    assert not may(admins, Right.USE)
    for right in Right:
        given = replace(open_group, grants=(Grant("discord", "42", right),))
        assert may(given, Right.USE)
        assert may(given, Right.APPROVE) is (right in {Right.APPROVE, Right.ADMIN})
        assert may(given, Right.OPERATE) is (right is Right.OPERATE)
        assert not may(given, Right.ADMIN)
        assert may(given, Right.USE, TELE_GROUP)
        assert not may(given, Right.USE, Place(Address("telegram", "bot", "-999"))), "lists of chats hold all the same"
        assert may(given, Right.USE, owner=ANNA)
        assert not may(given, Right.USE, owner=BEN)
    of_role = replace(open_group, grants=(Grant("discord", "7", Right.USE, guild="guild"),))
    assert not may(of_role, Right.USE), "a role stays on its server"
    one_phone = replace(open_group, grants=(Grant("discord", "42", Right.USE, phone="pixel"),))
    assert authorize(TELE_EVE, TELE, Right.USE, one_phone, phone="pixel").allowed
    assert not authorize(TELE_EVE, TELE, Right.USE, one_phone, phone="moto").allowed


async def test_taking_a_right_back_leaves_no_way_in_over_a_link(tmp_path: Path) -> None:
    """Seen failing with `unlink` left out of `people deny`."""
    async with a_world(tmp_path, policy=POLICY, pairing=True) as world:
        await world.type("people allow discord:666", OPERATOR, CONSOLE)
        await link(world, EVE, TELE_EVE)
        assert (await world.type("do open settings", TELE_EVE, TELE)).task
        told = words(await world.type("people deny telegram:6", OPERATOR, CONSOLE))
        assert "telegram:6 is no longer linked with discord:666" in told
        assert not (await world.type("do open settings", TELE_EVE, TELE)).task
        assert (await world.type("do open settings", EVE, PRIVATE)).task
        assert "is not linked" in words(await world.type("people unlink discord:666", ADA))


async def test_a_stranger_can_type_a_code_only_while_pairing_is_on_and_in_private(tmp_path: Path) -> None:
    """Seen failing with the look at `pairing` taken out of `typed_by_stranger`."""
    for name in ("off", "on"):
        (tmp_path / name).mkdir()
    async with a_world(tmp_path / "off", policy=POLICY) as world:
        code = code_in(await world.type("pair me", ANNA, PRIVATE))
        for _ in range(2):
            assert await world.type(f"pair {code}", TELE_EVE, TELE) == Reply()
        assert world.rights.policy.links == ()
    async with a_world(tmp_path / "on", policy=POLICY, pairing=True) as world:
        code = code_in(await world.type("pair", ANNA, PRIVATE))
        assert await world.type(f"pair {code}", TELE_EVE, TELE_GROUP) == Reply()
        assert "Anna (discord:42)" in words(await world.say(code, TELE_EVE, TELE))
        told = words(await world.invoke(CommandCall("pair", {"code": code}), TELE_EVE, TELE))
        assert "now count as one person" in told
        assert "does not carry over to this platform" in told, "Anna is named by a list, and that is for her account"
        assert not (await world.type("do open settings", TELE_EVE, TELE)).task


async def test_nobody_is_linked_by_a_slip_and_nobody_else_confirms(world: World) -> None:
    """Seen failing with the confirmation left out of `typed`."""
    code = code_in(await world.type("pair me", ADA, PRIVATE))
    assert "if somebody sent it to you, do not" in words(await world.type(f"pair {code}", TELE_ANNA, TELE))
    assert world.rights.policy.links == ()
    await world.type("people allow telegram:6", OPERATOR, CONSOLE)
    assert "once more" in words(await world.type(f"pair {code}", TELE_EVE, TELE)), "the first word of another account"
    assert world.rights.policy.links == ()
    assert "one person" in words(await world.type(f"pair {code}", TELE_ANNA, TELE))
    assert "Only an admin" in words(await world.type(f"pair {code}", TELE_EVE, TELE)), "a code is good once"


async def test_a_code_that_others_could_read_is_not_good_any_more(world: World) -> None:
    """Seen failing with the look at the place left out of `typed`."""
    assert "in private" in words(await world.type("pair", ANNA)), "none is given in a group"
    assert "Your code" in words(await world.invoke(CommandCall("pair", {"code": "me"}), BEN)), "only they see it"
    code = code_in(await world.type("pair", ANNA, PRIVATE))
    assert "no longer valid" in words(await world.type(f"pair {code}", TELE_ANNA, TELE_GROUP))
    assert "Only an admin" in words(await world.type(f"pair {code}", TELE_ANNA, TELE))


async def test_who_cannot_be_linked(world: World) -> None:
    await world.type("people allow telegram:6", OPERATOR, CONSOLE)
    code = code_in(await world.type("pair", ANNA, PRIVATE))
    assert "another platform" in words(await world.type(f"pair {code}", BEN, PRIVATE))
    assert "cannot get a new code yet" in words(await world.type("pair me", ANNA, PRIVATE))
    assert "Nothing to link here" in words(await world.type("pair me", OPERATOR, CONSOLE))
    await world.type(f"pair {code}", TELE_ANNA, TELE)
    assert "one person" in words(await world.type(f"pair {code}", TELE_ANNA, TELE))
    world.clock.advance(120.0)
    assert "already linked" in words(await link(world, ANNA, TELE_EVE))
    assert "already linked" in words(await link(world, BEN, TELE_ANNA))


async def test_quotas_of_linked_accounts_are_counted_together(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"tiers": {"small": {"tasks": 1}, "basic": {"tasks": 2}, "big": {"tasks": 9}}, "default_tier": "basic"}
    )
    async with a_world(tmp_path, policy=KNOWN, settings=settings) as world:
        await link(world)
        assert (await world.type("do one", ANNA)).task
        assert (await world.type("do two", TELE_ANNA, TELE)).task
        for person, place in ((ANNA, CHANNEL), (TELE_ANNA, TELE)):
            assert "2 of 2 tasks" in words(await world.type("do three", person, place))
        assert "Total: 2 tasks" in (await world.type("usage", TELE_ANNA, TELE)).message.footer  # type: ignore[union-attr]
        await world.type("people tier telegram:5 big", OPERATOR, CONSOLE)
        assert (await world.type("do three", ANNA)).task, "a tier is the person's"
        await world.type("people tier discord:42 small", OPERATOR, CONSOLE)
        refused = words(await world.type("do four", TELE_ANNA, TELE))
        assert "tier small" in refused, "a link is no way out of a smaller tier"


def test_guessing_is_locked_for_each_account_and_for_all_together() -> None:
    clock = Clock()
    linking = Linking(clock)
    code = linking.code_for(ANNA)
    for _ in range(WRONG_ALLOWED):
        assert linking.owner_of("AAAAAAAA", TELE_EVE) is None
        linking.count_wrong_code(TELE_EVE)
    with pytest.raises(Locked):
        linking.owner_of(code, TELE_EVE)
    assert linking.owner_of(code, TELE_ANNA) == ANNA, "others are not locked out by it"
    for number in range(WRONG_TOGETHER):
        linking.count_wrong_code(Person("telegram", str(number)))
    with pytest.raises(Locked):
        linking.owner_of(code, TELE_ANNA)
    clock.advance(LIFETIME + 1)
    assert linking.owner_of(code, TELE_ANNA) is None, "codes are good for an hour"


async def test_a_locked_stranger_is_a_stranger(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with a_world(tmp_path, policy=POLICY, pairing=True) as world:
        code = code_in(await world.type("pair me", ANNA, PRIVATE))
        for _ in range(WRONG_ALLOWED):
            await world.say("AAAAAAAA", TELE_EVE, TELE)
        reply = await world.say(code, TELE_EVE, TELE)
        assert "discord:42" not in words(reply)
        assert code not in caplog.text
        assert code not in repr(vars(world.rights.linking))
        assert isinstance(world.rights.pairing, Pairing)


async def test_an_approval_over_a_link_needs_the_right(tmp_path: Path) -> None:
    async with a_world(tmp_path, policy=POLICY) as world:
        await world.type("people allow telegram:6", OPERATOR, CONSOLE)
        await link(world, ANNA, TELE_EVE)
        asked = await world.ask(await world.working("pay", ANNA, PRIVATE), QuestionKind.APPROVE, ("allow", "deny"))
        assert "Approving needs" in words(await world.type("answer allow", TELE_EVE, TELE))
        await world.type("people allow discord:42 admin", OPERATOR, CONSOLE)
        assert "Approving needs" not in words(await world.type("answer allow", TELE_EVE, TELE))
        found = await world.task_service.question(asked.question.id)
        assert found is not None
        assert found.answer == "allow"


ACCOUNTS = (ANNA, BEN, TELE_ANNA, TELE_EVE)
PLACES = (CHANNEL, PRIVATE, TELE, TELE_GROUP)
some_ids = st.frozensets(st.sampled_from([account.id for account in ACCOUNTS]))
some_lists = st.builds(
    Lists, chats=st.sampled_from((frozenset(), frozenset({"chan", "-100"}))), users=some_ids, admins=some_ids
)
some_grants = st.lists(
    st.builds(
        lambda account, right, phone: Grant(account.platform, account.id, right, phone=phone),
        st.sampled_from(ACCOUNTS),
        st.sampled_from(tuple(Right)),
        st.sampled_from(("", "pixel")),
    ),
    max_size=4,
).map(tuple)


@pytest.mark.slow
@given(lists=some_lists, grants=some_grants, known=st.sampled_from(ACCOUNTS[:2]), other=st.sampled_from(ACCOUNTS[2:]))
def test_a_link_is_as_if_an_admin_had_given_the_same_to_both_but_never_admin(
    lists: Lists, grants: tuple[Grant, ...], known: Person, other: Person
) -> None:
    """Seen failing with `min` left out of `Policy.grants_of`."""
    platforms = {"discord": lists, "telegram": lists}
    linked = Policy(platforms, grants, links=((known, other),))
    for person, twin in ((known, other), (other, known)):
        also = [
            Grant(
                person.platform,
                person.id,
                Right.APPROVE if grant.right is Right.ADMIN else grant.right,
                phone=grant.phone,
            )
            for grant in grants
            if (grant.platform, grant.id) == (twin.platform, twin.id)
        ]
        alone = Policy(platforms, (*grants, *also))
        for place, right, phone in itertools.product(PLACES, Right, ("", "pixel", "moto")):
            expected = authorize(person, place, right, alone, phone=phone).allowed
            assert authorize(person, place, right, linked, phone=phone).allowed is expected


async def test_the_most_schedules_are_those_of_both_accounts(world: World) -> None:
    """Seen failing with the schedules of the account that asks alone."""
    for _ in range(MOST - 1):
        assert "Schedule" in words(await world.type("schedule every 1h do look", ANNA, PRIVATE))
    await link(world)
    await world.type("schedule every 1h do look", TELE_ANNA, TELE)
    assert len(await world.store.schedules.all()) == MOST
    for person, place in ((ANNA, PRIVATE), (TELE_ANNA, TELE)):
        assert f"You already have {MOST} schedules" in words(await world.type("schedule every 1h do it", person, place))
    assert len(await world.store.schedules.all()) == MOST
    await world.type("schedule every 1h do look", BEN, PRIVATE)
    assert len(await world.store.schedules.all()) == MOST + 1
