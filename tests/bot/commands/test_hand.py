"""A phone touched from a chat by numbered buttons: once, where it was meant, and nothing on a picture that is past."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from agent.events import Started
from agent.ports.leases import Lease
from agent.questions import QuestionKind
from agent.run import RunId
from bot.cards.buttons import ButtonAction, button, read_button
from bot.domain.address import MessageRef
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.people.access import Lists, Policy
from bot.tasks.remote_control import UNTOUCHED_S
from devices.geometry import Bounds, Size
from devices.inputs import Tap, TypeText
from devices.phone import Element, Observation
from tests.bot.commands.test_codes import everything_kept
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, PRIVATE, World, a_phone, a_world
from tests.fakes.instant_phone import SIZE, InstantPhone
from tests.fixtures.databases import ON_POSTGRESQL

SECRET = "hunter2 hunter2"


class SmallPhone(InstantPhone):
    """Twelve lines on a screen of few pixels, so that a thousand pictures of it are drawn in no time."""

    def page(self) -> Observation:
        lines = tuple(
            Element(Bounds(0, 10 * n, 90, 10 * n + 9), text=f"Line {n} of page {self.number}", clickable=True)
            for n in range(1, 13)
        )
        return Observation(Size(90, 200), None, lines, package="org.example", activity=f"Page{self.number}")


class PayingPhone(InstantPhone):
    """One button, which pays."""

    def page(self) -> Observation:
        pay = Element(Bounds(0, 200, 1080, 300), text="Pay now", clickable=True)
        more = Element(Bounds(0, 600, 1080, 700), text=f"Page {self.number}")
        return Observation(SIZE, None, (pay, more), package="org.example", activity="Page")


class BlindPhone(InstantPhone):
    """Tells no elements and shows no picture."""

    def page(self) -> Observation:
        return Observation(SIZE, None, None, package="org.example", activity="Page")


def held(world: World, phone: InstantPhone | None = None) -> InstantPhone:
    """The world's phone can be touched, by Anna and Ada."""
    phone = phone or InstantPhone()
    world.phones.touchable["pixel"] = phone
    return phone


async def allowed(world: World, person: str = "42", right: Right = Right.OPERATE) -> None:
    reply = await world.type(f"people allow {person} {right}", ADA)
    assert reply.message is not None
    assert "Given" in reply.message.body


async def shown(world: World, person: object = ANNA) -> tuple[Message, MessageRef]:
    """The screen, as it was asked for."""
    reply = await world.type("hand", person)  # type: ignore[arg-type]
    assert reply.message is None, reply.message
    return world.chat.messages(CHANNEL.address)[-1], world.chat.refs(CHANNEL.address)[-1]


def data(message: Message, label: str) -> str:
    return next(each.data for row in message.buttons for each in row if each.label == label)


def labels(message: Message) -> list[list[str]]:
    return [[each.label for each in row] for row in message.buttons]


async def test_a_number_touches_its_place_once_and_shows_what_came_of_it(world: World) -> None:
    phone = held(world)
    await allowed(world)
    message, ref = await shown(world)
    assert message.picture is not None
    assert labels(message) == [
        *[[str(number) for number in range(first, min(first + 5, 20))] for first in (1, 6, 11, 16)],
        ["Back", "Home", "▲ Up", "▼ Down", "Done"],
    ]
    reply = await world.press(data(message, "3"), ANNA, message=ref)
    (touch,) = phone.sent
    assert isinstance(touch, Tap)
    assert touch.at == Bounds(0, 300, 1080, 390).centre
    assert reply.shown is not None
    assert reply.shown.buttons != message.buttons, "another picture, with other buttons"
    again = await world.press(data(message, "3"), ANNA, message=ref)
    assert "older" in again.toast
    assert len(phone.sent) == 1
    assert again.shown is not None
    await world.press(data(again.shown, "Back"), ANNA, message=ref)
    assert len(phone.sent) == 2
    audit = [entry for entry in await world.store.audit.page(9) if entry.kind == "operated"]
    assert [entry.detail for entry in audit] == ["pixel key org.example", "pixel tap Line 3 of page 0"]


@pytest.mark.slow
async def test_a_thousand_random_presses_on_pictures_of_before_touch_nothing(world: World) -> None:
    """Seen failing without the number of the picture, and without the anchor of a place."""
    chance = random.Random(7)
    phone = held(world, SmallPhone())
    await allowed(world)
    message, ref = await shown(world)
    past = [button for row in message.buttons for button in row if button.label != "Done"]
    buttons = len(past)
    for number in range(1000):
        if number == 0 or chance.random() < 0.5:
            phone.turn()  # the newest picture, of a screen that has changed since
            reply = await world.press(chance.choice(past[-buttons:]).data, ANNA, message=ref)
        else:
            # An older picture, while the screen is as the newest one shows it.
            reply = await world.press(chance.choice(past[:-buttons]).data, ANNA, message=ref)
        assert reply.shown is not None, "the screen of now comes"
        assert "nothing was touched" in reply.toast
        past += [button for row in reply.shown.buttons for button in row if button.label != "Done"]
    assert phone.sent == []


async def test_who_holds_it_is_told_to_others_and_nobody_else_touches(world: World) -> None:
    """Seen failing without the look at who presses."""
    phone = held(world)
    await allowed(world)
    await allowed(world, "43")
    message, ref = await shown(world)
    second = await world.type("hand", BEN)
    assert second.message is not None
    assert "in the hands of Anna" in second.message.body
    pressed = await world.press(data(message, "1"), BEN, message=ref)
    assert "in the hands of Anna" in pressed.toast
    task = await world.do("open settings", BEN)
    assert task.state is TaskState.QUEUED
    assert phone.sent == []
    done = await world.press(data(message, "Done"), ANNA, message=ref)
    assert "free again" in done.toast
    assert phone.prepared == 0
    message, ref = await shown(world, BEN)
    await world.press(data(message, "1"), BEN, message=ref)
    assert len(phone.sent) == 1


async def test_without_the_right_nothing_is_shown_or_touched_also_once_it_is_taken_away(world: World) -> None:
    """Seen failing without the question for the right at the press."""
    phone = held(world)
    refused = await world.type("hand", ANNA)
    assert refused.message is not None
    assert "right to operate" in refused.message.body
    await allowed(world)
    message, ref = await shown(world)
    await world.type("people deny 42", ADA)
    reply = await world.press(data(message, "1"), ANNA, message=ref)
    assert "right to operate" in reply.toast
    assert phone.sent == []


async def kept_of(world: World, directory: Path) -> bytes:
    """All that is in the record; of SQLite's files each byte."""
    if not ON_POSTGRESQL:
        return b"".join(file.read_bytes() for file in directory.glob("opengui.sqlite3*"))  # noqa: ASYNC240 - small
    return (await everything_kept(world)).encode()


async def test_a_reply_types_and_only_its_length_is_kept(world: World, tmp_path: Path) -> None:
    """Seen failing with the text written to the journal, and with a reply to what is over taken for a task."""
    phone = held(world)
    await allowed(world)
    _, ref = await shown(world)
    reply = await world.say(SECRET, ANNA, reply_to=ref)
    assert reply.message is not None
    assert "15" in reply.message.body
    assert SECRET not in reply.message.body
    (typed,) = phone.sent
    assert isinstance(typed, TypeText)
    assert (typed.text, typed.secret) == (SECRET, True)
    assert [call.verb for call in world.chat.calls][-2:] == ["delete", "edit"]
    newest = world.chat.messages(CHANNEL.address)[-1]
    await world.press(data(newest, "Done"), ANNA, message=ref)
    over = await world.say(SECRET, ANNA, reply_to=ref)
    assert over.message is not None
    assert "no longer in your hands" in over.message.body
    assert len(phone.sent) == 1
    await world.type(f'hand --type "{SECRET}"', ANNA, stale=True, written=1.0)
    kept = await kept_of(world, tmp_path)
    assert b"hunter2" not in kept
    assert b"pixel type (15)" in kept


async def test_what_the_rules_ask_about_is_ones_own_yes_or_that_of_somebody_who_may(tmp_path: Path) -> None:
    """Seen failing with every touch taken for a yes."""
    may_operate = Policy(
        {"discord": Lists(frozenset({"guild"}), frozenset({"chan"}), admins=frozenset({"99"}))},
    )
    async with a_world(tmp_path, policy=may_operate) as world:
        phone = held(world, PayingPhone())
        await allowed(world)
        await allowed(world, "43", Right.APPROVE)
        message, ref = await shown(world)
        reply = await world.press(data(message, "1"), ANNA, message=ref)
        assert "has been asked" in reply.toast
        assert phone.sent == []
        asked = world.chat.messages(CHANNEL.address)[-1]
        assert "Pay now" in asked.body
        own = await world.press(data(asked, "Allow"), ANNA)
        assert own.toast
        assert phone.sent == []
        phone.turn()
        moved = await world.press(data(asked, "Allow"), BEN)
        assert "nothing was touched" in moved.toast
        assert phone.sent == []
        assert reply.shown is not None
        reply = await world.press(data(message, "1"), ANNA, message=ref)
        assert reply.shown is not None
        await world.press(data(reply.shown, "1"), ANNA, message=ref)
        asked = world.chat.messages(CHANNEL.address)[-1]
        await world.press(data(asked, "Allow"), BEN)
        assert len(phone.sent) == 1
        gone = await world.press(data(asked, "Allow"), BEN)
        assert "question is no longer open" in gone.toast
        assert len(phone.sent) == 1


async def test_who_may_approve_presses_once(world: World) -> None:
    phone = held(world, PayingPhone())
    await allowed(world)
    message, ref = await shown(world)
    await world.press(data(message, "1"), ANNA, message=ref)
    assert len(phone.sent) == 1
    entry = (await world.store.audit.page(1))[0]
    assert "own yes" in str(entry.detail)


async def test_two_phones_are_touched_side_by_side(tmp_path: Path) -> None:
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Moto")) as world:
        pixel, moto = held(world), InstantPhone()
        world.phones.touchable["moto"] = moto
        await allowed(world)
        for name in ("Pixel", "Moto"):
            assert (await world.type(f"hand {name}", ANNA)).message is None
        refs, messages = world.chat.refs(CHANNEL.address), world.chat.messages(CHANNEL.address)
        shown_there = [(ref, each) for ref, each in zip(refs, messages, strict=True) if each.buttons]
        assert len(shown_there) == 2
        for ref, each in shown_there:
            await world.press(data(each, "4"), ANNA, message=ref)
        assert len(pixel.sent) == len(moto.sent) == 1
        reply = await world.type("do --device Moto open settings", BEN)
        assert reply.message is not None
        assert "Moto is in the hands of Anna" in reply.message.body


async def test_a_reply_to_a_picture_of_before_a_restart_is_no_task(tmp_path: Path) -> None:
    """Seen failing without the messages in the database: the text was kept as the offer of a task."""
    async with a_world(tmp_path) as world:
        held(world)
        await allowed(world)
        reply = await world.type("hand", ANNA, PRIVATE)
        assert reply.message is None
        ref = world.chat.refs(PRIVATE.address)[-1]
    async with a_world(tmp_path) as world:
        world._numbers = itertools.count(100)
        reply = await world.say(SECRET, ANNA, PRIVATE, reply_to=ref)
        assert reply.message is not None
        assert "no longer in your hands" in reply.message.body
        kept = await kept_of(world, tmp_path)
    assert b"hunter2" not in kept


async def test_a_phone_without_elements_is_touched_by_a_grid(world: World) -> None:
    held(world, BlindPhone())
    await allowed(world)
    message, _ = await shown(world)
    assert [label for row in labels(message)[:-1] for label in row] == [str(number) for number in range(1, 21)]


async def test_taking_over_shows_the_screen_and_done_goes_on(world: World) -> None:
    phone = held(world)
    await allowed(world)
    task = await world.working()
    await world.press(button(ButtonAction.TAKE, task.id, "Take over").data, ANNA)
    assert (await world.task_service.known(task.id)).state is TaskState.PAUSED
    message, ref = world.chat.messages(CHANNEL.address)[-1], world.chat.refs(CHANNEL.address)[-1]
    found = read_button(data(message, "2"))
    assert found is not None
    hold = world.services.remote_control.get(found.subject)
    assert hold is not None
    assert hold.task == task.id
    await world.press(data(message, "2"), ANNA, message=ref)
    assert len(phone.sent) == 1
    newest = hold.capture
    assert newest is not None
    done = button(ButtonAction.HAND, hold.id, "Done", choice=f"{newest.number}.done").data
    reply = await world.press(done, ANNA, message=ref)
    assert f"task {task.id} continues" in reply.toast
    assert (await world.task_service.known(task.id)).state is TaskState.WORKING
    late = await world.press(data(message, "2"), ANNA, message=ref)
    assert late.dead
    assert len(phone.sent) == 1


async def test_a_task_that_goes_on_takes_its_phone_back(world: World) -> None:
    """Seen failing without the look at the task before a touch."""
    phone = held(world)
    await allowed(world)
    task = await world.working()
    await world.press(button(ButtonAction.TAKE, task.id, "Take over").data, ANNA)
    message, ref = world.chat.messages(CHANNEL.address)[-1], world.chat.refs(CHANNEL.address)[-1]
    await world.task_service.resume(task.id, "", ANNA)
    reply = await world.press(data(message, "2"), ANNA, message=ref)
    assert reply.dead or "nothing was touched" in reply.toast
    assert phone.sent == []


async def test_a_question_for_a_hand_shows_the_screen_too(world: World) -> None:
    held(world)
    await allowed(world)
    task = await world.working()
    await world.ask(task, QuestionKind.TAKE_OVER)
    reply: Reply = await world.press(button(ButtonAction.TOUCH, task.id, "Touch it here").data, ANNA)
    assert "shown below" in reply.toast
    assert "in the hands of Anna" in world.chat.messages(CHANNEL.address)[-1].heading


@pytest.mark.parametrize("watching", [False, True])
async def test_a_phone_that_nobody_touches_is_free_again(world: World, watching: bool) -> None:
    """The hold's own clock is the loop's; here it is set back instead of waited for."""
    phone = held(world)
    hold = await world.services.remote_control.take("pixel", ANNA, idle=0.05)
    if watching:
        async with world.services.remote_control.watching(hold):
            hold.expires_at -= 9.0
            hold.last_touch -= UNTOUCHED_S
            await hold.ended.wait()
    else:
        await hold.ended.wait()
    await world.services.remote_control.end(hold)
    assert world.services.remote_control.session_on("pixel") is None
    assert phone.prepared == 0


async def at_work_on_two(world: World) -> tuple[Task, Task, Task, dict[str, InstantPhone]]:
    """A task with a part on each of two phones, which can be touched."""
    phones = {name: InstantPhone() for name in ("pixel", "moto")}
    world.phones.touchable |= phones
    await allowed(world)
    reply = await world.type("do --device pixel,moto open settings")
    first, second = await world.task_service.parts(reply.task)
    for part in (first, second):
        world.agent.tell(part.id, Started(run=RunId(part.id), phone=part.phone, phone_name=part.phone_name))
        await world.until(part, TaskState.WORKING)
    return await world.task_service.known(reply.task), first, second, phones


def screens(world: World) -> list[tuple[Message, MessageRef]]:
    messages, refs = world.chat.messages(CHANNEL.address), world.chat.refs(CHANNEL.address)
    return [(each, ref) for each, ref in zip(messages, refs, strict=True) if "in the hands of" in each.heading]


async def states(world: World, *tasks: Task) -> list[TaskState]:
    return [(await world.task_service.known(task.id)).state for task in tasks]


async def test_a_task_on_several_phones_goes_on_once_the_last_of_them_is_free(tmp_path: Path) -> None:
    """Seen failing without the look at who else holds a phone of it: it went on after the first Done."""
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Moto")) as world:
        task, first, second, phones = await at_work_on_two(world)
        await world.press(button(ButtonAction.TAKE, task.id, "Take over").data, ANNA)
        (one, one_ref), (other, other_ref) = screens(world)
        touched = await world.press(data(one, "2"), ANNA, message=one_ref)
        assert [len(phone.sent) for phone in phones.values()] == [1, 0]
        assert touched.shown is not None
        done = await world.press(data(touched.shown, "Done"), ANNA, message=one_ref)
        assert "Pixel is free again" in done.toast
        assert "goes on" not in done.toast
        assert await states(world, first, second) == [TaskState.PAUSED, TaskState.PAUSED]
        last = await world.press(data(other, "Done"), ANNA, message=other_ref)
        assert f"task {task.id} continues" in last.toast
        assert await states(world, first, second) == [TaskState.WORKING, TaskState.WORKING]


async def test_one_of_several_phones_is_taken_over_and_the_other_works_on(tmp_path: Path) -> None:
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Moto")) as world:
        task, first, second, phones = await at_work_on_two(world)
        await world.press(button(ButtonAction.TAKE, second.id, "Take over").data, ANNA)
        assert await states(world, first, second) == [TaskState.WORKING, TaskState.PAUSED]
        ((shown, ref),) = screens(world)
        assert "Moto" in shown.heading
        touched = await world.press(data(shown, "2"), ANNA, message=ref)
        assert [len(phone.sent) for phone in phones.values()] == [0, 1]
        assert touched.shown is not None
        done = await world.press(data(touched.shown, "Done"), ANNA, message=ref)
        assert f"task {task.id} continues" in done.toast
        assert await states(world, first, second) == [TaskState.WORKING, TaskState.WORKING]


async def test_two_phones_taken_over_one_by_one_go_on_one_by_one(tmp_path: Path) -> None:
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Moto")) as world:
        _, first, second, _ = await at_work_on_two(world)
        for part in (first, second):
            await world.press(button(ButtonAction.TAKE, part.id, "Take over").data, ANNA)
        (one, one_ref), (other, other_ref) = screens(world)
        await world.press(data(one, "Done"), ANNA, message=one_ref)
        assert await states(world, first, second) == [TaskState.WORKING, TaskState.PAUSED]
        await world.press(data(other, "Done"), ANNA, message=other_ref)
        assert await states(world, first, second) == [TaskState.WORKING, TaskState.WORKING]


async def test_a_phone_at_work_is_taken_over_by_its_name(tmp_path: Path) -> None:
    """The runs hold their phones here, as they do in a service."""
    async with a_world(tmp_path, a_phone("Pixel"), a_phone("Moto")) as world:
        task, first, second, phones = await at_work_on_two(world)
        for part in (first, second):
            async for place in world.leases.acquire(RunId(part.id), part.phone):
                if isinstance(place, Lease):
                    break
        await world.type("hand Moto", ANNA)
        assert await states(world, first, second) == [TaskState.WORKING, TaskState.PAUSED]
        ((shown, ref),) = screens(world)
        touched = await world.press(data(shown, "2"), ANNA, message=ref)
        assert [len(phone.sent) for phone in phones.values()] == [0, 1]
        assert touched.shown is not None
        done = await world.press(data(touched.shown, "Done"), ANNA, message=ref)
        assert f"task {task.id} continues" in done.toast
        assert await states(world, first, second) == [TaskState.WORKING, TaskState.WORKING]
        held = world.leases.holder("moto")
        assert held is not None
        assert held.run == RunId(second.id), "the run has its phone back"
