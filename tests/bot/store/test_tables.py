from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from agent.effect_facts import ScreenChanged
from agent.models.base import Usage
from agent.ports.journal import ActionKey, LeaseLost
from agent.questions import Question, QuestionKind
from agent.run import Outcome, RunId
from bot.domain.address import Address, MessageRef, Person
from bot.domain.task import StepRow, Task, TaskState, locator
from bot.domain.task_request import Origin, WishedPhone
from bot.store.database import Transaction
from bot.store.errors import StoreConflict
from bot.store.outbox import FilePayload, FinalPayload, Notice, NoticePayload, QuestionPayload
from bot.store.store import Store
from tests.bot.store.conftest import ANNA, HERE, add_task, wish

THREAD = Address("web", "console", "main", thread="7")
MESSAGE = MessageRef(THREAD, "5")
FILE = FilePayload("a" * 64 + ".bin", "list.txt")


async def test_a_task_comes_back_as_it_was_saved(store: Store) -> None:
    task = await add_task(store)
    assert (task.id, task.state, task.request) == ("1", TaskState.QUEUED, wish())
    ended = replace(
        task,
        state=TaskState.ENDED,
        outcome=Outcome.SUCCEEDED,
        summary="Done.",
        data="4",
        phone="p1",
        steps=3,
        usage=Usage(10, 5, 2, 1, 3, False, 0.25),
        place=THREAD,
        started=1.0,
        ended=2.0,
        frame="f.jpg",
    )
    await store.write(lambda t: store.tasks.save(t, ended, now=2.0))
    assert await store.tasks.get("1") == ended
    assert await store.tasks.active() == ()


@pytest.mark.parametrize("wrong", ["", "x", "-1", "2", "１", "9" * 30])
async def test_an_unknown_number_is_no_task(store: Store, wrong: str) -> None:
    await add_task(store)
    assert await store.tasks.get(wrong) is None


async def test_the_task_meant_when_none_is_named(store: Store) -> None:
    tasks = [await add_task(store, str(number)) for number in range(3)]
    elsewhere = Address("web", "console", "other")

    async def end(transaction: Transaction) -> None:
        await store.tasks.save(transaction, replace(tasks[0], place=THREAD), now=1)
        done = replace(tasks[2], state=TaskState.ENDED, outcome=Outcome.FAILED, ended=1.0, place=HERE)
        await store.tasks.save(transaction, done, now=1)

    await store.write(end)
    latest = partial(store.tasks.latest_for, elsewhere=True)
    other = Person("web", "2")
    assert [found and found.id for found in (await latest([ANNA], HERE), await latest([ANNA], elsewhere))] == ["2", "2"]
    assert [found and found.id for found in (await latest([ANNA], THREAD), await latest([other], THREAD))] == ["1", "1"]
    assert await latest([other], HERE) is None
    only_here = partial(store.tasks.latest_for, elsewhere=False)
    assert await only_here([ANNA], elsewhere) is None
    found = [await only_here([ANNA], HERE), await only_here([other], THREAD)]
    assert [task and task.id for task in found] == ["2", "1"]
    assert [task.id for task in await store.tasks.recent(2)] == ["3", "2"]
    assert [task.id for task in await store.tasks.recent(9, before="3", accounts=[ANNA])] == ["2", "1"]
    assert await store.tasks.recent(9, accounts=[other]) == ()
    in_place = [await store.tasks.in_place(place) for place in (THREAD, HERE, elsewhere)]
    assert [found and found.id for found in in_place] == ["1", "2", None]


async def test_a_task_on_several_phones_is_meant_as_a_whole(store: Store) -> None:
    """Seen failing without `_WHOLE` in `_IN_PLACE`: the last part was found."""

    async def add(transaction: Transaction) -> list[Task]:
        whole = await store.tasks.add(transaction, wish(), now=1, parts=2)
        asked = [replace(wish(), phones=(WishedPhone(phone, phone),)) for phone in ("pixel", "nokia")]
        return [whole, *[await store.tasks.add(transaction, one, now=1, parent=whole.id) for one in asked]]

    whole, *parts = await store.write(add)
    for place in (HERE, THREAD):
        await store.write(partial(store.tasks.save, task=replace(whole, place=place), now=2))
        found = [await store.tasks.in_place(place), await store.tasks.latest_for([ANNA], place, elsewhere=True)]
        assert [task and task.id for task in found] == [whole.id, whole.id]
    assert await store.tasks.in_place(HERE) is None, "its parts are not in the chat when it has a thread"
    assert await store.tasks.parts(whole.id) == tuple(parts)


async def test_events_are_known_per_chat_until_forgotten(store: Store) -> None:
    task = await add_task(store)
    await store.write(lambda t: store.tasks.remember_event(t, wish("1").origin, task.id, now=10))
    assert await store.write(lambda t: store.tasks.of_event(t, wish("1").origin)) == task
    elsewhere = Origin(Address("web", "console", "other"), "1")
    assert await store.write(lambda t: store.tasks.of_event(t, elsewhere)) is None
    await store.tasks.forget_events(before=11)
    assert await store.write(lambda t: store.tasks.of_event(t, wish("1").origin)) is None


async def test_steps_come_back_in_order_and_once(store: Store) -> None:
    task = await add_task(store)
    step = StepRow(
        task.id,
        RunId("1"),
        1,
        1,
        60,
        "tap",
        "why",
        {"kind": "tap"},
        (ScreenChanged(),),
        "app",
        "f",
        (1, 2),
        Usage(1),
        0.5,
        9.0,
    )
    second = replace(step, step=2, mark=None, frame=None, app_name="Notes")
    for row, new in ((step, True), (second, True), (replace(step, summary="again"), False)):
        assert await store.write(lambda t, row=row: store.steps.add(t, row)) is new  # type: ignore[misc]  # one row a call
    assert await store.steps.of(task.id) == (step, second)


async def test_an_action_is_begun_once_and_only_under_the_lease(store: Store) -> None:
    """Seen failing (no LeaseLost) with the SELECT on the lease in `ActionJournal.begin` taken away."""
    key = ActionKey(RunId("1"), 1, 1, 0)
    lease = await store.leases.take(RunId("1"), "p", alive=(), now=0, expires=15)
    assert lease is not None
    assert await store.journal.begin(key, {"kind": "tap"}, fence=lease.fence)
    assert not await store.journal.begin(key, {"kind": "tap"}, fence=lease.fence)
    assert await store.journal.action_of(key) == {"kind": "tap"}
    assert await store.journal.action_of(replace(key, index=9)) is None
    await store.journal.finish(key, "done", "the page changed")
    assert not await store.journal.begin(key, {"kind": "tap"}, fence=lease.fence)
    later = ActionKey(RunId("1"), 1, 2, 0)
    with pytest.raises(LeaseLost):
        await store.journal.begin(later, {}, fence=lease.fence + 1)
    second = await store.leases.take(RunId("2"), "p", alive=(), now=15, expires=30)
    assert second is not None
    assert second.fence == lease.fence + 1
    with pytest.raises(LeaseLost):
        await store.journal.begin(later, {}, fence=lease.fence)


async def test_one_run_holds_one_phone(store: Store) -> None:
    assert await store.leases.take(RunId("1"), "p", alive=(), now=0, expires=15)
    assert await store.leases.take(RunId("2"), "p", alive=(RunId("1"),), now=20, expires=35) is None
    assert await store.leases.take(RunId("1"), "q", alive=(RunId("1"),), now=20, expires=35) is None
    with pytest.raises(StoreConflict):
        await store.write(lambda t: t.fetch("INSERT INTO leases VALUES ('p', 99, 'r3', 0, 99, NULL)"))
    assert [lease.run for lease in await store.leases.open_leases()] == [RunId("1")]
    await store.leases.release(RunId("1"), now=21)
    assert await store.leases.take(RunId("2"), "p", alive=(), now=22, expires=37)


async def test_outbox_rows_keep_their_order_within_a_task(store: Store) -> None:
    task, other = await add_task(store), await add_task(store, "2")
    for owner, payload in ((task, NoticePayload(Notice.STARTED)), (task, FILE), (other, FinalPayload())):
        await store.write(lambda t, o=owner, p=payload: store.outbox.add(t, o.id, p, now=1))  # type: ignore[misc]  # bound here
    first, second, third = await store.outbox.pending(5)
    assert await store.outbox.sending(first.id)
    assert not await store.outbox.sending(second.id)
    assert await store.outbox.pending(5) == (third,)
    await store.outbox.retry(first.id, 10)
    assert not await store.outbox.sending(second.id)
    assert await store.outbox.pending(5) == (third,)
    assert [row.id for row in await store.outbox.pending(10)] == [1, 2, 3]
    assert await store.outbox.sending(first.id)
    await store.outbox.sent(first.id, MESSAGE)
    await store.outbox.dead(second.id, "the chat is gone")
    assert not await store.outbox.sending(first.id)
    assert await store.outbox.pending(10) == (third,)
    sent, dead = await store.outbox.of(task.id)
    assert (sent.state, sent.message, sent.attempts, dead.state, dead.why) == (
        "sent", MESSAGE, 2, "dead", "the chat is gone",
    )  # fmt: skip
    with pytest.raises(StoreConflict):
        await store.write(lambda t: store.outbox.add(t, other.id, FinalPayload(), now=2))


async def test_what_a_message_is_about_comes_back_as_it_was_kept(store: Store) -> None:
    task = await add_task(store)
    payloads = (
        QuestionPayload("q1"),
        NoticePayload(Notice.INTERRUPTED),
        FILE,
        FinalPayload(quiet=True),
    )
    for payload in payloads:
        await store.write(lambda t, p=payload: store.outbox.add(t, task.id, p, now=1))  # type: ignore[misc]  # bound here
    assert tuple(row.payload for row in await store.outbox.of(task.id)) == payloads


async def test_what_was_being_sent_at_a_crash_is_uncertain(store: Store) -> None:
    task = await add_task(store)
    await store.write(lambda t: store.outbox.add(t, task.id, FinalPayload(), now=1))
    assert await store.outbox.sending(1)
    await store.outbox.recover(0.0)
    (row,) = await store.outbox.pending(1)
    assert row.uncertain


async def test_the_first_answer_in_time_wins(store: Store) -> None:
    task = await add_task(store)
    question = Question(id="q1", run=RunId("1"), kind=QuestionKind.ASK, text="Which?", choices=("a", "b"))
    for new in (True, False):
        assert await store.write(lambda t: store.questions.add(t, task.id, question, now=1, expires=10)) is new
    await store.questions.shown("q1", MESSAGE)
    found = await store.questions.by_message(MESSAGE)
    assert found is not None
    assert found.question == question
    assert await store.questions.open(place=HERE) == await store.questions.open(task.id) == (found,)
    assert await store.questions.open(place=THREAD) == ()
    assert not await store.write(lambda t: store.questions.answer(t, "q1", "late", by="Anna", now=10))
    assert await store.write(lambda t: store.questions.answer(t, "q1", "a", by="Anna", now=9))
    assert not await store.write(lambda t: store.questions.answer(t, "q1", "b", by="Bert", now=9))
    assert await store.write(lambda t: store.questions.expire(t, now=99)) == ()
    answered = await store.questions.get("q1")
    assert answered == replace(found, answer="a", answered_by="Anna", closed=9)
    assert await store.questions.by_locator(locator("q1")) == answered, "open or closed"
    assert await store.questions.by_locator(locator("q2")) is None


async def test_cards_and_refusals(store: Store) -> None:
    task = await add_task(store)
    assert await store.cards.get(task.id) is None
    await store.cards.put(task.id, MESSAGE, 1.0)
    await store.cards.put(task.id, MessageRef(THREAD, "6"), 2.0)
    card = await store.cards.get(task.id)
    assert card is not None
    assert (card.message.message, card.made) == ("6", 2.0)
    await store.refusals.count("discord", "user")
    await store.refusals.count("discord", "user")
    (total,) = await store.refusals.totals()
    assert (total.platform, total.kind, total.day, total.count) == ("discord", "user", "1970-01-01", 2)


async def test_names_of_phones(store: Store) -> None:
    await store.phone_names.keep("a", "Desk")
    await store.phone_names.keep("b", "Shelf")
    await store.phone_names.keep("a", "Desk two")
    assert await store.phone_names.names() == {"a": "Desk two", "b": "Shelf"}
    with pytest.raises(StoreConflict):
        await store.phone_names.keep("a", "SHELF")
    await store.phone_names.keep_usual("a", "Pixel 7")
    await store.phone_names.keep_usual("b", "Pixel 7 2")
    await store.phone_names.keep_usual("a", "Pixel 8")
    assert await store.phone_names.usual() == {"a": "Pixel 8", "b": "Pixel 7 2"}
    assert await store.phone_names.names() == {"a": "Desk two", "b": "Shelf"}, "these were given"
