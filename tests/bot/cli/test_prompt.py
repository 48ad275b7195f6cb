"""Questions at a terminal: what is shown, what is typed, and when they are over."""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

import pytest

from bot.cli.questions import Prompt, meant

WITHIN_S = 10.0


def question(
    kind: str = "ask", *choices: str, name: str = "q1", strict: bool = False, part: str = ""
) -> dict[str, Any]:
    line: dict[str, Any] = {"type": "question", "question": name, "kind": kind, "choices": choices, "strict": strict}
    return line | ({"part": part} if part else {})


class Person:
    """Who sits at the terminal, and what was made of what he typed."""

    def __init__(self, own: int, program: int) -> None:
        self.own = own
        self.program = program
        self.seen = ""
        self.given: asyncio.Queue[tuple[str, str | None]] = asyncio.Queue()
        self.refusals: list[str] = []
        os.set_blocking(own, False)

    async def sees(self, text: str) -> str:
        """Read what is shown until this stands there, and take it off; what stood before it."""
        came = asyncio.Event()
        asyncio.get_running_loop().add_reader(self.own, came.set)
        try:
            async with asyncio.timeout(WITHIN_S):
                while text not in self.seen:
                    await came.wait()
                    came.clear()
                    with suppress(BlockingIOError):  # what was told of was read already
                        self.seen += os.read(self.own, 4096).decode()
        finally:
            asyncio.get_running_loop().remove_reader(self.own)
        before, _, self.seen = self.seen.partition(text)
        return before

    def types(self, keys: str) -> None:
        os.write(self.own, keys.encode())

    async def give(self, name: str, text: str | None) -> str:
        self.given.put_nowait((name, text))
        return self.refusals.pop(0) if self.refusals else ""

    async def gave(self) -> tuple[str, str | None]:
        async with asyncio.timeout(WITHIN_S):
            return await self.given.get()

    @contextmanager
    def sits(self) -> Iterator[Prompt]:
        """The terminal is that of this process until the block ends; pytest has its own between tests."""
        before = sys.stdin
        with os.fdopen(os.dup(self.program)) as keys, os.fdopen(os.dup(self.program), "w") as screen:
            sys.stdin = keys
            try:
                with redirect_stdout(screen):
                    yield Prompt(self.give)
            finally:
                sys.stdin = before


@pytest.fixture
def person() -> Iterator[Person]:
    own, program = os.openpty()
    yield Person(own, program)
    os.close(own)
    os.close(program)


async def test_a_choice_is_taken_by_its_number(person: Person) -> None:
    with person.sits() as prompt:
        prompt.ask(question("approve", "allow", "deny"))
        await person.sees("1 Allow   2 Deny   Your answer: ")
        person.types("2\n")
        assert await person.gave() == ("q1", "deny")
        await prompt.close()


async def test_a_secret_is_not_shown_while_it_is_typed(person: Person) -> None:
    """Seen failing without `_unseen`."""
    with person.sits() as prompt:
        prompt.ask(question("secret"))
        await person.sees("(not shown while you type): ")
        person.types(" 47 11 \n")
        assert await person.gave() == ("q1", " 47 11 ")
        prompt.ask(question("ask", name="q2"))
        assert "47" not in await person.sees("Your answer: ")
        await prompt.close()


async def test_who_is_refused_is_asked_again_and_the_end_of_input_says_that_nobody_answers(person: Person) -> None:
    person.refusals.append("Please answer allow or deny.")
    with person.sits() as prompt:
        prompt.ask(question("approve", "allow", "deny"))
        await person.sees("Your answer: ")
        person.types("perhaps\n")
        assert await person.gave() == ("q1", "perhaps")
        await person.sees("Your answer: ")
        person.types("\x04")
        assert await person.gave() == ("q1", None)
        await prompt.close()


async def test_a_question_is_over_when_its_run_goes_on_and_the_next_one_is_asked(person: Person) -> None:
    """What was typed for the first is not taken for the second; the terminal shows again what is typed."""
    with person.sits() as prompt:
        prompt.ask(question("secret", name="q1", part="7.1"))
        prompt.ask(question("ask", "tea", "coffee", name="q2", part="7.2"))
        await person.sees("(not shown while you type): ")
        person.types("47")
        await prompt.drop("7.1")
        await person.sees("1 tea   2 coffee   A number, or your own words: ")
        person.types("water\n")
        assert await person.gave() == ("q2", "water")
        await prompt.close()
        assert termios.tcgetattr(person.program)[3] & termios.ECHO


@pytest.mark.parametrize(
    ("typed", "asked", "answer"),
    [
        ("1", question("ask", "tea", "coffee"), "tea"),
        ("3", question("ask", "tea", "coffee"), "3"),
        ("2", question("ask", "4", "2", "8"), "2"),
        (" yes ", question("approve", "allow", "deny"), "yes"),
        ("1", question("secret", "allow"), "1"),
    ],
)
def test_what_is_meant(typed: str, asked: dict[str, Any], answer: str) -> None:
    assert meant(typed, asked) == answer


async def test_a_message_can_be_allowed_for_the_task(person: Person) -> None:
    line = question("approve", "allow", "deny", "allow for this task") | {"to": {"name": "Bob", "app": "com.example"}}
    with person.sits() as prompt:
        prompt.ask(line)
        await person.sees("1 Allow   2 Deny   3 Allow messages to Bob for this task   Your answer: ")
        person.types("3\n")
        assert await person.gave() == ("q1", "allow for this task")
        await prompt.close()
