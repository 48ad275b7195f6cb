"""Rights that admins give while the service runs: effective at once, kept, and audited."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.questions import QuestionKind
from bot.chats.installed import installed
from bot.commands.admin import audit
from bot.commands.request import Request
from bot.domain.address import Address, Person, Place
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Grant, Right
from bot.domain.task_request import Entitlement
from bot.people.access import Policy, authorize
from bot.people.subjects import Subject, subject_named
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, EVE, PRIVATE, World, a_phone, a_world

OPERATOR = Person("web", "operator", "operator")
CONSOLE = Place(Address("web", "console", "home"))
NAMINGS = {platform.name: platform.naming for platform in installed()}
NURSE = replace(EVE, roles=frozenset({"guild/7"}))


def words(reply: Reply) -> str:
    message = reply.message or Message()
    return f"{message.heading}\n{message.body}"


async def test_a_right_holds_from_the_moment_in_which_it_is_given_until_it_is_taken(tmp_path: Path) -> None:
    """Seen failing with `Rights._read` left out of `allow` and `deny`: Eve stayed out, and then stayed in."""
    async with a_world(tmp_path) as world:
        assert await world.type("do open settings", EVE, PRIVATE) == Reply()
        assert "Given: discord:666: use" in words(await world.type("people allow 666", ADA))
        assert (await world.type("do open settings", EVE, PRIVATE)).task
        assert (await world.type("do open settings", EVE)).task
        assert await world.type("do open settings", EVE, Place(replace(CHANNEL.address, guild="other"))) == Reply()
    async with a_world(tmp_path) as world:
        assert (await world.type("do and after a restart", EVE)).task
        assert "discord:666: use" in words(await world.type("people", ADA))
        assert "Taken back" in words(await world.type("people deny 666", ADA))
        assert await world.type("do open settings", EVE, PRIVATE) == Reply()
        assert world.commands.suggestions(EVE, CHANNEL, "device", "") == ()


async def test_a_role_counts_on_its_own_server_only(tmp_path: Path) -> None:
    """Seen failing with the comparison with the place's server in `Grant.names` taken out."""
    async with a_world(tmp_path) as world:
        assert "Given: role:guild/7: approve" in words(await world.type("people allow <@&7> approve", ADA))
        assert (await world.type("do open settings", NURSE)).task
        assert await world.type("do open settings", EVE) == Reply()
        assert await world.type("do open settings", NURSE, PRIVATE) == Reply()
        elsewhere = replace(EVE, roles=frozenset({"other/7"}))
        assert await world.type("do open settings", elsewhere) == Reply()
        place = Place(replace(CHANNEL.address, guild="other"))
        assert not authorize(NURSE, place, Right.USE, world.rights.policy).allowed
        assert "Nobody" not in words(await world.type("people", ADA))
        await world.type("people deny role:7", ADA)
        assert await world.type("do open settings", NURSE) == Reply()


async def test_only_admins_change_rights_and_each_only_on_the_own_platform(world: World) -> None:
    """Seen failing with the right of `people` in the list of commands set to `use`."""
    assert "Only an admin" in words(await world.type("people allow 42 admin", ANNA))
    assert "platform" in words(await world.type("people allow telegram:5", ADA))
    assert world.rights.policy.grants == ()
    assert "Given: telegram:5: admin" in words(await world.type("people allow telegram:5 admin", OPERATOR, CONSOLE))
    assert authorize(Person("telegram", "5"), _telegram("5"), Right.ADMIN, world.rights.policy).allowed
    assert "is not a person or role here" in words(await world.type("people allow 5", OPERATOR, CONSOLE))


@pytest.mark.parametrize("line", ["people allow", "people hello", "people deny 1 2 3", "people allow 1 use more"])
async def test_what_cannot_be_read_is_explained(world: World, line: str) -> None:
    assert "!opengui people allow WHO" in words(await world.type(line, ADA))


async def test_mistakes_are_told(world: World) -> None:
    assert "There is no right" in words(await world.type("people allow 5 everything", ADA))
    assert "is not a person or role here" in words(await world.type("people allow Eve", ADA))
    told = words(await world.type("people deny 42", ADA))
    assert "did not have this right" in told
    assert "settings of the service name discord:42" in told
    assert "discord:99: admin (settings)" in words(await world.type("people", ADA))


async def test_a_right_for_one_phone_lets_in_but_no_further() -> None:
    policy = Policy(grants=(Grant("discord", "666", Right.ADMIN, phone="pixel"),))
    assert authorize(EVE, PRIVATE, Right.USE, policy).allowed
    assert authorize(EVE, PRIVATE, Right.USE, policy, phone="pixel").allowed
    assert authorize(EVE, PRIVATE, Right.ADMIN, policy, phone="pixel").allowed
    assert not authorize(EVE, PRIVATE, Right.ADMIN, policy).allowed
    refused = authorize(EVE, PRIVATE, Right.USE, policy, phone="other")
    assert [check.name for check in refused.checks if not check.passed] == ["phone"]


async def test_a_task_goes_only_to_a_phone_that_the_person_may_use(tmp_path: Path) -> None:
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Other"), a_phone("Third")) as world:
        await world.type("people --device pixel allow 666", ADA)
        reply = await world.type("do open settings", EVE)
        assert (await world.task_service.known(reply.task)).phone == "pixel"
        assert not (await world.type("do --device Other open settings", EVE)).task
        assert "no phone" in words(await world.type("screen Other", EVE)).lower()
        assert "Other" not in words(await world.type("devices", EVE))
        for device in ("Other", "nowhere"):
            assert "Third" not in words(await world.type(f"schedule --device {device} every 5m do open settings", EVE))
        assert world.commands.suggestions(EVE, CHANNEL, "device", "") == (("Pixel · ready", "pixel"),)
        await world.type("people --device third allow 666", ADA)
        limited = await world.task_service.known((await world.type("do open settings", EVE)).task)
        assert (limited.phone, limited.request.entitled) == ("", Entitlement(("pixel", "third")))
        assert (await world.task_service.known((await world.type("do open settings", ANNA)).task)).phone == ""


async def test_an_offer_is_run_with_the_rights_of_the_press(world: World) -> None:
    await world.type("people allow 666", ADA)
    offer = await world.say("post-2", EVE, PRIVATE)
    assert offer.message is not None
    await world.type("people deny 666", ADA)
    pressed = await world.press(offer.message.buttons[0][0].data, EVE, PRIVATE)
    assert not pressed.task
    assert await world.task_service.recent(5) == ()


async def test_the_audit_tells_who_did_what_and_never_a_secret(world: World) -> None:
    """Seen failing with the text of a secret's answer given to the audit."""
    task = await world.working()
    secret = await world.ask(task, QuestionKind.SECRET)
    await world.type(f"answer --task {task.id} hunter2hunter2", ANNA)
    asked = await world.ask(task, number=2)
    await world.type(f"answer --task {task.id} the blue one", ANNA)
    assert asked.question.id != secret.question.id
    await world.type(f"cancel {task.id}", BEN)
    await world.type("people allow 666 approve", ADA)
    await world.type("help", Person("discord", "31337", "Mallory"))
    told = words(await world.type("audit", ADA))
    assert f"Anna (discord:42) · gave a task · task {task.id}" in told
    assert f"answered · task {task.id} · the blue one" in told
    assert "Ben (discord:43) · was refused · The task belongs to somebody else" in told
    assert "Ada (discord:99) · gave a right · discord:666 approve" in told
    assert "Strangers turned away on discord: 1 in all" in told
    assert "31337" not in told
    assert "hunter2" not in told
    assert "Only an admin" in words(await world.type("audit", ANNA))


async def test_the_audit_has_pages(world: World) -> None:
    for number in range(25):
        await world.type(f"people allow {number + 1000}", ADA)
    first = words(await world.type("audit", ADA))
    assert "discord:1024" in first
    assert "Older: !opengui audit --before 6" in first
    older = words(await world.type("audit --before 6", ADA))
    assert "discord:1004" in older
    assert "discord:1005" not in older
    assert "Nothing to show" in words(await world.type("audit --before 1", ADA))
    assert "not the number" in words(await world.type("audit --before x", ADA))


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("42", Subject("discord", "42")),
        ("<@42>", Subject("discord", "42")),
        ("<@!42>", Subject("discord", "42")),
        ("telegram:-7", Subject("telegram", "-7")),
        ("<@&7>", Subject("discord", "7", "guild")),
        ("role:7", Subject("discord", "7", "guild")),
        ("role:9/7", Subject("discord", "7", "9")),
        ("web:1", None),
        ("Eve", None),
    ],
)
def test_whom_a_word_means(text: str, subject: Subject | None) -> None:
    assert subject_named(text, CHANNEL.address, NAMINGS) == subject
    if subject is not None:
        assert subject_named(str(subject), CONSOLE.address, NAMINGS) == subject


def _telegram(chat: str) -> Place:
    return Place(Address("telegram", "bot", chat), private=True)


async def test_the_audit_shows_times_in_the_services_time_zone(world: World) -> None:
    """Seen failing with the zone of the machine."""
    await world.type("people allow 1000", ADA)
    services = replace(world.services, zone=ZoneInfo("Asia/Kathmandu"))
    shown = words(await audit(Request(ADA, PRIVATE, "event", CommandCall("audit")), services))
    (entry,) = await world.services.store.audit.page(1)
    assert datetime.fromtimestamp(entry.at, services.zone).strftime("%Y-%m-%d %H:%M") in shown
