"""People who give tasks, answer questions and press Resume, at random; they come back however often the bot is gone."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

from tests.fakes.telegram import Chat, FakeTelegram, Message, User

ANSWERS = {"Which colour": "the blue one", "A code": "246810"}
BUTTONS = ("Resume", "Allow", "Done")
"""What they press when they see it; never Stop."""


@dataclass
class People:
    """One person in a private chat. `jobs` are the tasks that they have asked for."""

    fake: FakeTelegram
    alice: User
    chat: Chat
    chance: random.Random
    most: int
    jobs: list[str] = field(default_factory=list)
    done: set[tuple[int, str]] = field(default_factory=set)

    async def live(self) -> None:
        """Do something now and then, until cancelled."""
        while True:
            await asyncio.sleep(self.chance.uniform(0.1, 0.8))
            if len(self.jobs) < self.most and self.chance.random() < 0.3:
                await self.ask()
            await self.look()

    async def ask(self) -> None:
        """Give a task."""
        job = f"job {len(self.jobs) + 1:03}: tidy the phone up"
        self.jobs.append(job)
        await self.fake.say(self.alice, self.chat, f"/do {job}")

    async def look(self) -> None:
        """Press and answer what is new in the chat."""
        for message in self.fake.from_bot(self.chat):
            for data, label in list(message.buttons.items()):
                if label in BUTTONS and self._first(message, data):
                    await self.fake.press(self.alice, message, data)
            for words, answer in ANSWERS.items():
                if words in message.text and "Open for" in message.text and self._first(message, words):
                    await self.fake.say(self.alice, self.chat, answer, reply_to=message)

    def look_again(self) -> None:
        """Forget what was pressed: a press that went down with the service is tried again, as people do."""
        self.done.clear()

    def finals(self, job: str) -> list[Message]:
        """The messages that tell how the job ended."""
        endings = ("Done", "Blocked", "Failed", "Cancelled")
        return [
            message
            for message in self.fake.messages(self.chat)  # an album counts too
            if message.sender is self.fake.bot
            and job in message.text
            and any(f"{ending} · Task" in message.text for ending in endings)
        ]

    def _first(self, message: Message, what: str) -> bool:
        key = (message.id, what)
        if key in self.done:
            return False
        self.done.add(key)
        return True
