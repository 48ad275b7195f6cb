"""Tokens: whose they are, what they may do, and that nobody gets in with what the disk has."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.domain.address import Address, Person, Place
from bot.domain.right import Grant, Right
from bot.people.access import Lists, Policy, authorize
from bot.people.rights import Rights
from bot.people.tokens import DAY_S, TokenRefused
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.store import Store
from tests.bot.commands.test_gate_record import words
from tests.bot.world import ADA, ANNA, World
from tests.fixtures.databases import open_store

OPERATOR = Person("web", "operator", "operator")
HERE = Place(Address("api", "api", "discord:42"), private=True)


@pytest.fixture
async def store(tmp_path: Path) -> Store:
    return await open_store(tmp_path, clock=lambda: 1000.0)


async def rights_of(store: Store) -> Rights:
    return await Rights.open(Policy({"discord": Lists(users=frozenset({"42"}))}), store)


async def test_a_token_does_what_it_was_made_for_and_no_more(store: Store) -> None:
    rights = await rights_of(store)
    token, _ = await rights.add_token("ci", {Right.OPERATE}, OPERATOR, owner=ANNA, phones=["pixel"])

    def may(right: Right, phone: str = "") -> bool:
        return authorize(token.person, HERE, right, rights.policy, phone=phone).allowed

    assert may(Right.USE, "pixel")
    assert may(Right.OPERATE, "pixel")
    assert not may(Right.USE, "other")
    assert not may(Right.APPROVE, "pixel")
    assert not may(Right.ADMIN)
    # Its owner may approve, and that does not go over to it; nor does what it may go over to the owner.
    private = Place(Address("discord", "bot", "dm"), private=True)
    assert authorize(ANNA, private, Right.APPROVE, rights.policy, phone="pixel").allowed
    assert not authorize(ANNA, private, Right.OPERATE, rights.policy, phone="pixel").allowed
    await store.close()


async def test_its_tasks_are_its_owners(store: Store) -> None:
    rights = await rights_of(store)
    token, _ = await rights.add_token("ci", {Right.USE}, OPERATOR, owner=ANNA)
    service, _ = await rights.add_token("lamp", {Right.USE}, OPERATOR)
    assert rights.policy.same(token.person, ANNA)
    assert not rights.policy.same(service.person, ANNA)
    assert authorize(token.person, HERE, Right.USE, rights.policy, owner=ANNA).allowed
    assert not authorize(service.person, HERE, Right.USE, rights.policy, owner=ANNA).allowed
    await store.close()


@pytest.mark.sqlite
async def test_the_secret_is_nowhere_on_the_disk_and_holds_after_a_restart(tmp_path: Path) -> None:
    """Seen failing with the secret itself as its digest."""
    store = await open_store(tmp_path)
    _, secret = await (await rights_of(store)).add_token("ci", {Right.USE}, OPERATOR)
    await store.close()
    kept = b"".join(file.read_bytes() for file in list(tmp_path.glob(f"{DATABASE_NAME}*")))  # noqa: ASYNC240 - small
    assert b"ci" in kept
    assert secret.encode() not in kept
    again = await open_store(tmp_path)
    tokens = (await rights_of(again)).tokens
    found = tokens.find(secret)
    assert found is not None
    assert found.name == "ci"
    assert tokens.find(secret + "x") is None
    assert tokens.find(secret[:-1]) is None
    await again.close()


async def test_a_revoked_or_expired_token_opens_nothing(tmp_path: Path) -> None:
    """Seen failing without the look at `expires`."""
    store = await open_store(tmp_path)
    rights = await rights_of(store)
    told: list[bool] = []
    rights.tokens.on_change(lambda: told.append(True))
    token, secret = await rights.add_token("ci", {Right.USE}, OPERATOR, days=1)
    assert rights.tokens.find(secret) is not None
    assert await rights.revoke_token("ci", OPERATOR) is not None
    assert told == [True]
    assert rights.tokens.find(secret) is None
    assert not authorize(token.person, HERE, Right.USE, rights.policy).allowed
    await rights.add_token("old", {Right.USE}, OPERATOR, days=1)
    now = rights.tokens.listed()[0].made
    rights.tokens._clock = lambda: now + DAY_S
    assert rights.tokens.named("old") is None
    assert rights.tokens.grants == ()
    await store.close()


async def test_what_cannot_be_a_token_is_refused(store: Store) -> None:
    rights = await rights_of(store)
    await rights.add_token("ci", {Right.USE}, OPERATOR)
    for name, days in (("ci", 1), ("CI", 1), ("../x", 1), ("", 1), ("x" * 40, 1), ("new", 0), ("new", 10**9)):
        with pytest.raises(TokenRefused):
            await rights.add_token(name, {Right.USE}, OPERATOR, days=days)
    assert len(rights.tokens.listed()) == 1
    await store.close()


async def test_to_approve_and_to_operate_stand_beside_each_other(store: Store) -> None:
    rights = await rights_of(store)
    for right in (Right.APPROVE, Right.OPERATE):
        await rights.allow(Grant("discord", "7", right), ADA)
    assert {grant.right for grant in rights.policy.grants} == {Right.APPROVE, Right.OPERATE}
    await rights.allow(Grant("discord", "7", Right.USE), ADA)
    assert {grant.right for grant in rights.policy.grants} == {Right.USE}
    await store.close()


async def test_admins_see_and_revoke_them_in_a_chat(world: World) -> None:
    _, secret = await world.rights.add_token("ci", {Right.USE}, OPERATOR, owner=ANNA)
    assert "Only an admin" in words(await world.type("tokens", ANNA))
    listed = words(await world.type("tokens", ADA))
    assert "ci: use" in listed
    assert "discord:42" in listed
    assert secret not in listed
    assert "revoked" in words(await world.type("tokens revoke ci", ADA))
    assert 'no token "ci"' in words(await world.type("tokens revoke ci", ADA))
    assert world.rights.tokens.find(secret) is None


async def test_taking_somebodys_rights_takes_their_tokens(world: World) -> None:
    """Seen failing without the loop over `tokens.of`."""
    _, secret = await world.rights.add_token("ci", {Right.USE}, OPERATOR, owner=ANNA)
    assert "ci" in words(await world.type("people deny 42", ADA))
    assert world.rights.tokens.find(secret) is None
    await asyncio.sleep(0)
