"""People who give tasks, answer questions and press Resume, at random; they come back however often the bot is gone."""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

from simcord.backend.models import Channel
from simcord.backend.models import User as Member

from tests.fakes.discord import FakeDiscord
from tests.fakes.telegram import Chat, FakeTelegram, User

ANSWERS = {"Which colour": "the blue one", "A code": "246810", "I am stuck": "go on"}
BUTTONS = ("Resume", "Allow", "Done")
"""What they press when they see it; never Stop."""
ENDINGS = ("Done", "Blocked", "Failed", "Cancelled")
REPEAT = "may be a repeat"


@dataclass(frozen=True)
class Seen:
    """A message of the bot as people see it. `buttons` are labels by what they do."""

    id: int
    text: str
    buttons: dict[str, str]


@dataclass
class People(ABC):
    """One person on one platform. `jobs` are the tasks that they have asked for, at most `most`."""

    chance: random.Random
    most: int
    jobs: list[str] = field(default_factory=list)
    done: set[tuple[int, str]] = field(default_factory=set)
    platform = ""
    repeats = False
    """Whether a final message may be shown again, marked, once for each kill in the moment of its sending."""

    async def live(self) -> None:
        """Do something now and then, until cancelled."""
        while True:
            await asyncio.sleep(self.chance.uniform(0.1, 0.8))
            if len(self.jobs) < self.most and self.heard() and self.chance.random() < 0.3:
                await self.ask()
            await self.look()

    async def ask(self) -> None:
        """Give a task."""
        job = f"{self.platform} {len(self.jobs) + 1:03}: tidy the phone up"
        self.jobs.append(job)
        await self.say(job)

    async def look(self) -> None:
        """Press and answer what is new; of buttons that do the same, the newest."""
        messages = list(self.seen())
        newest = {data: message.id for message in messages for data in message.buttons}
        for message in messages:
            for data, label in message.buttons.items():
                if newest[data] != message.id:
                    continue
                # What was written while the bot was away is offered by its number.
                if (label in BUTTONS or label.isdigit()) and self._first(message, data):
                    await self.press(message, data)
            for words, answer in ANSWERS.items():
                if words in message.text and "Open for" in message.text and self._first(message, words):
                    await self.answer(message, answer)

    def look_again(self) -> None:
        """Forget what was pressed: a press that went down with the service is tried again, as people do."""
        self.done.clear()

    def questions(self) -> int:
        """How many questions can be seen."""
        return sum("Open for" in message.text for message in self.seen())

    def finals(self, job: str = "") -> list[Seen]:
        """The messages that tell how the job ended, or any."""
        return [
            message
            for message in self.seen()
            if job in message.text and any(f"{ending} · Task" in message.text for ending in ENDINGS)
        ]

    def heard(self) -> bool:
        """Whether what is said now arrives, at once or later."""
        return True

    @abstractmethod
    def seen(self) -> Iterator[Seen]:
        """The bot's messages, as they read now."""

    @abstractmethod
    async def say(self, job: str) -> None:
        """Ask for it."""

    @abstractmethod
    async def press(self, message: Seen, data: str) -> None:
        """Press a button."""

    @abstractmethod
    async def answer(self, message: Seen, text: str) -> None:
        """Answer a question."""

    def _first(self, message: Seen, what: str) -> bool:
        key = (message.id, what)
        if key in self.done:
            return False
        self.done.add(key)
        return True


@dataclass
class OnTelegram(People):
    """Somebody in a private chat."""

    fake: FakeTelegram = field(kw_only=True)
    user: User = field(kw_only=True)
    chat: Chat = field(kw_only=True)
    platform = "telegram"
    repeats = True

    def seen(self) -> Iterator[Seen]:
        """An album counts too."""
        for message in self.fake.messages(self.chat):
            if message.sender is self.fake.bot:
                yield Seen(message.id, message.text, message.buttons)

    async def say(self, job: str) -> None:
        await self.fake.say(self.user, self.chat, f"/do {job}")

    async def press(self, message: Seen, data: str) -> None:
        (pressed,) = [each for each in self.fake.messages(self.chat) if each.id == message.id]
        await self.fake.press(self.user, pressed, data)

    async def answer(self, message: Seen, text: str) -> None:
        (asked,) = [each for each in self.fake.messages(self.chat) if each.id == message.id]
        await self.fake.say(self.user, self.chat, text, reply_to=asked)


@dataclass
class OnDiscord(People):
    """Somebody in a channel of a server; each task has its thread."""

    fake: FakeDiscord = field(kw_only=True)
    user: Member = field(kw_only=True)
    channel: Channel = field(kw_only=True)
    platform = "discord"

    def heard(self) -> bool:
        """Discord keeps nothing for a bot that is away."""
        return self.fake.gateway.connected

    def seen(self) -> Iterator[Seen]:
        """What stands in a task's thread does not repeat the task, after which the thread is named."""
        for message in self.fake.from_bot(self.channel):
            yield Seen(message.id, message.content, self.fake.buttons(message))
        for thread in self.fake.threads(self.channel):
            for message in self.fake.from_bot(thread):
                yield Seen(message.id, f"{thread.name}\n{message.content}", self.fake.buttons(message))

    async def say(self, job: str) -> None:
        self.fake.say(self.user, self.channel, f"!opengui do {job}")

    async def press(self, message: Seen, data: str) -> None:
        place = self._place(message)
        self.fake.press(self.user, self.fake.message(place, message.id), data)

    async def answer(self, message: Seen, text: str) -> None:
        place = self._place(message)
        self.fake.say(self.user, place, text, reply_to=self.fake.message(place, message.id))

    def _place(self, message: Seen) -> Channel:
        places = (self.channel, *self.fake.threads(self.channel))
        return next(place for place in places if any(each.id == message.id for each in self.fake.from_bot(place)))
