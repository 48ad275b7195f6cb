"""What a message reads once its button was pressed: no button stays that does nothing any more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.questions import ALLOW, QuestionKind
from bot.cards.buttons import ButtonAction, button, pause_button, resume_button, stop_button
from bot.domain.address import MessageRef
from bot.domain.outgoing import Button
from bot.domain.task import TaskState, locator
from tests.bot.world import ANNA, BEN, CHANNEL, EVE, PRIVATE, World


async def test_an_answered_question_reads_who_answered(world: World) -> None:
    task = await world.working()
    question = await world.ask(task, QuestionKind.APPROVE, ("allow", "deny"))
    data = button(ButtonAction.ANSWER, locator(question.question.id), "Allow", choice=ALLOW).data
    reply = await world.press(data, message=question.message)
    assert reply.shown is not None
    assert (reply.shown.buttons, reply.dead) == ((), False)
    assert "Answered by Anna: Allow" in reply.shown.footer
    late = await world.press(data, BEN, message=question.message)
    assert (late.shown, late.dead) == (reply.shown, True)
    assert "Answered by Anna" in late.toast


async def test_who_may_not_press_changes_nothing(world: World) -> None:
    """Seen failing with every refusal told by the message: a stranger's press took the buttons from all."""
    task = await world.working()
    question = await world.ask(task, choices=("red", "blue"))
    data = button(ButtonAction.ANSWER, locator(question.question.id), "red", choice="1").data
    for other in (BEN, EVE):
        reply = await world.press(data, other, message=question.message)
        assert (reply.shown, reply.dead) == (None, False)
        assert reply.toast


async def test_a_question_that_nobody_knows_loses_its_buttons(world: World) -> None:
    for data in ("1:ans:0123456789abcdef:1", "0-of-another-version", "1:page:0123456789abcdef:1"):
        reply = await world.press(data)
        assert (reply.shown, reply.dead) == (None, True)
        assert reply.toast


async def test_the_card_reads_as_the_task_stands_now(world: World) -> None:
    task = await world.working()
    card = MessageRef(CHANNEL.address, "m77")
    await world.store.cards.put(task.id, card, world.clock())
    paused = await world.press(pause_button(task.id).data, message=card)
    assert paused.shown is not None
    assert [one.label for one in paused.shown.buttons[0]] == ["Resume", "Stop"]
    again = await world.press(pause_button(task.id).data, message=card)
    assert again.shown is not None
    assert again.dead, "it was paused before"
    stopped = await world.press(stop_button(task.id).data, message=card)
    assert stopped.shown is not None
    assert "Cancelled" in stopped.shown.body
    assert stopped.shown.buttons == ()


async def test_a_copy_of_the_card_tells_what_was_done(world: World) -> None:
    task = await world.working()
    await world.press(pause_button(task.id).data)
    reply = await world.press(resume_button(task.id).data)
    assert reply.shown is not None
    assert reply.shown.body == "Resumed by Anna."
    assert reply.shown.buttons == ()


@pytest.mark.parametrize("make", [stop_button, pause_button, resume_button])
async def test_buttons_of_a_task_that_is_over_go(world: World, make: Callable[[str], Button]) -> None:
    task = await world.working()
    await world.end(task)
    await world.until(task, TaskState.ENDED)
    reply = await world.press(make(task.id).data)
    assert (reply.shown, reply.dead) == (None, True)


async def test_an_offer_reads_what_became_of_it(world: World) -> None:
    offered = await world.say("post-2", place=PRIVATE)
    assert offered.message is not None
    run = offered.message.buttons[0][0].data
    assert not (await world.press(run, BEN, PRIVATE)).dead, "it is still Anna's"
    reply = await world.press(run, ANNA, PRIVATE)
    assert reply.task
    assert reply.shown is not None
    assert reply.shown.buttons == ()
    assert (await world.press(run, ANNA, PRIVATE)).dead
