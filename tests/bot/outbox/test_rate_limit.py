"""The budget of a conversation, in virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.chat import Budget, FloodWait
from bot.domain.clock import WaitingClock
from bot.domain.outgoing import Message
from bot.outbox.rate_limit import ChatRateLimit, RateLimitedChat, Urgency, windows
from tests.bot.chats.loopback import CAPABILITIES, LoopbackChat
from tests.bot.world import CHANNEL, Clock


@given(st.lists(st.tuples(st.sampled_from(Urgency), st.floats(0, 10)), max_size=120))
def test_no_window_is_ever_exceeded(calls: list[tuple[Urgency, float]]) -> None:
    """Seen failing with a `Window.delay` that looks at the last call alone: 60 calls went out in a minute."""
    clock = Clock()
    rate_limit = ChatRateLimit(CAPABILITIES, clock, group=True, account=windows(CAPABILITIES.account_budgets, clock))
    times: list[float] = []
    for urgency, later in calls:
        clock.advance(later)
        while (wait := rate_limit.delay(urgency)) > 0:
            clock.advance(wait)
        rate_limit.count_call()
        times.append(clock())
    for budget in CAPABILITIES.group_budgets:
        for at in times:
            assert len([one for one in times if at <= one < at + budget.seconds - 1e-6]) <= budget.calls


def test_what_is_silent_leaves_a_reserve() -> None:
    clock = Clock()
    rate_limit = ChatRateLimit(
        replace(CAPABILITIES, group_budgets=(Budget(4, 60.0),), edit_interval_group=0.1), clock, group=True
    )
    for _ in range(3):
        assert rate_limit.delay(Urgency.LOW) == 0
        rate_limit.count_call()
        clock.advance(1)
    assert rate_limit.delay(Urgency.LOW) == pytest.approx(57)
    assert rate_limit.delay(Urgency.URGENT) == 0


def test_answers_leave_room_for_what_notifies() -> None:
    clock = Clock()
    rate_limit = ChatRateLimit(replace(CAPABILITIES, group_budgets=(Budget(20, 60.0),)), clock, group=True)
    for _ in range(18):
        assert rate_limit.delay(Urgency.ANSWER) == 0
        rate_limit.count_call()
    assert rate_limit.delay(Urgency.ANSWER) == pytest.approx(60)
    assert rate_limit.delay(Urgency.URGENT) == 0


def test_chats_share_what_their_account_may_send() -> None:
    clock = Clock()
    account = windows((Budget(2, 1.0),), clock)
    one, other = (ChatRateLimit(CAPABILITIES, clock, group=True, account=account) for _ in range(2))
    one.count_call()
    other.count_call()
    assert ChatRateLimit(CAPABILITIES, clock, group=True, account=account).delay(Urgency.URGENT) == pytest.approx(1)


def a_line(chat: LoopbackChat, clock: Clock) -> RateLimitedChat:
    rate_limit = ChatRateLimit(CAPABILITIES, clock, group=True)
    return RateLimitedChat(chat, lambda _place: rate_limit, CHANNEL.address, WaitingClock(clock, clock.sleep))


async def test_a_turn_in_a_silence_is_refused_and_not_waited_for() -> None:
    clock, chat = Clock(), LoopbackChat()
    line = a_line(chat, clock)
    chat.faults.append(FloodWait(30))
    for _ in range(2):
        with pytest.raises(FloodWait):
            await line.send(CHANNEL.address, Message(body="one"), nonce="o1")
    assert line.silent_until == clock() + 30
    assert chat.calls == []


async def test_each_call_waits_for_its_turn_and_the_end_waits_for_none() -> None:
    clock, chat = Clock(), LoopbackChat(now=lambda: 0.0)
    line = a_line(chat, clock)
    ref = await line.send(CHANNEL.address, Message(body="one"), nonce="o1")
    edit = asyncio.create_task(line.edit(ref, Message(body="two")))
    async with asyncio.timeout(10):
        while clock.next_wake() is None:
            await asyncio.sleep(0)
    assert len(chat.calls) == 1
    line.hurry()
    await edit
    assert len(chat.calls) == 2
