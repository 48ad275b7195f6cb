"""The outbox on the real Telegram adapter and a fake that counts as Telegram does, in virtual time over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from agent.events import Started
from agent.questions import QuestionKind
from agent.run import RunId
from bot.chats.telegram.chat import TelegramChat
from bot.chats.telegram.limits import CAPABILITIES, Times
from bot.commands.dispatcher import Commands
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import Intake
from bot.domain.clock import WaitingClock
from bot.domain.outgoing import Message, Turn, at_once
from bot.domain.task import Task, TaskState
from bot.domain.task_request import Origin, TaskRequest
from bot.outbox.outbox import Outbox
from bot.outbox.rate_limit import ChatRateLimits, ReplyTurns, Urgency
from bot.people.access import Lists, Policy
from bot.people.rights import Rights
from tests.bot.chats.telegram.recording import Recording
from tests.bot.world import World, a_world, png
from tests.fakes.telegram import TOKEN, Chat, FakeTelegram, User
from tests.fakes.telegram.rates import Rates

pytestmark = pytest.mark.slow

QUIET = 0.003
"""Real seconds without news after which the clock goes on; while a request is under way it stands still."""
STEPS = 60
STEP_SECONDS = 4.0
Result = TypeVar("Result")


class Watched(TelegramChat):
    """Knows how many requests are under way."""

    def __init__(self, fake: FakeTelegram, clock: Callable[[], float], intake: Intake | None = None) -> None:
        times = Times(poll=5.0, answer=1.0, stall=60.0, first_retry=0.01, last_retry=0.05)
        super().__init__(TOKEN, intake or Recording(), base_url=fake.base_url, times=times, clock=clock)
        self.under_way = 0

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        return await self._watched(turn, lambda mine: TelegramChat.send(self, place, message, nonce=nonce, turn=mine))

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        await self._watched(turn, lambda mine: TelegramChat.edit(self, ref, message, turn=mine))

    async def _watched(self, turn: Turn, call: Callable[[Turn], Awaitable[Result]]) -> Result:
        going = 0

        async def mine() -> None:
            nonlocal going
            self.under_way -= going
            going = 0
            await turn()
            going = 1
            self.under_way += 1

        try:
            return await call(mine)
        finally:
            self.under_way -= going


@dataclass
class RateLimitedChat:
    """A group and a private chat, with the outbox on them."""

    world: World
    fake: FakeTelegram
    rates: Rates
    chat: Watched
    alice: User
    group: Chat
    private: Chat
    person: Person
    frame: str

    async def task(self, text: str, chat: Chat) -> Task:
        origin = Address("telegram", str(self.fake.bot.id), str(chat.id))
        accepted = await self.world.task_service.accept(TaskRequest(text, self.person, Origin(origin, text)))
        task = accepted.task
        phone = self.world.phones.phones[0]
        self.world.agent.tell(task.id, Started(run=RunId(task.id), phone=phone.id, phone_name=phone.name))
        return await self.world.until(task, TaskState.WORKING)

    async def live(self, seconds: float) -> None:
        """Let so much time pass."""
        clock = self.world.clock
        until = clock() + seconds
        while clock() < until:
            await self._quiet()
            clock.advance(min(until - clock(), clock.next_wake() or seconds))
        await self._quiet()

    async def until(self, ready: Callable[[], bool], most: float) -> float:
        """Let time pass until something holds; how long that took, at most `most` seconds."""
        began = self.world.clock()
        while not ready():
            assert self.world.clock() - began <= most, "not in time"
            await self._quiet()
            if not ready():
                self.world.clock.advance(min(0.25, max(0.01, self.world.clock.next_wake() or 0.25)))
        return self.world.clock() - began

    def texts(self, chat: Chat) -> list[str]:
        return [message.text for message in self.fake.from_bot(chat)]

    def told(self, chat: Chat, text: str) -> bool:
        return any(text in one for one in self.texts(chat))

    async def _quiet(self) -> None:
        async with asyncio.timeout(20):
            for _ in range(4):
                # As busy as the machine is, so long do these take: what the outbox waits for has then come, too.
                await asyncio.sleep(QUIET)
                await self.world.task_service.active()
                await asyncio.to_thread(png)
                while self.chat.under_way:
                    await asyncio.sleep(QUIET)


@asynccontextmanager
async def a_line(path: Path) -> AsyncIterator[RateLimitedChat]:
    async with FakeTelegram() as fake, a_world(path) as world:
        alice = fake.user("alice")
        private, group = fake.private(alice), fake.group()
        fake.rates = Rates(world.clock)
        rate_limits, time = ChatRateLimits(world.clock), WaitingClock(world.clock, world.clock.sleep)
        lists = Lists(chats=frozenset({str(group.id)}), users=frozenset({str(alice.id)}))
        rights = await Rights.open(Policy({"telegram": lists}), world.store)
        turns = ReplyTurns(rate_limits, world.chats, time)
        services = replace(
            world.services, rights=rights, turns=turns, press_turns=partial(turns, urgency=Urgency.URGENT)
        )
        chat = Watched(fake, world.clock, Commands(services))
        running = asyncio.create_task(chat.run())
        await fake.connected()
        world.chats["telegram"] = chat
        outbox = Outbox(
            world.task_service,
            world.store,
            world.chats,
            "all",
            rate_limits=rate_limits,
            clock=world.clock,
            sleep=time.sleep,
        )
        await outbox.start()
        frame = await world.store.frames.save(png(), suffix=".png")
        person = Person("telegram", str(alice.id), "alice")
        try:
            yield RateLimitedChat(world, fake, fake.rates, chat, alice, group, private, person, frame)
        finally:
            await outbox.stop()
            await chat.close()
            await asyncio.wait_for(running, 10)


async def test_two_runs_of_sixty_steps_in_a_group_stay_within_the_limits(tmp_path: Path) -> None:
    """Seen failing with a `Window` that lets everything go: calls were refused, and the final message came late."""
    async with a_line(tmp_path) as line:
        first, second = await line.task("look for a train", line.group), await line.task("read mail", line.group)
        for number in range(1, STEPS + 1):
            for task in (first, second):
                await line.world.step(task, number, summary=f"Did {task.id}-{number}-", frame=line.frame)
            if number == 20:
                asked = await line.world.ask(first, QuestionKind.APPROVE)
                await line.until(lambda: line.told(line.group, "Your approval is needed"), most=6.0)
                await line.world.task_service.answer(asked.question.id, "allow", line.person)
                line.world.agent.tell(first.id, Started(run=RunId(first.id), phone="pixel", phone_name="Pixel"))
                await line.until(lambda: line.told(line.group, "Answered by alice"), most=20.0)
            await line.live(STEP_SECONDS)
        interval = CAPABILITIES.edit_interval_group
        for number, task in enumerate((first, second), 1):
            await line.world.end(task)

            def ended(count: int = number) -> bool:
                return len([text for text in line.texts(line.group) if "It is done." in text]) == count

            await line.until(ended, most=interval)
        await line.live(120)
        assert line.rates.refused == []
        assert len(line.rates.calls) > 40
        told = "\n".join(text for text in line.texts(line.group) if "Step" in text)
        missing = [
            f"{task.id}-{number}"
            for task in (first, second)
            for number in range(1, STEPS + 1)
            if f"Did {task.id}-{number}-" not in told
        ]
        assert missing == []


async def test_a_flood_answer_silences_that_chat_alone_and_loses_nothing(tmp_path: Path) -> None:
    """The group is left alone for the 30 seconds, while the private chat goes on."""
    async with a_line(tmp_path) as line:
        slow = await line.task("look for a train", line.group)
        await line.until(lambda: line.told(line.group, "Looking at the phone"), most=10.0)
        line.fake.faults.flood(30)
        await line.world.step(slow, 1, summary="Did 1-1-")
        await line.until(lambda: line.fake.faults.faults[0].times == 0, most=20.0)
        silent_from, before = line.world.clock(), len(line.rates.calls)
        quick = await line.task("read mail", line.private)
        await line.world.step(quick, 1, summary="Did 2-1-")
        await line.world.end(slow)
        await line.world.end(quick)
        await line.until(lambda: line.told(line.private, "It is done."), most=15.0)
        await line.until(lambda: line.told(line.group, "It is done."), most=40.0)
        later = line.rates.calls[before:]
        assert min(at for at, chat, _ in later if chat == line.group.id) >= silent_from + 30
        assert any(chat == line.private.id and at < silent_from + 15 for at, chat, _ in later)
        assert line.told(line.group, "Did 1-1-")
        assert line.rates.refused == []


async def test_answers_to_commands_count_in_the_limits(tmp_path: Path) -> None:
    """Seen failing with `at_once` as the turn of every reply: Telegram refused the card beside them."""
    async with a_line(tmp_path) as line:
        task = await line.task("look for a train", line.group)
        for number in range(1, 16):
            await line.fake.say(line.alice, line.group, "/whoami")
            await line.world.step(task, number, summary=f"Did {task.id}-{number}-", frame=line.frame)
            await line.live(1.0)
        await line.world.end(task)
        await line.until(lambda: line.told(line.group, "It is done."), most=90.0)
        await line.until(lambda: len([one for one in line.texts(line.group) if str(line.alice.id) in one]) == 15, 90.0)
        assert line.rates.refused == []


async def test_who_types_all_the_time_does_not_keep_back_the_end(tmp_path: Path) -> None:
    """Seen failing with answers as urgent as final messages: a minute had to pass before the end was told."""
    async with a_line(tmp_path) as line:
        task = await line.task("look for a train", line.group)
        for _ in range(30):
            await line.fake.say(line.alice, line.group, "/whoami")
        await line.live(5.0)
        await line.world.end(task)
        await line.until(lambda: line.told(line.group, "It is done."), most=5.0)
        assert line.rates.refused == []


async def test_a_press_is_answered_at_once_however_much_was_said(tmp_path: Path) -> None:
    """Seen failing with the turn that other answers wait for: the card kept its buttons until the minute was over."""
    async with a_line(tmp_path) as line:
        task = await line.task("look for a train", line.group)
        await line.until(lambda: line.told(line.group, "Looking at the phone"), most=10.0)
        for _ in range(20):
            await line.fake.say(line.alice, line.group, "/whoami")
        await line.live(30.0)
        (card,) = [one for one in line.fake.from_bot(line.group) if "Looking at the phone" in one.text]
        (pause,) = [data for data, label in card.buttons.items() if label == "Pause"]
        await line.fake.press(line.alice, card, pause)
        # The minute has half a minute left; reading the press takes real time, in which the clock goes on.
        await line.until(lambda: "Resume" in card.buttons.values(), most=20.0)
        await line.world.end(task)
        await line.until(lambda: line.told(line.group, "It is done."), most=90.0)
        assert line.rates.refused == []
