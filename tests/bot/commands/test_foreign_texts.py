"""What somebody passes on is offered by a button: it is no command, no answer, no secret and no word to a task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.questions import QuestionKind
from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.incoming import Attachment, ForeignText
from bot.domain.outgoing import Reply
from bot.domain.task import Task
from tests.bot.commands.test_answers import words
from tests.bot.world import ANNA, BEN, CHANNEL, PRIVATE, World, a_world

BOB = ForeignText("Bob")


async def passed_on(
    world: World,
    text: str,
    place: Place = PRIVATE,
    *,
    person: Person = ANNA,
    foreign: ForeignText = BOB,
    command: str | None = None,
    reply_to: MessageRef | None = None,
    stale: bool = False,
    files: tuple[Attachment, ...] = (),
) -> Reply:
    came = world.incoming(
        text, person, place, command=command, reply_to=reply_to, stale=stale, written=1.0, attachments=files
    )
    return await world.commands.message(replace(came, foreign=foreign, carries=bool(files)))


async def tasks(world: World) -> tuple[Task, ...]:
    return await world.task_service.recent(9)


@pytest.mark.parametrize("command", [None, "do buy everything"])
async def test_in_private_it_is_offered_with_who_wrote_it(world: World, command: str | None) -> None:
    """Seen failing without the look at `foreign` in `Commands._message`: it was a task."""
    reply = await passed_on(world, "do buy everything" if command else "switch Bluetooth on", command=command)
    assert "“Bob” wrote this, not you" in words(reply)
    assert await tasks(world) == ()
    assert reply.message is not None
    ((run,),) = reply.message.buttons
    assert "for somebody else" in (await world.press(run.data, BEN, PRIVATE)).toast
    pressed = await world.press(run.data, ANNA, PRIVATE)
    assert (await world.task_service.known(pressed.task)).person == ANNA


async def test_who_wrote_it_may_be_unknown_and_a_name_is_no_text_of_the_bot_s(world: World) -> None:
    assert words(await passed_on(world, "buy it", foreign=ForeignText())).startswith("Somebody else wrote this")
    assert len(words(await passed_on(world, "buy it", foreign=ForeignText("x" * 900)))) < 300


async def test_its_files_go_along_with_the_offer(world: World) -> None:
    reply = await passed_on(world, "post this", files=(Attachment("cat.png", b"meow"),))
    assert reply.message is not None
    pressed = await world.press(reply.message.buttons[0][0].data, ANNA, PRIVATE)
    (task,) = await tasks(world)
    assert (task.id, [file.name for file in task.request.files]) == (pressed.task, ["cat.png"])


@pytest.mark.parametrize("replies", [False, True])
@pytest.mark.parametrize(("kind", "text"), [(QuestionKind.APPROVE, "yes"), (QuestionKind.ASK, "the blue one")])
async def test_it_answers_no_question(world: World, kind: QuestionKind, text: str, replies: bool) -> None:
    """Seen failing without the look at `foreign` in `Commands._message`: the approval was given."""
    task = await world.working(place=PRIVATE)
    asked = await world.ask(task, kind)
    reply = await passed_on(world, text, reply_to=asked.message if replies else None)
    assert "answers no question" in words(reply)
    assert reply.message is not None
    assert not reply.message.buttons
    found = await world.task_service.question(asked.question.id)
    assert found is not None
    assert found.answer is None
    assert world.agent.asked == []
    assert "Answered by Anna" in words(await world.say("no", place=PRIVATE))


async def test_nor_as_the_command_that_answers(world: World) -> None:
    task = await world.working(place=PRIVATE)
    await world.ask(task, QuestionKind.APPROVE)
    await passed_on(world, "/answer yes", command="answer yes")
    assert world.agent.asked == []


async def test_a_code_is_neither_taken_nor_kept_while_one_is_asked_for_elsewhere(world: World) -> None:
    """Seen failing without `secrets_asked` in `FreeTextHandler.pass_on`: the code was offered as a task, and kept with
    it.
    """
    task = await world.working(place=CHANNEL)
    asked = await world.ask(task, QuestionKind.SECRET)
    reply = await passed_on(world, "493021")
    assert "answers no question" in words(reply)
    assert world.agent.asked == []
    found = await world.task_service.question(asked.question.id)
    assert found is not None
    assert found.answer is None
    rows = await world.store.write(lambda transaction: transaction.fetch("SELECT text FROM offers"))
    assert not rows


async def test_it_steers_nothing_until_somebody_presses(world: World) -> None:
    """Seen failing without the look at `foreign` in `Commands._message`: the task was told at once."""
    task = await world.working()
    thread = await world.in_thread(task)
    reply = await passed_on(world, "not that one, the blue", thread)
    assert world.agent.asked == []
    assert reply.message is not None
    ((_, steer),) = reply.message.buttons
    await world.press(steer.data, ANNA, thread)
    assert world.agent.asked == [("steer 1", "not that one, the blue")]


async def test_in_a_group_it_is_the_business_of_the_people_there(world: World) -> None:
    task = await world.working()
    assert await passed_on(world, "!opengui do buy it", CHANNEL, command="do buy it") == Reply()
    thread = await world.in_thread(task)
    assert await passed_on(world, "the blue one", thread, person=BEN) == Reply()
    assert len(await tasks(world)) == 1


async def test_what_came_late_is_offered_too(world: World) -> None:
    """An offer begins nothing, so it needs no list of what was missed, which would name the sender as its author."""
    assert "“Bob” wrote this" in words(await passed_on(world, "buy it", stale=True))
    assert await world.store.missed.unlisted() == ()


async def test_a_code_that_links_accounts_is_typed_by_hand(tmp_path: Path) -> None:
    """Seen failing without the look at `foreign` in `Commands._message`: the second forwarding linked the accounts."""
    stranger, alone = Person("telegram", "6", "Eve"), Place(Address("telegram", "bot", "6"), private=True)
    async with a_world(tmp_path, pairing=True) as world:
        code = world.rights.linking.code_for(ANNA)
        for text in (code, f"pair {code}"):
            for _ in range(2):
                await passed_on(world, text, alone, person=stranger)
                await passed_on(world, text, alone, person=stranger, command=text)
        assert not world.rights.policy.same(ANNA, stranger)
