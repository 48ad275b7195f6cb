"""A thousand random messages against a second, plainer account of the rules: who may start what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from bot.domain.address import Address, Person, Place
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Reply
from bot.people.access import Lists, Policy
from tests.bot.world import World, a_world

pytestmark = pytest.mark.slow

MESSAGES = 300
"""In each of the four runs."""

POLICIES = (
    {"discord": Lists(frozenset({"g1"}), frozenset(), frozenset({"1"}), frozenset({"2"}))},
    {"discord": Lists(frozenset({"g1"}), frozenset({"c1"}), frozenset(), frozenset({"2"}))},
    {"telegram": Lists(chats=frozenset({"-5"}), users=frozenset({"1"}), admins=frozenset({"2"}))},
    {
        "discord": Lists(admins=frozenset({"2"})),
        "telegram": Lists(users=frozenset({"1", "2"}), admins=frozenset({"2"})),
    },
)
PLACES = (
    Place(Address("discord", "bot", "c1", "g1")),
    Place(Address("discord", "bot", "c1", "g1", "thread")),
    Place(Address("discord", "bot", "c2", "g1")),
    Place(Address("discord", "bot", "c3", "g2")),
    Place(Address("discord", "bot", "dm"), private=True),
    Place(Address("telegram", "bot", "-5")),
    Place(Address("telegram", "bot", "-6")),
    Place(Address("telegram", "bot", "7"), private=True),
)
OPERATOR, CONSOLE = Person("web", "operator"), Place(Address("web", "console", "home"))


@dataclass
class Oracle:
    """The rules once more, on plain sets; it shares no code with `bot.people.access`."""

    lists: dict[str, Lists]
    given: dict[str, str] = field(default_factory=dict)
    """`discord:1` or `role:g1/7` → right."""

    def rights(self, person: Person, place: Place) -> set[str]:
        if person.platform != place.address.platform:
            return set()
        if person.platform == "web":
            return {"use", "admin"}
        listed = self.lists.get(person.platform, Lists())
        keys = {f"{person.platform}:{person.id}"}
        if place.address.guild:
            keys |= {f"role:{role}" for role in person.roles if role.split("/")[0] == place.address.guild}
        given = {right for key, right in self.given.items() if key in keys}
        named = bool(given) or person.id in listed.users or person.id in listed.admins
        open_lists = listed.guilds or listed.chats or listed.users
        if not open_lists and not given:
            return set()
        if place.private:
            if not named:
                return set()
        elif (
            (listed.guilds and place.address.guild not in listed.guilds)
            or (listed.chats and place.address.chat not in listed.chats)
            or (listed.users and not named)
        ):
            return set()
        return {"use", "admin"} if person.id in listed.admins or "admin" in given else {"use"}


def somebody(chance: Random) -> Person:
    platform = chance.choice(["discord", "discord", "telegram"])
    roles = frozenset(role for role in ("g1/7", "g2/7", "g1/8") if chance.random() < 0.3)
    return Person(platform, chance.choice("1234"), "Somebody", roles=roles if platform == "discord" else frozenset())


def somewhere(chance: Random, person: Person) -> Place:
    fitting = [place for place in PLACES if place.address.platform == person.platform]
    return chance.choice(fitting if chance.random() < 0.95 else PLACES)


@dataclass
class Crowd:
    """Random people, and what should come of what they do."""

    world: World
    chance: Random
    oracle: Oracle
    offers: list[tuple[str, Person]] = field(default_factory=list)

    async def message(self) -> tuple[Reply, bool]:
        """Something random happens: the reply, and whether a task should have begun."""
        person = self.chance.choice([somebody(self.chance)] * 9 + [OPERATOR])
        place = CONSOLE if person == OPERATOR else somewhere(self.chance, person)
        what: Callable[[Person, Place], Awaitable[tuple[Reply, bool]]] = self.chance.choice(
            [self.typed, self.slash, self.text, self.press, self.press, self.change]
        )
        return await what(person, place)

    async def typed(self, person: Person, place: Place) -> tuple[Reply, bool]:
        stale = self.chance.random() < 0.1
        incoming = self.world.incoming("!opengui do it", person, place, command="do it", stale=stale)
        reply = await self.world.commands.message(incoming)
        assert not (await self.world.commands.message(incoming)).task
        return reply, not stale and "use" in self.oracle.rights(person, place)

    async def slash(self, person: Person, place: Place) -> tuple[Reply, bool]:
        reply = await self.world.invoke(CommandCall("do", {}, "do it"), person, place)
        return reply, "use" in self.oracle.rights(person, place)

    async def text(self, person: Person, place: Place) -> tuple[Reply, bool]:
        reply = await self.world.say(self.chance.choice(["please do it", "post-2"]), person, place)
        offered = reply.message is not None and bool(reply.message.buttons)
        if offered:
            assert reply.message is not None
            self.offers.append((reply.message.buttons[0][0].data, person))
        # Whether it begins at once hangs on what else it may mean; that anything comes of it only on the rights.
        assert (offered or bool(reply.task)) == (place.private and "use" in self.oracle.rights(person, place))
        return reply, bool(reply.task)

    async def press(self, person: Person, place: Place) -> tuple[Reply, bool]:
        if not self.offers:
            return Reply(), False
        offer, owner = self.chance.choice(self.offers)
        if self.chance.random() < 0.6:
            person = replace(person, platform=owner.platform, id=owner.id)
            place = somewhere(self.chance, person)
        reply = await self.world.press(offer, person, place)
        same = (person.platform, person.id) == (owner.platform, owner.id)
        starts = same and "use" in self.oracle.rights(person, place)
        if starts:
            self.offers.remove((offer, owner))
        return reply, starts

    async def change(self, person: Person, place: Place) -> tuple[Reply, bool]:
        who = self.chance.choice(["discord:1", "discord:3", "discord:4", "telegram:3", "role:g1/7", "role:g2/7"])
        right = self.chance.choice(["use", "approve", "admin"])
        allow = self.chance.random() < 0.5
        reply = await self.world.type(f"people allow {who} {right}" if allow else f"people deny {who}", person, place)
        platform = "telegram" if who.startswith("telegram") else "discord"
        if "admin" in self.oracle.rights(person, place) and person.platform in {"web", platform}:
            if allow:
                self.oracle.given[who] = right
            else:
                self.oracle.given.pop(who, None)
        return reply, False


@pytest.mark.parametrize("run", range(len(POLICIES)))
async def test_nothing_starts_that_should_not_and_what_should_does(run: int, tmp_path: Path) -> None:
    """Seen failing with the check in `_press` taken out, with the comparison with the place's server in `Grant.names`
    taken out, and with `_read` left out of `deny`. Behind `_message` and `_invoke` stands a second check.
    """
    started = 0
    async with a_world(tmp_path, policy=Policy(POLICIES[run])) as world:
        crowd = Crowd(world, Random(run), Oracle(dict(POLICIES[run])))
        for number in range(MESSAGES):
            known = await world.task_service.recent(1)
            reply, should = await crowd.message()
            found = await world.task_service.recent(1)
            assert (found != () and found[0].id not in {task.id for task in known}) is should, (number, reply)
            assert bool(reply.task) is should
            if should:
                started += 1
                await world.task_service.cancel(reply.task, OPERATOR)
    assert started > MESSAGES / 25
