"""What goes out, in which order and how often: the outbox on the real desk and store, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.events import FileFound, ModelAway, Planned, Seen, Todo, Told
from agent.models.state import Cause
from agent.questions import QuestionKind
from agent.run import Outcome, RunId
from bot.cards.final import render_final
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatError, ChatRefused, FloodWait
from bot.domain.outgoing import Message, Turn, at_once
from bot.domain.task import Task, TaskState
from bot.outbox.conversation import GIVE_UP
from bot.outbox.low_priority import FOLD, Streaming
from tests.bot.chats.loopback import CAPABILITIES, LoopbackChat
from tests.bot.outbox.conftest import Post, a_post
from tests.bot.world import ADA, ANNA, CHANNEL, PRIVATE, Clock, png

pytestmark = pytest.mark.usefixtures("virtual_time")

PRIVATELY = Address("discord", "bot", f"dm{ANNA.id}")


async def test_a_task_from_its_card_to_its_end(post: Post) -> None:
    task = await post.world.working()
    card = await post.shown("Looking at the phone")
    assert not card.notify
    assert card.buttons
    await post.world.step(task, 1)
    await post.shown("Step 1 · Settings\nTapped Search")
    await post.world.end(task)
    final = await post.closed("It is done.")
    assert final.notify
    assert final.mention == ANNA
    cards = [message for message in post.chat.messages() if message.heading.startswith("Task 1 ·")]
    assert [message.buttons for message in cards if "Step" not in message.heading] == [()]
    last = [call for call in post.chat.calls if call.verb in {"send", "edit"}][-1]
    assert last.message == final, "the final message comes after the last edit of the card"
    assert await post.finals(task) == [("sent", "")]


async def test_the_first_look_is_the_first_picture_of_the_card(post: Post) -> None:
    """Seen failing before: there was no picture until the first step was done."""
    task = await post.world.working()
    assert (await post.shown("Looking at the phone")).picture is None
    began = post.world.clock()
    frame = await post.world.store.frames.save(png(), suffix=".png")
    post.world.agent.tell(task.id, Seen(run=RunId(task.id), frame=frame))
    assert (await post.shown("Choosing the first step")).picture is not None
    assert post.world.clock() - began < CAPABILITIES.edit_interval, "it answers somebody, and waits for no interval"


@pytest.mark.parametrize("by", [ANNA, ADA])
@pytest.mark.parametrize("begun", [True, False])
async def test_who_ends_their_own_task_is_not_rung_for(post: Post, by: Person, begun: bool) -> None:
    """Seen failing before: the end rang for the one who had just pressed Stop."""
    task = await post.world.working() if begun else await post.world.do()
    await post.shown("Looking at the phone" if begun else "Planning")
    await post.world.task_service.cancel(task.id, by)
    final = await post.closed("Cancelled by")
    assert (final.notify, final.mention) == ((False, None) if by == ANNA else (True, ANNA))


async def test_the_place_is_opened_once_and_everything_goes_there(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    place = (await post.world.task_service.known(task.id)).place
    assert place is not None
    assert place.thread
    await post.world.step(task, 1)
    await post.world.end(task)
    await post.sent("It is done.")
    assert len(post.calls("open")) == 1
    assert {call.place for call in post.calls("send")} == {place}


async def test_cards_are_edited_no_more_often_than_the_chat_takes(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    begun = len(post.chat.calls) - 1
    for number in range(1, 30):
        await post.world.step(task, number, summary=f"Tapped number {number}")
    await post.shown("Tapped number 29")
    times = [call.at for call in post.chat.calls[begun:] if call.verb in {"send", "edit"}]
    assert all(later - earlier >= CAPABILITIES.edit_interval_group for earlier, later in itertools.pairwise(times))
    assert len(post.calls("edit")) < 29, "older states of the card are skipped"


async def test_a_private_chat_is_quicker_than_a_group(tmp_path: Path) -> None:
    private = replace(PRIVATE, address=replace(PRIVATE.address, chat=ANNA.id))
    async with a_post(tmp_path, streaming="none") as post:
        task = await post.world.working(place=private)
        await post.shown("Looking at the phone")
        begun = len(post.chat.calls) - 1
        for number in range(1, 12):
            await post.world.step(task, number, summary=f"Tapped number {number}")
            await post.until(lambda: post.world.clock.next_wake() is not None)
        await post.shown("Tapped number 11")
        times = [call.at for call in post.chat.calls[begun:] if call.verb in {"send", "edit"}]
        pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert min(pauses) >= CAPABILITIES.edit_interval - 1e-6, pauses


async def test_several_steps_are_one_silent_message_in_the_tasks_thread(post: Post) -> None:
    frame = await post.world.store.frames.save(png(), suffix=".png")
    task = await post.world.working()
    await post.shown("Looking at the phone")
    for number in range(1, FOLD + 1):
        await post.world.step(task, number, summary=f"Tapped number {number}", frame=frame)
    steps = await post.sent("Task 1 · Steps 1 to 5")
    assert not steps.notify
    assert steps.picture is None, "the card shows it, and not twice"
    assert not [message for message in post.chat.sent() if "Step 1" in message.heading]


STREAMS: list[tuple[Streaming, bool, bool]] = [("none", True, False), ("all", False, True), ("threads", False, False)]


@pytest.mark.parametrize(("streaming", "threads", "streamed"), STREAMS)
async def test_steps_go_where_the_settings_want_them(
    tmp_path: Path, streaming: Streaming, threads: bool, streamed: bool
) -> None:
    chat = LoopbackChat(capabilities=replace(CAPABILITIES, threads=threads))
    async with a_post(tmp_path, chat=chat, streaming=streaming) as post:
        task = await post.world.working()
        await post.shown("Looking at the phone")
        await post.world.step(task, 1)
        await post.shown("Tapped Search")
        await post.world.end(task)
        await post.sent("It is done.")
        assert any("Step 1" in message.heading for message in post.chat.sent()) is streamed


async def test_a_question_notifies_and_loses_its_buttons_when_it_is_answered(post: Post) -> None:
    task = await post.world.working()
    question = await post.world.ask(task, QuestionKind.APPROVE)
    shown = await post.sent("Your approval is needed")
    assert shown.notify
    assert shown.mention == ANNA
    await post.shown("Waiting for an answer")
    await post.world.task_service.answer(question.question.id, "allow", ANNA)
    answered = await post.shown("Answered by Anna: Allow")
    assert answered.buttons == ()
    stored = await post.world.task_service.question(question.question.id)
    assert stored is not None
    assert stored.message in post.chat.refs()


async def test_a_question_that_is_closed_while_the_chat_is_away_loses_its_buttons_later(post: Post) -> None:
    """Seen failing (the buttons stayed) with one try only in `ShownQuestions.close_answered`."""
    task = await post.world.working()
    question = await post.world.ask(task, QuestionKind.APPROVE)
    await post.sent("Your approval is needed")
    await post.shown("Waiting for an answer")
    post.chat.faults.extend([ChatError("nobody there")] * 6)
    await post.world.task_service.answer(question.question.id, "allow", ANNA)
    answered = await post.shown("Answered by Anna: Allow")
    assert answered.buttons == ()
    assert not post.chat.faults


async def test_a_question_comes_before_everything_else(tmp_path: Path) -> None:
    async with a_post(tmp_path) as post:
        first, second = await post.world.working("first"), await post.world.working("second")
        await post.until(lambda: len([one for one in post.chat.sent() if one.buttons]) == 2)
        post.chat.faults.append(FloodWait(30))
        await post.world.step(first, 1)
        await post.until(lambda: not post.chat.faults)
        start = len(post.chat.calls)
        kept = await post.world.store.frames.save(b"x", suffix=".txt")
        post.world.agent.tell(first.id, FileFound(name="a.txt", content=kept))
        await post.world.end(first)
        await post.world.ask(second)
        await post.sent("It is done.")
        await post.sent("A question for you")
        order = [
            call.message.heading.split(" · ")[0]
            for call in post.chat.calls[start:]
            if call.verb == "send" and call.message is not None and (call.message.notify or call.message.files)
        ]
        assert order == ["Which one?", "Task 1", "✅ Done"], "the file was written before the final message of its task"


async def test_a_flood_is_met_with_silence_and_nothing_is_lost(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    post.chat.faults.append(FloodWait(500))
    began = post.world.clock()
    await post.world.end(task)
    await post.closed("It is done.")
    assert not [call for call in post.chat.calls if began < call.at < began + 500]
    assert await post.finals(task) == [("sent", "")]


async def test_a_flood_on_steps_loses_none(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    for number in range(1, FOLD):
        await post.world.step(task, number)
    await post.shown("Step 4")
    post.chat.faults.extend([FloodWait(100), FloodWait(100)])
    await post.world.step(task, FOLD)
    steps = await post.sent("Task 1 · Steps 1 to 5")
    assert len(steps.body.splitlines()) == FOLD


async def test_one_chat_that_has_to_wait_holds_up_no_other(post: Post) -> None:
    slow = await post.world.working("slow")
    await post.shown("slow")
    post.chat.faults.append(FloodWait(100_000))
    await post.world.step(slow, 1)
    await post.until(lambda: not post.chat.faults)
    began = post.world.clock()
    quick = await post.world.working("quick", place=PRIVATE)
    await post.world.end(quick)
    await post.sent("It is done.")
    assert post.world.clock() < began + 90_000


async def test_what_could_not_be_sent_is_tried_again_with_the_same_nonce(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    await post.until(lambda: post.world.clock.next_wake() is not None)
    post.chat.faults.extend([None, ChatError("no network"), ChatError("no network"), None, None])
    await post.world.end(task)
    await post.closed("It is done.")
    assert await post.finals(task) == [("sent", "")]
    (row,) = [row for row in await post.world.store.outbox.of(task.id) if row.kind == "final"]
    assert [call.nonce for call in post.calls("send")][-1] == f"o{row.id}"
    assert row.attempts >= 2


async def test_what_can_never_be_sent_is_given_up_and_logged(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    place = (await post.world.task_service.known(task.id)).place
    assert place is not None
    post.chat.lost.update({place, CHANNEL.address, PRIVATELY})
    await post.world.end(task)
    await post.until(lambda: "and is dropped" in caplog.text)
    async with asyncio.timeout(10):
        while (await post.finals(task))[0][0] != "dead":
            await asyncio.sleep(0)
    assert "not there any more" in (await post.finals(task))[0][1]


async def test_a_lost_thread_sends_the_rest_to_where_it_was_asked(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    place = (await post.world.task_service.known(task.id)).place
    assert place is not None
    post.chat.lost.add(place)
    await post.world.end(task)
    await post.sent("It is done.")
    assert post.calls("send")[-1].place == CHANNEL.address


async def test_a_lost_chat_sends_the_rest_to_its_person_privately(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    place = (await post.world.task_service.known(task.id)).place
    assert place is not None
    post.chat.lost.update({place, CHANNEL.address})
    await post.world.end(task)
    await post.sent("It is done.")
    assert post.calls("send")[-1].place == PRIVATELY


async def test_what_fails_for_a_day_is_given_up(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    post.chat.faults.extend([ChatError("no network")] * 1000)
    await post.world.end(task)
    await post.until(lambda: "will be tried again" in caplog.text)
    post.world.clock.advance(GIVE_UP)
    await post.until(lambda: "and is dropped" in caplog.text)


class Picky(LoopbackChat):
    """Takes no message with the word, and with "picture" or "file" none that has one."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        words = f"{message.heading}\n{message.body}"
        has = {"picture": message.picture, "file": message.files}.get(self._word, self._word in words)
        if has and message.notify:
            raise ChatRefused("AutoMod has blocked it")
        return await super().send(place, message, nonce=nonce, turn=turn)


@pytest.mark.parametrize("word", ["picture", "Which one?"])
async def test_what_a_chat_does_not_take_goes_with_less_of_it(tmp_path: Path, word: str) -> None:
    async with a_post(tmp_path, chat=Picky(word)) as post:
        task = await post.world.working()
        await post.world.step(task, 1, frame=await post.world.store.frames.save(png(), suffix=".png"))
        if word == "picture":
            await post.world.end(task)
        else:
            await post.world.ask(task)
        shown = await post.sent("Part of this was left out")
        assert shown.buttons, "it can still be stopped, or given again"
        assert (shown.picture, shown.files) == (None, ())
        assert ("It is done." in shown.body) is (word == "picture")
        assert "Which one?" not in f"{shown.heading}\n{shown.body}"


async def test_what_a_chat_never_takes_keeps_nothing_else_back(tmp_path: Path) -> None:
    """Seen failing without `except ChatRefused`: the end was told a day later."""
    async with a_post(tmp_path, chat=Picky("Part of this was left out")) as post:
        post.chat.faults.append(ChatRefused("too large"))
        task = await post.world.working()
        small = await post.world.store.frames.save(b"content", suffix=".txt")
        await post.shown("Looking at the phone")
        post.chat.faults.append(ChatRefused("too large"))
        began = post.world.clock.now
        post.world.agent.tell(task.id, FileFound(name="small.txt", content=small))
        await post.world.end(task)
        await post.sent("It is done.")
        assert post.world.clock.now - began < 600.0


async def test_a_card_that_somebody_deleted_is_made_anew(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    card = await post.world.store.cards.get(task.id)
    assert card is not None
    post.chat.remove(card.message)
    await post.world.step(task, 1)
    await post.sent("Tapped Search")
    assert (await post.new_card(task, card)).message in post.chat.refs()
    nonces = [call.nonce for call in post.calls("send")]
    assert len(set(nonces)) == len(nonces), "a chat would take it for the one that was deleted"


@pytest.mark.slow
async def test_a_card_moves_before_it_gets_too_old(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    old = await post.world.store.cards.get(task.id)
    assert old is not None
    post.world.clock.advance(CAPABILITIES.card_lifetime - 200)
    await post.world.step(task, 1)
    await post.sent("Step 1 · Settings\nTapped Search")
    moved = await post.shown("This card has moved")
    assert moved.buttons == ()
    assert (await post.new_card(task, old)).made > old.made


async def test_plans_and_waits_are_on_the_card(post: Post) -> None:
    task = await post.world.working()
    post.world.agent.tell(task.id, Planned(plan="p", todos=(Todo(title="look it up", state="in progress"),)))
    await post.shown("▶ look it up")
    post.world.agent.tell(task.id, Told(text="Waiting for the phone to come back"))
    await post.shown("Waiting for the phone to come back")
    await post.world.step(task, 1)
    card = await post.shown("Tapped Search")
    assert "Waiting for the phone" not in card.body
    assert "▶ look it up" in card.body


@pytest.mark.parametrize(
    ("language", "cause", "words"),
    [
        ("en", Cause.BUSY, "The model is busy and accepts no requests right now. Retrying until 15:20."),
        ("en", Cause.NO_CONNECTION, "The model cannot be reached. Retrying until 15:20."),
        ("zh", Cause.BUSY, "模型太忙，暂时不接受请求。会一直重试到 15:20。"),
    ],
)
async def test_a_model_that_is_away_is_on_the_card_until_it_is_back(
    post: Post, language: str, cause: Cause, words: str
) -> None:
    """Seen failing before: the card said for how many minutes at most, from a moment that nobody could see."""
    world = post.world
    task = await world.working(person=replace(ANNA, language=language))
    until = datetime(2026, 11, 22, 15, 20, tzinfo=UTC).timestamp()
    world.task_service.model_away(task.id, ModelAway(cause=cause, until=until))
    await post.shown(words)
    world.task_service.model_away(task.id, ModelAway())
    await world.step(task, 1)
    assert words not in (await post.shown("Tapped Search")).body
    world.task_service.note(task.id, "The disk is full.")
    world.task_service.model_away(task.id, ModelAway())
    world.agent.tell(task.id, Planned(plan="p", todos=(Todo(title="look it up", state="in progress"),)))
    assert "The disk is full." in (await post.shown("▶ look it up")).body, "another wait is not over with it"


async def test_files_are_sent(post: Post) -> None:
    task = await post.world.working()
    small = await post.world.store.frames.save(b"content", suffix=".txt")
    large = await post.world.store.frames.save(b"x" * 10_000_001, suffix=".bin")
    post.world.agent.tell(
        task.id,
        FileFound(name="small.txt", content=small),
        FileFound(name="large.bin", content=large),
        FileFound(name="gone.txt", content=f"{'0' * 64}.txt"),
    )
    await post.sent("gone.txt was found on the phone, but is no longer stored")
    assert [file.data for message in post.chat.sent() for file in message.files] == [b"content"]
    assert any("large.bin is larger than the 10 MB" in message.body for message in post.chat.sent())


async def test_a_task_without_a_card_still_gets_its_final_message(post: Post) -> None:
    post.chat.faults.append(FloodWait(60))
    task = await post.world.working()
    await post.world.end(task, Outcome.FAILED)
    final = await post.sent("It is done.")
    assert final.heading.startswith("❌ Failed")
    assert len(post.chat.sent()) <= 2


async def test_after_a_restart_the_chat_is_told_with_resume(tmp_path: Path) -> None:
    clock, chat = Clock(), LoopbackChat()
    async with a_post(tmp_path, clock=clock, chat=chat) as before:
        task = await before.world.working()
        await before.shown("Looking at the phone")
        await before.world.step(task, 1)
        await before.shown("Step 1")
    async with a_post(tmp_path, clock=clock, chat=chat) as after:
        notice = await after.sent("the service restarted")
        assert [button.label for button in notice.buttons[0]] == ["Resume", "Stop"]
        assert notice.notify
        await after.shown("Interrupted")
        await after.world.task_service.cancel(task.id, ANNA)
        await after.sent("Cancelled by Anna.")
        headings = [message.heading for message in chat.sent()]
        assert headings.count("Task 1 · Step 1 · Settings") == 1, "no step is told again"
        assert len([call for call in chat.calls if call.verb == "open"]) == 1


async def test_a_question_answered_after_a_restart_loses_its_buttons(tmp_path: Path) -> None:
    clock, chat = Clock(), LoopbackChat()
    async with a_post(tmp_path, clock=clock, chat=chat) as before:
        task = await before.world.working()
        question = await before.world.ask(task)
        await before.sent("A question for you")
        await before.shown("Waiting for an answer")
    async with a_post(tmp_path, clock=clock, chat=chat) as after:
        await after.world.until(task, TaskState.WAITING)
        await after.world.task_service.answer(question.question.id, "blue", ANNA)
        assert (await after.shown("Answered by Anna: blue")).buttons == ()


@pytest.mark.parametrize("knows", [True, False])
async def test_a_crash_while_sending_gives_one_final_message_or_a_marked_repeat(tmp_path: Path, knows: bool) -> None:
    """The row is left as a process leaves it that dies between sending and noting it down.

    Seen failing with the nonce made from the time instead of the row: the message then stood there twice. And with
    `repeated` always False: the repeat was then not marked.
    """
    clock, chat = Clock(), LoopbackChat(capabilities=replace(CAPABILITIES, knows_delivery=knows))
    async with a_post(tmp_path, clock=clock, chat=chat) as before:
        task = await before.world.working()
        await before.shown("Looking at the phone")
        await before.outbox.stop()
        await before.world.end(task)
        (row,) = await before.world.store.outbox.pending(clock())
        assert await before.world.store.outbox.sending(row.id)
        place = (await before.world.task_service.known(task.id)).place
        assert place is not None
        message = await render_final(
            await before.world.task_service.known(task.id), frames=before.world.store.frames, now=1.0
        )
        await chat.send(place, message, nonce=f"o{row.id}")
    async with a_post(tmp_path, clock=clock, chat=chat) as after:
        sends = len(chat.sent())
        await after.until(lambda: len(chat.sent()) > sends)
        await after.until(lambda: bool(after.calls("close")))
        finals = [message for message in chat.messages() if message.body == "It is done."]
        assert len(finals) == (1 if knows else 2)
        assert ("may be a repeat" in finals[-1].footer) is not knows
        assert await after.finals(task) == [("sent", "")]


async def test_a_chat_that_connects_later_gets_what_waited(tmp_path: Path) -> None:
    async with a_post(tmp_path) as post:
        post.world.chats.clear()
        task = await post.world.working()
        await post.world.end(task)
        post.world.chats["discord"] = post.chat
        await post.sent("It is done.")


async def test_a_question_that_was_closed_before_it_was_shown_is_not_sent(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    post.chat.faults.append(FloodWait(60))
    await post.world.step(task, 1)
    await post.until(lambda: not post.chat.faults)
    question = await post.world.ask(task)
    await post.world.task_service.answer(question.question.id, "blue", ANNA)
    await post.world.end(task)
    await post.sent("It is done.")
    assert not [message for message in post.chat.sent() if message.heading.startswith("A question for you")]


class SlowChat(LoopbackChat):
    """Takes its time for the final message."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        if message.notify:
            self.begun.set()
            await self.go.wait()
        return await LoopbackChat.send(self, place, message, nonce=nonce, turn=turn)


async def test_stopping_lets_a_send_finish(tmp_path: Path) -> None:
    chat = SlowChat()
    async with a_post(tmp_path, chat=chat) as post:
        task = await post.world.working()
        await post.shown("Looking at the phone")
        await post.world.end(task)
        await post.until(chat.begun.is_set)
        stopping = asyncio.create_task(post.outbox.stop())
        chat.go.set()
        await stopping
        assert await post.finals(task) == [("sent", "")]


async def test_a_fault_of_the_program_does_not_end_the_sending(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    post.chat.faults.extend([RuntimeError("a bug"), RuntimeError("a bug"), RuntimeError("a bug")])
    await post.world.step(task, 1)
    await post.world.end(task)
    await post.sent("It is done.")
    assert "was not sent because of a fault" in caplog.text


async def test_a_thread_that_cannot_be_closed_is_no_loss(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    task = await post.world.working()
    await post.shown("Looking at the phone")
    await post.until(lambda: post.world.clock.next_wake() is not None)
    post.chat.faults.extend([None, None, ChatError("no right to archive")])
    await post.world.end(task)
    await post.sent("It is done.")
    await post.until(lambda: "stays open" in caplog.text or bool(post.calls("close")))
    assert await post.finals(task) == [("sent", "")]


async def _five_steps_before_a_fault(post: Post, *faults: Exception) -> Task:
    """Four steps on the card, and the fifth that makes a message of them, which meets these faults."""
    task = await post.world.working()
    await post.shown("Looking at the phone")
    for number in range(1, FOLD):
        await post.world.step(task, number)
    await post.shown("Step 4")
    await post.world.step(task, FOLD)
    await post.shown("Step 5")
    post.chat.faults.extend(faults)
    await post.until(lambda: not post.chat.faults)
    return task


async def test_steps_that_could_not_be_sent_are_tried_again(post: Post) -> None:
    await _five_steps_before_a_fault(post, ChatError("no network"), ChatError("no network"))
    await post.sent("Task 1 · Steps 1 to 5")
    assert len([one for one in post.chat.sent() if "Steps" in one.heading]) == 1


@pytest.mark.parametrize("fault", [ChatRefused("AutoMod"), RuntimeError("a bug")])
async def test_steps_that_can_never_be_sent_hold_up_no_others(post: Post, fault: Exception) -> None:
    task = await _five_steps_before_a_fault(post, fault)
    for number in range(FOLD + 1, 2 * FOLD + 1):
        await post.world.step(task, number)
    await post.sent("Task 1 · Steps 6 to 10")
    await post.shown("Step 10")


async def test_a_step_whose_thread_is_gone_takes_the_task_to_the_chat_around_it(post: Post) -> None:
    """Seen failing before: every further step was tried in the thread that is gone."""
    task = await post.world.working()
    await post.shown("Looking at the phone")
    await post.world.step(task, 1, summary="Tapped One")
    await post.shown("Step 1 · Settings\nTapped One")
    place = (await post.world.task_service.known(task.id)).place
    assert place is not None
    post.chat.lost.add(place)
    await post.world.step(task, 2, summary="Tapped Two")
    shown = await post.shown("Step 2 · Settings\nTapped Two")
    assert shown in post.chat.messages(task.origin)


async def test_steps_that_the_budget_had_no_room_for_are_told_before_the_end(post: Post) -> None:
    """Must fail with `Gentle.finish` that drops what is left: the steps from the third on were told nowhere."""
    task = await post.world.working()
    await post.shown("Looking at the phone")
    for number in range(1, 41):
        await post.world.step(task, number, summary=f"Tapped number {number}")
    await post.world.end(task)
    await post.closed("It is done.")
    sent = post.chat.sent()
    assert sent[-1].heading.startswith("✅ Done")
    told = [
        f"Tapped number {number}"
        for number in range(1, 41)
        if any(
            f"Tapped number {number}" in message.body.replace(".", "\n").split("\n")
            or f"{number}. Tapped number {number}" in message.body.split("\n")
            for message in sent
            if "Step" in message.heading
        )
    ]
    assert len(told) == 40
    assert len([message for message in sent if "Steps" in message.heading]) >= 1


async def test_a_long_step_shows_its_clock_on_the_card(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    await post.world.step(task, 1)
    await post.shown("Step 1 · Settings\nTapped Search")
    began = post.world.clock()
    edits = len(post.calls("edit"))
    await post.until(lambda: post.world.clock() > began + 200)
    beats = post.calls("edit")[edits:]
    assert 3 <= len(beats) <= 8
    assert len({call.message.footer for call in beats if call.message}) == len(beats)


@pytest.mark.parametrize("paused", [True, False])
async def test_the_card_of_a_standing_task_moves_by_itself(post: Post, paused: bool) -> None:
    """Must fail without `CardSlot.next_refresh`: the card stayed where it was, too old to be changed."""
    task = await post.world.working()
    await post.shown("Looking at the phone")
    if paused:
        await post.world.task_service.pause(task.id, ANNA)
        await post.shown("Paused")
    else:
        await post.world.ask(task)
        await post.shown("Waiting for an answer")
    old = await post.world.store.cards.get(task.id)
    assert old is not None
    sent = len(post.calls("send"))
    await post.until(lambda: any("has moved" in message.body for message in post.chat.messages()))
    await post.until(lambda: len(post.calls("send")) > sent)
    new = await post.new_card(task, old)
    assert new.made - old.made < CAPABILITIES.card_lifetime


async def test_a_card_is_tried_again_when_the_network_fails(post: Post) -> None:
    post.chat.faults.extend([ChatError("no network"), ChatError("no network")])
    task = await post.world.working()
    await post.shown("Looking at the phone")
    await post.until(lambda: post.world.clock.next_wake() is not None)
    assert (await post.world.task_service.known(task.id)).place is not None


async def test_a_card_in_a_lost_chat_is_given_up_quietly(post: Post, caplog: pytest.LogCaptureFixture) -> None:
    post.chat.lost.add(CHANNEL.address)
    await post.world.working()
    await post.until(lambda: "cannot be shown" in caplog.text)
    assert post.chat.sent() == []


async def test_a_task_is_told_in_the_language_of_who_gave_it(post: Post) -> None:
    task = await post.world.working(person=replace(ANNA, language="zh-CN"))
    await post.shown("正在查看手机")
    await post.world.end(task)
    await post.sent("完成")


async def test_the_final_message_has_a_recap_and_the_button_again(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    for number in (1, 2, 3):
        await post.world.step(task, number, frame=await post.world.store.frames.save(png(), suffix=".png"))
    await post.world.end(task)
    final = await post.closed("It is done.")
    assert [file.name for file in final.files] == ["recap.gif"]
    assert [button.label for row in final.buttons for button in row] == ["Again"]


async def test_six_people_at_once_in_one_channel_each_see_a_card_within_a_second(tmp_path: Path) -> None:
    chat = LoopbackChat(capabilities=replace(CAPABILITIES, threads_apart=True))
    async with a_post(tmp_path, chat=chat) as post:
        began = post.world.clock()
        tasks = [await post.world.do(f"task of person {number}") for number in range(6)]
        await post.until(lambda: len(post.calls("send")) == len(tasks))
        assert {call.at - began for call in post.calls("send")} <= {0.0, 1.0}
        assert len({call.place for call in post.calls("send")}) == len(tasks)


async def test_the_actors_of_threads_end_with_their_tasks(tmp_path: Path) -> None:
    chat = LoopbackChat(capabilities=replace(CAPABILITIES, threads_apart=True))
    async with a_post(tmp_path, chat=chat) as post:
        task = await post.world.working()
        await post.shown("Looking at the phone")
        await post.world.end(task)
        await post.closed("It is done.")
        await post.until(lambda: not post.outbox._conversations)
        assert len(await post.finals(task)) == 1


async def test_a_card_tells_a_new_state_at_once(post: Post) -> None:
    task = await post.world.working()
    await post.shown("Looking at the phone")
    began = post.world.clock()
    await post.world.task_service.pause(task.id, ANNA)
    await post.shown("Paused")
    assert post.calls("edit")[-1].at - began < 2.5
