"""Codes that are typed in the wrong place: answered where they can only be meant so, else kept and told by nobody."""

from __future__ import annotations

import logging

import pytest

from agent.questions import QuestionKind
from bot.store.database import Transaction
from bot.store.tables import metadata
from tests.bot.commands.test_answers import PRIVATE_OF_ADA, stored, words
from tests.bot.world import ADA, BEN, PRIVATE, World

PASSWORD = "correct horse battery staple"


async def everything_kept(world: World) -> str:
    """All text in the database, but for the question's own."""

    async def read(transaction: Transaction) -> str:
        tables = [table.name for table in metadata.sorted_tables]
        rows = [row for name in tables for row in await transaction.fetch(f'SELECT * FROM "{name}"')]
        return "\n".join(str(tuple(row)) for row in rows)

    return await world.store.write(read)


async def test_in_private_a_code_answers_the_sole_question_that_is_open_in_a_group(world: World) -> None:
    """Seen failing without `_secret` in `interpret`: it was offered as a task, and stood in the table."""
    task = await world.working()
    question = await world.ask(task, QuestionKind.SECRET)
    reply = await world.say("246 810", place=PRIVATE)
    assert words(reply).startswith("Answered by Anna. It was typed into the phone and is not stored.")
    assert "Your message here was deleted." in words(reply)
    assert (await stored(world, question)).answer == ""
    assert "246 810" not in await everything_kept(world)


@pytest.mark.parametrize("text", [PASSWORD, "open settings"])
async def test_words_may_be_a_password_and_are_neither_offered_nor_kept(
    world: World, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    task = await world.working("read the mail")
    question = await world.ask(task, QuestionKind.SECRET)
    reply = await world.say(text, place=PRIVATE)
    assert "asked for elsewhere" in words(reply)
    assert "1 · read the mail" in words(reply)
    assert "please delete your message yourself" in words(reply)
    assert reply.message is not None
    assert reply.message.buttons == ()
    assert text not in words(reply)
    assert (await stored(world, question)).answer is None
    late = await world.say(text, place=PRIVATE, stale=True, written=world.clock.now)
    assert "asked for elsewhere" in words(late), "nor is it kept for the list of what came late"
    assert text not in await everything_kept(world)
    assert text not in caplog.text
    assert "Answered by Anna" in words(await world.type(f"answer {text}", place=PRIVATE))


async def test_with_two_questions_it_is_asked_which_is_meant(world: World) -> None:
    first = await world.working("read the mail")
    second = await world.working("pay the bill")
    secret = await world.ask(first, QuestionKind.SECRET)
    await world.ask(second, number=2)
    reply = await world.say("246810", place=PRIVATE)
    assert f"answer --task {first.id} …" in words(reply)
    assert "Your message here was deleted." in words(reply)
    assert (await stored(world, secret)).answer is None
    assert "246810" not in await everything_kept(world)
    assert "Answered by Anna" in words(await world.type(f"answer --task {first.id} 246810", place=PRIVATE))


async def test_in_the_thread_of_another_task_a_code_is_no_word_to_that_task(world: World) -> None:
    """Seen failing without `_secret` in `interpret`: the agent, and so the model, got the code as a word."""
    first = await world.working("read the mail")
    await world.ask(first, QuestionKind.SECRET)
    other = await world.working("pay the bill")
    thread = await world.in_thread(other)
    assert "asked for elsewhere" in words(await world.say("246810", place=thread))
    assert "will read that" in words(await world.say("use the blue card", place=thread))
    assert [what for what in world.agent.asked if what[0].startswith("steer")] == [("steer 2", "use the blue card")]


async def test_an_admin_s_code_for_somebody_else_s_question_is_not_kept_either(world: World) -> None:
    await world.ask(await world.working("read my mail"), QuestionKind.SECRET)
    reply = await world.say("246810", ADA, PRIVATE_OF_ADA)
    assert "asked for elsewhere" in words(reply)
    assert "read my mail" not in words(reply)
    assert words(await world.say("246810", BEN, PRIVATE)) == "Is this a task?", "Ben may not answer that question"


async def test_a_code_that_came_late_is_typed_nowhere(world: World) -> None:
    question = await world.ask(await world.working(), QuestionKind.SECRET)
    reply = await world.say("246810", place=PRIVATE, stale=True, written=question.asked + 1.0)
    assert "not typed anywhere" in words(reply)
    assert "Your message here was deleted." in words(reply)
    assert (await stored(world, question)).answer is None


async def test_a_secret_that_is_no_answer_is_deleted_all_the_same(world: World) -> None:
    question = await world.ask(await world.working(), QuestionKind.SECRET)
    reply = await world.say("x" * 5000, reply_to=question.message)
    assert "Your message here was deleted." in words(reply)
    assert (await stored(world, question)).answer is None
