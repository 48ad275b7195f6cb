"""Questions answered by button, reply, text and command; steering; offers in private."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, QuestionKind, Recipient
from bot.application.interpret import FOLLOWED_SECONDS
from bot.cards.buttons import ButtonAction, button, pause_button, resume_button, stop_button
from bot.domain.address import Address, MessageRef, Place
from bot.domain.chat import ChatError
from bot.domain.incoming import Press
from bot.domain.outgoing import Reply
from bot.domain.task import OpenQuestion, TaskState, locator
from bot.store.audit import AuditKind, YesDetail
from tests.bot.chats.loopback import CAPABILITIES, LoopbackChat
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, EVE, PRIVATE, World

PRIVATE_OF_ADA = Place(Address("discord", "bot", "dm of ada"), private=True)


def words(reply: Reply) -> str:
    assert reply.message is not None, reply
    return reply.message.body


def answer_data(question: OpenQuestion, choice: str) -> str:
    return button(ButtonAction.ANSWER, locator(question.question.id), "x", choice=choice).data


async def stored(world: World, question: OpenQuestion) -> OpenQuestion:
    found = await world.task_service.question(question.question.id)
    assert found is not None
    return found


async def test_a_button_answers(world: World) -> None:
    task = await world.working()
    question = await world.ask(task, choices=("red", "blue"))
    reply = await world.press(answer_data(question, "2"))
    assert reply == Reply(toast="Answered by Anna: blue", told=True)
    assert (await stored(world, question)).answer == "blue"
    late = await world.press(answer_data(question, "1"), message=question.message)
    assert late.toast == "Answered by Anna: blue"
    assert (await stored(world, question)).answer == "blue"
    assert (await world.press(answer_data(question, "1"))).toast == "That question is no longer open."


@pytest.mark.parametrize(
    ("kind", "choice"),
    [(QuestionKind.ASK, "3"), (QuestionKind.ASK, "allow"), (QuestionKind.APPROVE, "1"), (QuestionKind.SECRET, "done")],
)
async def test_a_button_that_was_never_made_answers_nothing(world: World, kind: QuestionKind, choice: str) -> None:
    task = await world.working()
    question = await world.ask(task, kind, choices=("red", "blue"))
    assert "a different version" in (await world.press(answer_data(question, choice))).toast
    assert (await stored(world, question)).answer is None


@pytest.mark.parametrize("data", ["", "1:stop", "9:stop:1", "rm -rf", "1:ans:0000000000000000:allow", "1:run:gone"])
async def test_a_button_nobody_knows_is_answered_politely(world: World, data: str) -> None:
    reply = await world.press(data)
    assert reply.toast
    assert reply.message is None


async def test_a_native_reply_answers_and_numbers_stand_for_choices(world: World) -> None:
    task = await world.working()
    question = await world.ask(task, choices=("red", "blue"))
    reply = await world.say("2", reply_to=question.message)
    assert words(reply) == "Answered by Anna: blue"
    late = await world.say("red", reply_to=question.message)
    assert words(late) == "Answered by Anna: blue"


async def test_text_in_the_tasks_thread_answers_the_only_question(world: World) -> None:
    task = await world.working()
    thread = await world.in_thread(task)
    question = await world.ask(task)
    assert words(await world.say("the second one", place=thread)) == "Answered by Anna: the second one"
    assert (await stored(world, question)).answer == "the second one"


async def test_text_elsewhere_is_ignored(world: World) -> None:
    task = await world.working()
    question = await world.ask(task)
    assert await world.say("the second one") == Reply()
    assert await world.say("cancel that order") == Reply()
    assert await world.say("do it now please") == Reply()
    assert (await stored(world, question)).answer is None
    assert (await world.task_service.known(task.id)).state is TaskState.WAITING
    assert await world.store.refusals.totals() == ()


async def test_several_questions_ask_which_is_meant(world: World) -> None:
    first, second = await world.working("buy red"), await world.working("buy blue")
    one, two = await world.ask(first), await world.ask(second)
    text = words(await world.type("answer yes"))
    assert "Several questions are open" in text
    assert "Task 1 · buy red" in text
    assert "Task 2 · buy blue" in text
    assert (await stored(world, one)).answer is None
    assert words(await world.type("answer --task 2 yes")) == "Answered by Anna: yes"
    assert (await stored(world, two)).answer == "yes"
    assert words(await world.type("answer no")) == "Answered by Anna: no"
    assert "There is no open question" in words(await world.type("answer what"))
    assert "Add your answer" in words(await world.type("answer"))
    assert "There is no task" in words(await world.type("answer --task 77 yes"))


async def test_the_command_finds_ones_own_question_from_anywhere(world: World) -> None:
    task = await world.working()
    await world.in_thread(task)
    question = await world.ask(task)
    assert "There is no open question" in words(await world.type("answer blue", BEN))
    assert words(await world.type("answer blue")) == "Answered by Anna: blue"
    assert (await stored(world, question)).answered_by == "Anna"


@pytest.mark.parametrize("kind", list(QuestionKind))
async def test_nobody_else_answers_but_an_admin(world: World, kind: QuestionKind) -> None:
    """Seen failing with the `require` in `_given` taken out: Ben's answer then won, for every kind."""
    task = await world.working()
    thread = await world.in_thread(task)
    question = await world.ask(task, kind, choices=("allow", "done") if kind is QuestionKind.ASK else ())
    text = {QuestionKind.APPROVE: "allow", QuestionKind.TAKE_OVER: "done"}.get(kind, "done")
    choice = {QuestionKind.ASK: "1", QuestionKind.SECRET: "1"}.get(kind, text)
    assert "somebody else" in words(await world.say(text, BEN, thread, reply_to=question.message))
    assert "somebody else" in words(await world.type(f"answer --task {task.id} {text}", BEN))
    assert "Answered" not in (await world.press(answer_data(question, choice), BEN)).toast
    assert await world.say(text, BEN, thread) == Reply()
    assert "not allowed" in (await world.press(answer_data(question, choice), EVE)).toast
    assert await world.say(text, EVE, thread, reply_to=question.message) == Reply()
    assert (await stored(world, question)).answer is None
    assert "Answered by Ada" in words(await world.say(text, ADA, thread, reply_to=question.message))


@pytest.mark.parametrize(("text", "answer"), [("allow", "allow"), ("Yes.", "allow"), ("deny", "deny"), ("no", "deny")])
async def test_an_approval_takes_clear_words_only(world: World, text: str, answer: str) -> None:
    task = await world.working()
    question = await world.ask(task, QuestionKind.APPROVE)
    assert "allow or deny" in words(await world.say("not that one, the blue", reply_to=question.message))
    assert (await stored(world, question)).answer is None
    await world.say(text, reply_to=question.message)
    assert (await stored(world, question)).answer == answer


async def test_a_question_that_expired_is_never_a_yes(world: World) -> None:
    task = await world.working()
    question = await world.ask(task, QuestionKind.APPROVE)
    world.clock.advance(16 * 60)
    reply = await world.press(answer_data(question, "allow"))
    assert "not answered in time" in reply.toast
    assert (await stored(world, question)).answer is None


async def test_two_people_at_once_one_wins_and_both_are_told_who(world: World) -> None:
    task = await world.working()
    question = await world.ask(task)
    replies = await asyncio.gather(
        world.say("red", ANNA, reply_to=question.message), world.say("blue", ADA, reply_to=question.message)
    )
    winner = (await stored(world, question)).answered_by
    assert all(f"Answered by {winner}" in words(reply) for reply in replies)


async def test_a_secret_goes_straight_on_and_its_message_is_deleted(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Seen failing with the deletion taken out of `give_answer`: the code then stood in the channel."""
    caplog.set_level("DEBUG")
    task = await world.working()
    question = await world.ask(task, QuestionKind.SECRET)
    reply = await world.say("hunter2 ", reply_to=question.message)
    assert "Your message here was deleted." in words(reply)
    assert "hunter2" not in words(reply)
    assert "hunter2" not in caplog.text
    assert all("hunter2" not in message.body for message in world.chat.messages())
    assert (await stored(world, question)).answer == ""
    kept = next(detail for what, detail in world.agent.asked if what == "answer")
    assert world.secrets.take(kept) == "hunter2 "


async def test_a_secret_that_came_too_late_or_from_the_wrong_person_is_deleted_too(world: World) -> None:
    task = await world.working()
    thread = await world.in_thread(task)
    question = await world.ask(task, QuestionKind.SECRET)
    assert "deleted" in words(await world.say("hunter2", BEN, thread, reply_to=question.message))
    assert sum(each.kind is AuditKind.REFUSED for each in await world.store.audit.page(9)) == 1
    assert "deleted" in words(await world.say("hunter2", place=thread, stale=True))
    world.clock.advance(25 * 3600)
    assert "deleted" in words(await world.say("hunter2", place=thread, reply_to=question.message))
    assert all("hunter2" not in message.body for message in world.chat.messages())
    assert (await stored(world, question)).answer is None


async def test_a_secret_that_cannot_be_deleted_is_told(world: World) -> None:
    task = await world.working()
    question = await world.ask(task, QuestionKind.SECRET)
    world.chat.faults.append(ChatError("no right to delete"))
    assert "Please delete it yourself" in words(await world.say("hunter2", reply_to=question.message))
    other = await world.working()
    second = await world.ask(other, QuestionKind.SECRET)
    world.chats["discord"] = LoopbackChat(capabilities=replace(CAPABILITIES, deletes=False))
    assert "Please delete it yourself" in words(await world.say("hunter2", reply_to=second.message))


async def test_text_steers_a_running_task_in_its_thread(world: World) -> None:
    task = await world.working()
    thread = await world.in_thread(task)
    assert "will read that" in words(await world.say("not that one, the blue", place=thread))
    assert (f"steer {task.id}", "not that one, the blue") in world.agent.asked
    assert await world.say("  ", place=thread) == Reply()


async def test_others_may_talk_in_the_thread_without_steering(world: World) -> None:
    """Seen failing with the check in `FreeTextHandler.about` taken out: Ben was then told off for each word."""
    task = await world.working()
    thread = await world.in_thread(task)
    assert await world.say("nice phone", BEN, thread) == Reply()
    assert not [what for what, _ in world.agent.asked if what.startswith("steer")]
    assert "will read that" in words(await world.say("stop scrolling", ADA, thread))


async def test_a_reply_to_the_card_steers(world: World) -> None:
    task = await world.working()
    card = world.chat.write(CHANNEL.address, "the card")
    await world.store.cards.put(task.id, card, world.clock())
    assert "will read that" in words(await world.say("the blue one", reply_to=card))
    assert "somebody else" in words(await world.say("the red one", BEN, reply_to=card))
    stranger = world.chat.write(CHANNEL.address, "something else")
    assert await world.say("the blue one", reply_to=stranger) == Reply()


async def test_text_in_the_thread_of_an_ended_task_is_ignored(world: World) -> None:
    task = await world.working()
    thread = await world.in_thread(task)
    await world.end(task)
    assert await world.say("thanks!", place=thread) == Reply()


async def test_a_thread_in_which_a_task_was_asked_is_not_its_own(world: World) -> None:
    topic = Place(replace(CHANNEL.address, thread="topic"))
    task = await world.working(place=topic)
    await world.task_service.set_place(task.id, topic.address)
    assert await world.say("just talking", place=topic) == Reply()
    assert await world.say("just talking", BEN, place=topic) == Reply()


async def test_in_private_a_text_is_a_task(world: World) -> None:
    reply = await world.say("open settings and look", place=PRIVATE)
    task = await world.task_service.known(reply.task)
    assert (task.text, task.person, task.origin) == ("open settings and look", ANNA, PRIVATE.address)
    assert task.request.follows == ""
    assert (await world.say("打开相机拍2张照片", place=PRIVATE)).task


async def test_what_is_written_after_the_end_follows_up_the_task_with_its_result(world: World) -> None:
    """In a private chat for half an hour; "again" takes the context along."""
    first = await world.working("find teas", place=PRIVATE)
    await world.task_service.set_place(first.id, PRIVATE.address)
    await world.end(first)
    second = await world.task_service.known((await world.say("order the second one", place=PRIVATE)).task)
    assert (second.text, second.request.follows, second.origin) == ("order the second one", first.id, PRIVATE.address)
    await world.task_service.set_place(second.id, PRIVATE.address)
    await world.end(second)
    (order,) = [order for order in world.agent.orders if order.task == second.id]
    assert [(one.text, one.outcome, one.summary) for one in order.earlier] == [
        ("find teas", "succeeded", "It is done.")
    ]
    again = await world.task_service.known((await world.type(f"again {second.id}", place=PRIVATE)).task)
    assert again.request.follows == first.id
    await world.end(again)
    world.clock.advance(FOLLOWED_SECONDS + 1.0)
    assert (await world.task_service.known((await world.say("open notes", place=PRIVATE)).task)).request.follows == ""


async def test_nobody_follows_up_what_may_not_be_shown_to_them(world: World) -> None:
    """Seen failing with the task looked up without asking whether it may be shown: its result was in the new one."""
    task = await world.working("read my mail", place=PRIVATE)
    await world.end(task)
    assert "There is no task" in words(await world.type(f"do --follows {task.id} tell me", BEN))
    assert len(await world.task_service.recent(9)) == 1


async def test_in_private_a_text_may_also_steer(world: World) -> None:
    task = await world.working(place=PRIVATE)
    await world.task_service.set_place(task.id, PRIVATE.address)
    reply = await world.say("the blue one", place=PRIVATE)
    assert reply.message is not None
    _, tell = reply.message.buttons[0]
    assert "will read that" in (await world.press(tell.data, ANNA, PRIVATE)).toast
    assert (f"steer {task.id}", "the blue one") in world.agent.asked


async def test_in_private_a_text_answers_the_only_question(world: World) -> None:
    task = await world.working(place=PRIVATE)
    await world.ask(task)
    assert words(await world.say("the blue one", place=PRIVATE)) == "Answered by Anna: the blue one"


async def test_strangers_in_private_get_nothing(world: World) -> None:
    assert await world.say("hello?", EVE, PRIVATE) == Reply()
    assert len(await world.store.refusals.totals()) == 1


@pytest.mark.slow
async def test_offers_are_not_kept_for_ever(world: World) -> None:
    first = await world.say("number-0", place=PRIVATE)
    for number in range(1, 258):
        await world.say(f"number-{number}", place=PRIVATE)
    assert first.message is not None
    assert "Send the text again" in (await world.press(first.message.buttons[0][0].data, ANNA, PRIVATE)).toast


async def test_a_late_answer_to_a_question_that_waits_for_it_holds(world: World) -> None:
    task = await world.working()
    question = await world.ask(task)
    before, after = question.asked - 1, question.asked + 1
    early = await world.say("yes", reply_to=question.message, stale=True, written=before)
    assert "before this question was asked" in words(early)
    assert "before this question was asked" in words(await world.type("answer yes", stale=True, written=before))
    assert (await stored(world, question)).answer is None
    late = await world.say("the blue one", reply_to=question.message, stale=True, written=after)
    assert words(late) == "Answered by Anna: the blue one"


async def test_a_late_yes_approves_nothing_and_a_late_no_refuses(world: World) -> None:
    """Seen failing with `_in_time` left out of `_given`: the payment was approved by a message of yesterday."""
    task = await world.working()
    question = await world.ask(task, QuestionKind.APPROVE)
    after = question.asked + 1
    yes = await world.say("yes", reply_to=question.message, stale=True, written=after)
    assert "press its button" in words(yes)
    assert (await stored(world, question)).answer is None
    await world.say("no", reply_to=question.message, stale=True, written=after)
    assert (await stored(world, question)).answer == "deny"


async def test_the_buttons_of_a_card(world: World) -> None:
    task = await world.working()
    assert "somebody else" in (await world.press(stop_button(task.id).data, BEN)).toast
    assert (await world.press(pause_button(task.id).data)).toast == f"Task {task.id}: Paused"
    assert (await world.press(resume_button(task.id).data)).toast == f"Task {task.id}: Working"
    assert (await world.press(stop_button(task.id).data, ADA)).toast == f"Task {task.id}: Cancelled"
    assert "has already ended" in (await world.press(stop_button(task.id).data)).toast
    assert "There is no task" in (await world.press(stop_button("77").data)).toast


async def test_the_same_press_twice_is_answered_twice_and_done_once(world: World) -> None:
    task = await world.working()
    press = Press(ANNA, CHANNEL, "same", pause_button(task.id).data, MessageRef(CHANNEL.address, "m1"))
    assert (await world.commands.press(press)).toast == f"Task {task.id}: Paused"
    assert (await world.commands.press(press)).toast == "Already seen."
    assert world.agent.asked.count(("pause", task.id)) == 1


@pytest.mark.parametrize("text", ["246810", "246 810", "G-246810", "hunter2", "p4ss:w0rd!"])
async def test_a_code_after_its_question_has_closed_is_no_task(world: World, text: str) -> None:
    """Seen failing without `_closed_secret` in `interpret`: it was offered to be run as a task."""
    task = await world.working(place=PRIVATE)
    question = await world.ask(task, QuestionKind.SECRET)
    await world.task_service.answer(question.question.id, "135790", ADA)
    reply = await world.say(text, place=PRIVATE)
    assert "Answered by Ada. It was typed into the phone" in words(reply)
    assert "it was not kept and nothing was done with it" in words(reply)
    assert "Your message here was deleted." in words(reply)
    assert text not in words(reply)
    assert reply.message is not None
    assert reply.message.buttons == ()


async def test_a_code_for_a_question_elsewhere_is_no_task_in_private_either(world: World) -> None:
    task = await world.working()
    question = await world.ask(task, QuestionKind.SECRET)
    await world.task_service.answer(question.question.id, "135790", ADA)
    assert "nothing was done with it" in words(await world.say("246810", place=PRIVATE))
    assert words(await world.say("246810", ADA, PRIVATE_OF_ADA)) == "Is this a task?"


async def test_a_code_after_its_question_has_closed_is_not_told_to_the_task(world: World) -> None:
    """Seen failing without `_closed_secret` in `interpret`: the agent, and so the model, got the code as a word."""
    task = await world.working()
    thread = await world.in_thread(task)
    question = await world.ask(task, QuestionKind.SECRET)
    await world.task_service.answer(question.question.id, "135790", ADA)
    assert "nothing was done with it" in words(await world.say("246810", place=thread))
    assert "Task 1 will read that" in words(await world.say("use number 2", place=thread))
    assert [what for what in world.agent.asked if what[0].startswith("steer")] == [("steer 1", "use number 2")]


async def test_other_texts_are_offered_as_ever(world: World) -> None:
    task = await world.working(place=PRIVATE)
    question = await world.ask(task)
    await world.task_service.answer(question.question.id, "blue", ANNA)
    assert words(await world.say("246810", place=PRIVATE)) == "Is this a task?"
    other = await world.working(place=PRIVATE)
    secret = await world.ask(other, QuestionKind.SECRET)
    await world.task_service.answer(secret.question.id, "135790", ANNA)
    for text in ("hello", "open track 9", "1"):
        assert words(await world.say(text, place=PRIVATE)) == "Is this a task?"


async def test_an_answer_in_words_is_told_by_its_question_alone(world: World) -> None:
    """Where the question stands; elsewhere it is told."""
    task = await world.working()
    first = await world.ask(task)
    assert (await world.say("blue", reply_to=first.message)).mark_suffices
    second = await world.working("read mail", place=PRIVATE)
    await world.ask(second)
    assert not (await world.type(f"answer --task {second.id} red")).mark_suffices


BOB = Recipient(name="Bob", app="com.android.messaging")
FOR_TASK = (ALLOW, DENY, ALLOW_FOR_TASK)


async def test_a_message_is_allowed_for_the_task_by_button_word_or_number(world: World) -> None:
    for way in ("button", "Allow for this task", "本任务允许", "3"):
        task = await world.working()
        question = await world.ask(task, QuestionKind.APPROVE, FOR_TASK, to=BOB)
        if way == "button":
            toast = (await world.press(answer_data(question, ALLOW_FOR_TASK))).toast
            assert toast == "Answered by Anna: Allow messages to Bob for this task"
        else:
            await world.say(way, reply_to=question.message)
        assert (await stored(world, question)).answer == ALLOW_FOR_TASK
        (entry, *_) = [each for each in await world.store.audit.page(5) if each.kind is AuditKind.ALLOWED_AHEAD]
        assert (entry.person.id, entry.task) == (ANNA.id, task.id)
        assert entry.detail == YesDetail(to="Bob", app=BOB.app, by="Anna")
        await world.end(task)


async def test_what_is_not_offered_is_no_answer(world: World) -> None:
    task = await world.working()
    question = await world.ask(task, QuestionKind.APPROVE, (ALLOW, DENY))
    await world.press(answer_data(question, ALLOW_FOR_TASK))
    assert "allow or deny" in words(await world.say("allow for this task", reply_to=question.message))
    assert (await stored(world, question)).answer is None


async def test_only_who_may_approve_allows_for_the_task(world: World) -> None:
    task = await world.working()
    question = await world.ask(task, QuestionKind.APPROVE, FOR_TASK, to=BOB)
    assert "Answered" not in (await world.press(answer_data(question, ALLOW_FOR_TASK), BEN)).toast
    assert "somebody else" in words(await world.say(ALLOW_FOR_TASK, BEN, reply_to=question.message))
    at = MessageRef(CHANNEL.address, "m0")
    late = Press(ANNA, CHANNEL, "late", answer_data(question, ALLOW_FOR_TASK), at, stale=True)
    assert "Answered" not in (await world.commands.press(late)).toast
    assert (await stored(world, question)).answer is None
