"""help, devices, status, tasks, screen, whoami, why; strangers; completion."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from PIL import Image

from agent.run import Outcome
from bot.commands.dispatcher import HANDLERS
from bot.commands.spec import BY_NAME, COMMANDS
from bot.domain.address import Address, Person, Place
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Reply
from bot.domain.right import Right
from devices.adb.links import health_of
from devices.errors import CaptureFailed
from devices.phone import Health
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, EVE, PRIVATE, World, a_look, a_phone, png


def words(reply: Reply) -> str:
    assert reply.message is not None
    return "\n".join((reply.message.heading, reply.message.body, reply.message.footer))


def test_every_command_has_a_handler() -> None:
    assert list(HANDLERS) == [command.name for command in COMMANDS] == list(BY_NAME)


@pytest.mark.parametrize("line", ["", "help", "HELP"])
async def test_help_can_be_typed_as_it_stands(world: World, line: str) -> None:
    reply = await world.type(line)
    assert "!opengui do <task>" in words(reply) or line == "HELP"
    assert "do open settings and turn on airplane mode" in words(reply)
    assert all(f"{command.name}" in words(reply) for command in COMMANDS if command.right is Right.USE)


async def test_help_on_one_command(world: World) -> None:
    assert "--device <device>: The phone: its name or id" in words(await world.type("help do"))
    assert 'Did you mean "status"' in words(await world.type("help statsu"))


async def test_devices(world: World) -> None:
    world.phones.phones = (
        replace(a_phone("Pixel"), model="Pixel 6", android="14", battery=80, app="Settings", virtual=True),
        a_phone("Old", health=Health.UNAUTHORIZED, reason="USB debugging is not allowed.", fix="Allow it."),
    )
    task = await world.working()
    await world.type("do --device pixel then this", BEN)
    text = words(await world.type("devices"))
    assert "Pixel (pixel): ready" in text
    assert f"Android 14 · battery 80 % · virtual · shows Settings · used by task {task.id} of Anna · 1 waiting" in text
    assert "Old (old): unauthorized. USB debugging is not allowed. Allow it." in text
    world.phones.phones = ()
    assert "No phone is connected" in words(await world.type("devices"))


async def test_devices_in_the_persons_language(world: World) -> None:
    health, reason, fix = health_of("unauthorized", "R58M12ABCDE")
    world.phones.phones = (a_phone("Pixel"), a_phone("Old", health=health, reason=reason, fix=fix))
    mei = replace(ANNA, language="zh")
    text = words(await world.type("devices", mei))
    assert "Pixel（pixel）：就绪" in text
    assert "Old（old）：未授权。手机还不信任这台电脑。请解锁手机" in text
    assert "手机还不信任这台电脑。" in words(await world.type("do --device old x", mei))


async def test_status_is_the_card_and_at_last_the_final_message(world: World) -> None:
    assert "You don't have any tasks here yet" in words(await world.type("status"))
    task = await world.working()
    frame = await world.store.frames.save(png(), suffix=".png")
    await world.step(task, 1, frame=frame)
    reply = await world.type("status")
    assert reply.message is not None
    assert "Step 1 · Settings\nTapped Search" in reply.message.body
    assert reply.message.picture is not None
    assert reply.message.buttons
    await world.end(task, Outcome.UNVERIFIED)
    reply = await world.type(f"status {task.id}", BEN)
    assert words(reply).startswith("☑️ Done, but not verified")
    assert reply.message is not None
    assert not reply.message.notify
    assert reply.message.mention is None


async def test_tasks_are_paged(world: World) -> None:
    assert "No tasks yet" in words(await world.type("tasks"))
    for number in range(12):
        await world.do(f"task number {number}", BEN)
    secret = await world.do("a private matter", place=PRIVATE)
    reply = await world.type("tasks")
    assert "task number 11" in words(reply)
    assert "task number 1\n" not in words(reply)
    assert "Ben" in words(reply)
    assert secret.text not in words(reply)
    assert reply.message is not None
    older = await world.press(reply.message.buttons[0][0].data)
    assert "task number 1\n" in words(older)
    assert older.message is not None
    assert older.message.buttons == ()
    assert "No older tasks" in words(await world.type("tasks --before 1"))
    assert "There is no task" in words(await world.type("tasks --before x"))


async def test_in_private_one_sees_ones_own_tasks_and_an_admin_all(world: World) -> None:
    await world.do("from the channel", ANNA)
    await world.do("in secret", ANNA, PRIVATE)
    await world.do("somebody else's", BEN)
    mine = words(await world.type("tasks", place=PRIVATE))
    assert "from the channel" in mine
    assert "in secret" in mine
    assert "somebody else's" not in mine
    everything = words(await world.type("tasks", ADA, PRIVATE))
    assert "in secret" in everything
    assert "in secret" not in words(await world.type("tasks", ADA))


async def test_screen_is_a_picture(world: World) -> None:
    reply = await world.type("screen")
    assert reply.message is not None
    assert reply.message.picture is not None
    with Image.open(io.BytesIO(reply.message.picture.data)) as image:
        assert image.format == "JPEG"
        assert image.size == (108, 240)


async def test_a_screen_in_full_size_is_a_file(world: World) -> None:
    reply = await world.type("screen --full")
    assert reply.message is not None
    (file,) = reply.message.files
    assert reply.message.picture is None
    with Image.open(io.BytesIO(file.data)) as image:
        assert (file.name, image.format, image.size) == ("screen.png", "PNG", (108, 240))


async def test_screen_says_why_there_is_no_picture(world: World) -> None:
    world.phones.sees["pixel"] = a_look(secure=True)
    reply = await world.type("screen")
    assert "secure screen" in words(reply)
    assert reply.message is not None
    assert reply.message.picture is None
    world.phones.sees["pixel"] = CaptureFailed("the picture was cut off")
    assert "the picture was cut off" in words(await world.type("screen pixel"))
    world.phones.sees["pixel"] = a_look(locked=True)
    assert "locked" in words(await world.type("screen Pixel"))
    world.phones.phones = (a_phone("Old", health=Health.OFFLINE, fix="Plug it in again."),)
    assert "Plug it in again." in words(await world.type("screen"))
    world.phones.phones = ()
    assert "No phone is connected" in words(await world.type("screen"))


async def test_screen_of_several_phones_is_the_one_that_is_used(world: World) -> None:
    world.phones.phones = (a_phone("Pixel"), a_phone("Galaxy"))
    assert "Which phone? Pixel, Galaxy" in words(await world.type("screen"))
    await world.working()
    assert words(await world.type("screen")).startswith("Pixel")


async def test_whoami_gives_the_ids_that_the_lists_take(world: World) -> None:
    reply = await world.type("whoami")
    assert "Person: 42" in words(reply)
    assert "Server: guild" in words(reply)
    assert "Channel or chat: chan" in words(reply)
    assert "Rights here: use, approve" in words(reply)
    assert "private chat" in words(await world.type("whoami", place=PRIVATE))
    assert "use, approve, operate, admin" in words(await world.type("whoami", ADA))


async def test_why_walks_the_same_checks(world: World) -> None:
    mine = words(await world.type("why"))
    assert "use: yes" in mine
    assert "admin: no" in mine
    assert "✗ Only an admin may do that." in mine
    assert "Only an admin" in words(await world.type("why 666"))
    hers = words(await world.type("why 666", ADA))
    assert "Why for 666" in hers
    assert "✗ A user list is set, and neither it nor the admin list names this person." in hers


async def test_the_console_is_told_about_the_person_and_not_about_itself(world: World) -> None:
    operator, console = Person("web", "operator"), Place(Address("web", "console", "home"))
    hers = words(await world.type("why discord:666", operator, console))
    assert "Why for discord:666, in a private chat there" in hers
    assert "use: no" in hers
    assert "use: yes" in words(await world.type(f"why discord:{ANNA.id}", operator, console))
    assert "is not a person or role here" in words(await world.type("why 666", operator, console))
    assert "use: yes" in words(await world.type("why", operator, console))


STRANGE_PLACE = Place(replace(CHANNEL.address, guild="elsewhere"))


@pytest.mark.parametrize(("person", "place"), [(EVE, CHANNEL), (EVE, PRIVATE), (ANNA, STRANGE_PLACE)])
@pytest.mark.parametrize("line", ["help", "do open settings", "whoami", "why", "nonsense", "cancel 1"])
async def test_strangers_get_silence_and_are_counted(world: World, person: Person, place: Place, line: str) -> None:
    """Seen failing with the check in `_message` taken out: Eve's task was then accepted."""
    task = await world.working()
    assert await world.type(line, person, place) == Reply()
    assert [count.count for count in await world.store.refusals.totals()] == [1]
    assert [found.id for found in await world.task_service.recent(10)] == [task.id]


async def test_a_strangers_slash_command_is_refused_for_their_eyes_only(world: World) -> None:
    """Seen failing with the check in `_invoke` taken out: Eve's task was then accepted."""
    reply = await world.invoke(CommandCall("do", {}, "open settings"), EVE)
    assert reply.message is not None
    assert reply.message.private
    assert "not allowed" in reply.message.body
    assert "Person: 666" in reply.message.body
    assert await world.task_service.recent(10) == ()


async def test_an_unknown_slash_command_is_told(world: World) -> None:
    assert "There is no command" in words(await world.invoke(CommandCall("explode")))


async def test_completion(world: World) -> None:
    await world.do("open settings")
    await world.do("a private matter", place=PRIVATE)
    world.commands.suggestions(ANNA, CHANNEL, "task", "")
    await world.type("status")
    assert world.commands.suggestions(ANNA, CHANNEL, "task", "SETT") == (("Task 1 · open settings", "1"),)
    assert world.commands.suggestions(ANNA, CHANNEL, "task", "private") == ()
    assert world.commands.suggestions(ANNA, CHANNEL, "device", "pix") == (("Pixel · ready", "pixel"),)
    assert world.commands.suggestions(ANNA, CHANNEL, "device", "nokia") == ()
    assert world.commands.suggestions(ANNA, CHANNEL, "quick", "") == ()
    assert world.commands.suggestions(EVE, CHANNEL, "task", "") == ()
    world.phones.phones = tuple(a_phone(f"Phone {number}") for number in range(40))
    assert len(world.commands.suggestions(ANNA, CHANNEL, "device", "")) == 25


@pytest.mark.parametrize("typed", ["a", "AL", "all"])
async def test_all_phones_is_among_the_most_that_may_be_suggested(world: World, typed: str) -> None:
    """Seen failing (26 are suggested) with this choice added on top of the others."""
    world.phones.phones = tuple(a_phone(f"Small {number}") for number in range(40))
    offered = world.commands.suggestions(ANNA, CHANNEL, "device", typed)
    assert (offered[0], len(offered)) == (("All 40 phones", "all"), 25)


async def test_the_operator_sees_and_holds_everything(world: World) -> None:
    task = await world.working(place=PRIVATE)
    operator, console = Person("web", "operator"), Place(Address("web", "console", "home"))
    assert f"Task {task.id}" in words(await world.type("tasks", operator, console))
    assert words(await world.type(f"cancel {task.id}", operator, console)).strip() == f"Task {task.id}: Cancelled"


async def test_an_admin_names_a_phone(world: World) -> None:
    """Seen failing with the right of `name` left at `use`: Anna's name was then taken."""
    world.phones.phones = (a_phone("Pixel 6", "p6"), a_phone("Pixel", "p"))
    assert "Only an admin" in words(await world.type("name Pixel Desk"))
    assert "Pixel 6 is now called Desk." in words(await world.type("name pixel 6 Desk", ADA))
    assert "Pixel is now called The shelf." in words(await world.type("name --device p The shelf", ADA))
    assert "The shelf is now called Left." in words(await world.type('name "the shelf" Left', ADA))
    assert [phone.name for phone in world.phones.phones] == ["Desk", "Left"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("name nobody Desk", "There is no phone called"),
        ("name Pixel", "What should Pixel be called?"),
        ("name Pixel Galaxy", 'Another phone is already called "Galaxy".'),
        (f"name Pixel {'x' * 41}", "1 to 40 characters"),
        ("name --device Pixel -- -x", "not start with a dash"),
    ],
)
async def test_a_name_that_is_not_given(world: World, line: str, told: str) -> None:
    world.phones.phones = (a_phone("Pixel"), a_phone("Galaxy"))
    assert told in words(await world.type(line, ADA))
    assert [phone.name for phone in world.phones.phones] == ["Pixel", "Galaxy"]
