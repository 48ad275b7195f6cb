"""again: the same task once more, with changes; from a command, a button, and out of the task's own thread."""

from __future__ import annotations

from bot.cards.buttons import again_button
from bot.domain.incoming import Attachment, CommandCall, Invocation
from bot.domain.task import Task
from tests.bot.commands.test_overview import words
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, EVE, PRIVATE, World, a_phone, png


async def latest(world: World) -> Task:
    return (await world.task_service.recent(1))[0]


async def test_the_last_task_comes_again_on_its_phone(world: World) -> None:
    world.phones.phones = (a_phone("Pixel"), a_phone("Old"))
    first = await world.working("turn on the light")
    await world.end(first)
    reply = await world.type("again")
    again = await latest(world)
    assert reply.task == again.id != first.id
    assert (again.text, again.phone, again.request.options.quick) == ("turn on the light", "pixel", False)


async def test_a_named_task_with_changes(world: World) -> None:
    world.phones.phones = (a_phone("Pixel"), a_phone("Old"))
    first = await world.task_service.known((await world.type("do --quick turn on the light")).task)
    await world.do("something else")
    assert (await world.type(f"again #{first.id}")).task
    assert (await latest(world)).text == "turn on the light"
    assert (await latest(world)).request.options.quick
    await world.type(f"again --device old {first.id} but in the kitchen")
    changed = await latest(world)
    assert changed.text == "turn on the light\n\nThis time: but in the kitchen"
    assert changed.phone == "old"
    await world.type("again 99 bottles")
    assert (await latest(world)).text.endswith("This time: 99 bottles")


async def test_anothers_task_needs_an_admin(world: World) -> None:
    first = await world.do("turn on the light")
    assert "belongs to somebody else" in words(await world.type(f"again {first.id}", BEN))
    assert (await world.type(f"again {first.id}", ADA)).task
    assert (await latest(world)).person.id == ADA.id
    assert "no task" in words(await world.type("again 77"))


async def test_the_button_does_the_same_and_is_checked_at_the_press(world: World) -> None:
    first = await world.do("turn on the light")
    place = await world.in_thread(first)
    await world.end(first)
    data = again_button(first.id).data
    assert not (await world.press(data, EVE, place)).task
    assert not (await world.press(data, BEN, place)).task
    pressed = await world.press(data, place=place)
    assert pressed.task
    assert pressed.toast == f"Task {pressed.task} is accepted."
    again = await latest(world)
    assert again.origin == CHANNEL.address  # beside the old thread, not in it
    assert again.request.origin.anchor == ""


async def test_a_phone_that_cannot_be_used_any_more_is_told(world: World) -> None:
    first = await world.working()
    await world.end(first)
    world.phones.phones = (a_phone("Old"),)
    assert "There is no phone called" in words(await world.type("again"))
    assert (await world.type("again --device old")).task
    assert "You don't have any tasks here yet" in words(await world.type("again", BEN, PRIVATE))


async def test_files_come_again_while_they_are_kept(world: World) -> None:
    call = CommandCall("do", {}, "set this as wallpaper")
    files = (Attachment("sea.png", png()), Attachment("list.txt", b"milk"))
    await world.commands.invoke(Invocation(ANNA, CHANNEL, "with files", call, attachments=files))
    first = await latest(world)
    assert [file.name for file in first.request.files] == ["sea.png", "list.txt"]
    await world.type("again")
    again = await latest(world)
    assert [await world.store.frames.load(file.content) for file in again.request.files] == [png(), b"milk"]
    world.store.frames._path(again.request.files[1].content).unlink()
    assert "left out: list.txt" in words(await world.type("again"))
    assert [file.name for file in (await latest(world)).request.files] == ["sea.png"]
