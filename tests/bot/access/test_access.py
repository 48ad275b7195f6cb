"""Who may do what, as a table.

Each guard was seen to matter: with its check taken out of `bot.people.access._checks` (one at a time: same_platform,
lists,
private, guild, chat, user, owner, approve, admin) at least one row of the table below failed.
"""

from __future__ import annotations

import itertools

import pytest

from bot.chats.installed import installed, model_of
from bot.domain.address import Address, Person, Place
from bot.domain.right import Right
from bot.people.access import AccessDecision, Lists, Policy, authorize
from bot.wiring.core import lists_of

ANNA = Person("discord", "1", "Anna")
BEN = Person("discord", "2", "Ben")
ADA = Person("discord", "9", "Ada the admin")
HOME = Place(Address("discord", "bot", "chan", "guild"))
THREAD = Place(Address("discord", "bot", "chan", "guild", "thread"))
OTHER_CHAN = Place(Address("discord", "bot", "other", "guild"))
OTHER_GUILD = Place(Address("discord", "bot", "chan", "elsewhere"))
PRIVATE = Place(Address("discord", "bot", "dm"), private=True)


def lists(guilds: str = "", chats: str = "", users: str = "", admins: str = "") -> Policy:
    sets = (frozenset(entry.split()) for entry in (guilds, chats, users, admins))
    return Policy({"discord": Lists(*sets)})


NOBODY = lists()
ONLY_ADMINS = lists(admins="9")
BY_GUILD = lists(guilds="guild", admins="9")
BY_CHAT = lists(chats="chan", admins="9")
BY_USER = lists(users="1", admins="9")
ALL = lists("guild", "chan", "1", "9")
USE, APPROVE, ADMIN = Right.USE, Right.APPROVE, Right.ADMIN


@pytest.mark.parametrize(
    ("person", "place", "right", "policy", "owner", "reason"),
    [
        # no list is nobody, whoever it is and wherever
        (ANNA, HOME, USE, NOBODY, None, "lists"),
        (ANNA, PRIVATE, USE, NOBODY, None, "lists"),
        (ADA, HOME, USE, ONLY_ADMINS, None, "lists"),
        (ADA, PRIVATE, ADMIN, ONLY_ADMINS, None, "lists"),
        (ANNA, HOME, USE, Policy(), None, "lists"),
        # each list that is set must match
        (ANNA, HOME, USE, BY_GUILD, None, ""),
        (ANNA, OTHER_CHAN, USE, BY_GUILD, None, ""),
        (ANNA, OTHER_GUILD, USE, BY_GUILD, None, "guild"),
        (ANNA, HOME, USE, BY_CHAT, None, ""),
        (ANNA, OTHER_CHAN, USE, BY_CHAT, None, "chat"),
        (ANNA, HOME, USE, BY_USER, None, ""),
        (BEN, HOME, USE, BY_USER, None, "user"),
        (ANNA, HOME, USE, ALL, None, ""),
        (ANNA, OTHER_CHAN, USE, ALL, None, "chat"),
        (ANNA, OTHER_GUILD, USE, ALL, None, "guild"),
        (BEN, HOME, USE, ALL, None, "user"),
        # a thread counts as its channel, and its own id opens nothing
        (ANNA, THREAD, USE, ALL, None, ""),
        (ANNA, Place(Address("discord", "bot", "other", "guild", "chan")), USE, ALL, None, "chat"),
        # private: only being named counts
        (ANNA, PRIVATE, USE, BY_GUILD, None, "private"),
        (ANNA, PRIVATE, USE, BY_CHAT, None, "private"),
        (ANNA, Place(Address("discord", "bot", "chan"), private=True), USE, BY_CHAT, None, "private"),
        (ANNA, PRIVATE, USE, BY_USER, None, ""),
        (ANNA, PRIVATE, USE, ALL, None, ""),
        (BEN, PRIVATE, USE, ALL, None, "private"),
        (ADA, PRIVATE, ADMIN, ALL, None, ""),
        # approving
        (ANNA, HOME, APPROVE, ALL, ANNA, ""),
        (ANNA, HOME, APPROVE, BY_GUILD, ANNA, "approve"),
        (ANNA, HOME, APPROVE, BY_CHAT, None, "approve"),
        (ANNA, HOME, APPROVE, BY_USER, BEN, "owner"),
        (ADA, HOME, APPROVE, BY_GUILD, ANNA, ""),
        # what is somebody else's
        (ANNA, HOME, USE, BY_GUILD, ANNA, ""),
        (BEN, HOME, USE, BY_GUILD, ANNA, "owner"),
        (ADA, HOME, USE, BY_GUILD, ANNA, ""),
        (ANNA, HOME, USE, BY_GUILD, Person("telegram", "1"), "owner"),
        # admins need an allowed place too
        (ADA, HOME, ADMIN, ALL, None, ""),
        (ADA, OTHER_CHAN, ADMIN, ALL, None, "chat"),
        (ADA, OTHER_GUILD, ADMIN, ALL, ANNA, "guild"),
        (ANNA, HOME, ADMIN, ALL, None, "admin"),
        # ids of one platform mean nothing on another
        (Person("telegram", "1"), HOME, USE, ALL, None, "same_platform"),
        (Person("web", "operator"), HOME, USE, ALL, None, "same_platform"),
        (Person("telegram", "1"), Place(Address("telegram", "bot", "chan")), USE, ALL, None, "lists"),
        # names mean nothing anywhere
        (Person("discord", "7", "1"), HOME, USE, BY_USER, None, "user"),
    ],
)
def test_table(person: Person, place: Place, right: Right, policy: Policy, owner: Person | None, reason: str) -> None:
    decision = authorize(person, place, right, policy, owner=owner)
    assert decision.allowed is (reason == "")
    assert next((check.name for check in decision.checks if not check.passed), "") == reason
    assert decision.reason


def test_admin_includes_every_right() -> None:
    for place, policy, right, owner in itertools.product(
        (HOME, THREAD, OTHER_CHAN, OTHER_GUILD, PRIVATE),
        (NOBODY, ONLY_ADMINS, BY_GUILD, BY_CHAT, BY_USER, ALL),
        Right,
        (None, ANNA, ADA),
    ):
        if authorize(ADA, place, Right.ADMIN, policy).allowed:
            assert authorize(ADA, place, right, policy, owner=owner).allowed


def test_nothing_is_allowed_without_use() -> None:
    for person, place, policy, right, owner in itertools.product(
        (ANNA, BEN, ADA),
        (HOME, THREAD, OTHER_CHAN, OTHER_GUILD, PRIVATE),
        (NOBODY, ONLY_ADMINS, BY_GUILD, BY_CHAT, BY_USER, ALL),
        Right,
        (None, ANNA, BEN),
    ):
        if not authorize(person, place, Right.USE, policy).allowed:
            assert not authorize(person, place, right, policy, owner=owner).allowed


@pytest.mark.parametrize("platform", ["web", "cli"])
@pytest.mark.parametrize("right", list(Right))
def test_the_operator_may_do_everything(platform: str, right: Right) -> None:
    place = Place(Address(platform, "local", "console"))
    assert authorize(Person(platform, "operator"), place, right, NOBODY, owner=ANNA).allowed


def test_a_decision_without_checks_is_a_refusal() -> None:
    assert not AccessDecision(()).allowed


def test_the_policy_comes_from_the_settings() -> None:
    settings = model_of(installed()).model_validate(
        {
            "discord_allowed_guild_ids": ("10",),
            "discord_allowed_channel_ids": ("20",),
            "discord_allowed_user_ids": ("30",),
            "discord_admin_user_ids": ("40",),
            "telegram_allowed_chat_ids": ("-50",),
            "telegram_allowed_user_ids": ("60",),
            "telegram_admin_user_ids": ("70",),
        }
    )
    policy = lists_of(settings, installed())
    one = frozenset
    assert policy.platforms["discord"] == Lists(one({"10"}), one({"20"}), one({"30"}), one({"40"}))
    assert policy.platforms["telegram"] == Lists(one(), one({"-50"}), one({"60"}), one({"70"}))
    topic = Place(Address("telegram", "bot", "-50", thread="3"))
    assert authorize(Person("telegram", "60"), topic, Right.APPROVE, policy, owner=Person("telegram", "60")).allowed
