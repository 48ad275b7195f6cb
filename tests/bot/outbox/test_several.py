"""Several phones in one chat, and what a restart leaves of plans and step messages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.events import Asked, Planned, Started, TaskEnded, Todo, Told
from agent.questions import Question, QuestionKind
from agent.run import Outcome, RunId
from bot.domain.task import Task, TaskState
from bot.outbox.low_priority import FOLD
from bot.outbox.outbox import Outbox
from tests.bot.chats.loopback import LoopbackChat
from tests.bot.outbox.conftest import Post, a_post
from tests.bot.world import ANNA, Clock, a_phone, a_world

pytestmark = pytest.mark.usefixtures("virtual_time")


@asynccontextmanager
async def two(path: Path) -> AsyncIterator[Post]:
    """A chat, and two phones."""
    async with a_world(path, a_phone("Pixel"), a_phone("Nokia")) as world:
        outbox = Outbox(
            world.task_service, world.store, world.chats, "threads", clock=world.clock, sleep=world.clock.sleep
        )
        await outbox.start()
        try:
            yield Post(world, outbox)
        finally:
            await outbox.stop()


async def begun(post: Post) -> tuple[Task, Task, Task]:
    reply = await post.world.type("do --device all open settings")
    task = await post.world.task_service.known(reply.task)
    first, second = await post.world.task_service.parts(task.id)
    for part in (first, second):
        post.world.agent.tell(part.id, Started(run=RunId(part.id), phone=part.phone, phone_name=part.phone_name))
    return task, first, second


async def test_who_ends_all_phones_is_not_rung_for(tmp_path: Path) -> None:
    async with two(tmp_path) as post:
        task, _, _ = await begun(post)
        await post.shown("1. Pixel · Working\n2. Nokia · Working")
        await post.world.task_service.cancel(task.id, ANNA)
        final = await post.closed("Cancelled")
        assert (final.notify, final.mention) == (False, None)


async def test_one_card_named_steps_and_one_end(tmp_path: Path) -> None:
    async with two(tmp_path) as post:
        task, first, second = await begun(post)
        await post.shown("1. Pixel · Working\n2. Nokia · Working")
        await post.world.step(first, 1, summary="Tapped Pixel")
        post.world.agent.tell(second.id, Told(text="The phone is away"))
        await post.shown("▶ 1. Pixel · Step 1 · Settings · Tapped Pixel\n2. Nokia · Working · The phone is away")
        question = Question(id="q", run=RunId(second.id), kind=QuestionKind.ASK, text="Which one?")
        post.world.agent.tell(second.id, Asked(question=question))
        asked = await post.shown("A question for you · Task 1.2 · open settings · Nokia")
        assert asked.buttons[-1][0].label == "Stop Nokia"
        await post.world.task_service.answer("q", "blue", ANNA)
        assert (await post.shown("Answered by Anna: blue")).buttons == ()
        for part in (first, second):
            post.world.agent.tell(part.id, TaskEnded(outcome=Outcome.SUCCEEDED, summary=f"Open on {part.phone}."))
        final = await post.closed("Done on 2 of 2 phones.\n1. Pixel: Done. Open on pixel.")
        assert final.buttons[0][0].label == "Again"
        assert await post.finals(task) == [("sent", "")]
        assert len([one for one in post.chat.messages() if "Done on 2 of 2 phones." in one.body]) == 1
        cards = [one for one in post.chat.messages() if one.heading == "Task 1 · open settings"]
        assert [one.body.splitlines()[0] for one in cards] == ["✅ Done"]
        assert len(post.calls("open")) == 1


async def test_a_plan_is_still_on_the_card_after_a_restart(tmp_path: Path) -> None:
    clock, chat = Clock(), LoopbackChat()
    async with a_post(tmp_path, clock=clock, chat=chat) as before:
        task = await before.world.working()
        todo = Todo(title="look it up", state="in progress")
        before.world.agent.tell(task.id, Planned(plan="p", todos=(todo,)))
        await before.shown("▶ look it up")
    async with a_post(tmp_path, clock=clock, chat=chat) as after:
        card = await after.shown("Interrupted")
        await after.until(lambda: any("▶ look it up" in one.body for one in chat.messages()))
        assert card.heading
        assert (await after.world.task_service.known(task.id)).todos == (todo,)


async def test_steps_that_nobody_was_told_of_before_a_restart_are_told_after_it_once(tmp_path: Path) -> None:
    """Seen failing (the second step is told nowhere) with every step before the start counted as told."""
    clock, chat = Clock(), LoopbackChat()
    async with a_post(tmp_path, clock=clock, chat=chat) as before:
        task = await before.world.working()
        for number in range(1, FOLD + 1):
            await before.world.step(task, number)
        await before.sent("Task 1 · Steps 1 to 5")
        await before.outbox.stop()
        for number in range(FOLD + 1, 2 * FOLD + 1):
            await before.world.step(task, number, summary="Tapped Save")
    async with a_post(tmp_path, clock=clock, chat=chat) as after:
        await after.sent("Task 1 · Steps 6 to 10")
        await after.world.until(task, TaskState.INTERRUPTED)
    headings = [message.heading for message in chat.messages()]
    assert [one for one in headings if "Steps" in one] == [
        "Task 1 · Steps 1 to 5",
        "Task 1 · Steps 6 to 10",
    ]
