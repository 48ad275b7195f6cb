"""Questions of tasks at the terminal: those of a task that runs are asked while its progress continues to be printed,
and the command `opengui answer` answers one that a task is waiting on.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import termios
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, DONE, QuestionKind
from bot.cli.control import service_of
from bot.cli.exits import OK, Refused
from bot.cli.remote import Remote
from bot.config.settings import Settings
from bot.texts import say

Give = Callable[[str, str | None], Awaitable[str]]
"""Answers the question with this id; None says that no answer will come. Returns "" or the reason for a refusal."""

_WORDS: Final = frozenset({ALLOW, DENY, DONE})
"""Choices with a name in every language; all others come from the model."""
_LINE: Final = 4096
"""Bytes of a line that a terminal accepts (termios(3), canonical mode)."""


def somebody_is_there() -> bool:
    """Return whether a person can see a printed question and type an answer: standard input and output are a terminal,
    and this process is in its foreground.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False  # the terminal of another session


class Prompt:
    """Asks one task's questions at a terminal, one at a time; further questions wait.

    `give` is called with what was typed. A question closes as soon as the task continues, even if it was answered
    elsewhere.
    """

    def __init__(self, give: Give) -> None:
        self._give = give
        self._waiting: deque[dict[str, Any]] = deque()
        self._open: dict[str, Any] | None = None
        self._asking: asyncio.Task[None] | None = None

    def ask(self, question: dict[str, Any]) -> None:
        """Ask a question once those before it are done. `question` is an event of type `question`, as plain JSON."""
        self._waiting.append(question)
        self._next()

    async def drop(self, part: str) -> None:
        """Drop the questions of a part of the task that has continued or ended; they no longer need an answer."""
        self._waiting = deque(one for one in self._waiting if one.get("part", "") != part)
        if self._open is not None and self._open.get("part", "") == part:
            await self.close()
            self._next()

    async def close(self) -> None:
        """Stop asking and restore the terminal."""
        if self._asking is None:
            return
        asking, self._asking, self._open = self._asking, None, None
        if not asking.done():
            print(flush=True)
        asking.cancel()
        await asyncio.wait([asking])

    def redisplay(self) -> None:
        """Show the open question again after other output was printed."""
        if self._open is not None:
            _show(self._open)

    def _next(self) -> None:
        if self._open is None and self._waiting:
            self._open = self._waiting.popleft()
            self._asking = asyncio.create_task(self._ask(self._open))

    async def _ask(self, question: dict[str, Any]) -> None:
        while True:
            line = await typed(question)
            if line is None:
                print(flush=True)
            elif not line.strip():
                continue
            refusal = await self._give(question["question"], meant(line, question) if line is not None else None)
            if not refusal:
                break
            print(refusal, file=sys.stderr, flush=True)
            if line is None:
                break
        self._open = None
        self._next()


def meant(line: str, question: dict[str, Any]) -> str:
    """Convert a typed line to an answer: the number of a choice becomes the choice. A secret is not changed."""
    if question["kind"] == QuestionKind.SECRET:
        return line
    word = line.strip()
    choices = question["choices"]
    if word not in choices and word.isascii() and word.isdigit() and 0 < int(word) <= len(choices):
        return str(choices[int(word) - 1])
    return word


def _show(question: dict[str, Any]) -> None:
    if question["kind"] == QuestionKind.SECRET:
        prompt = say("cli.do.prompt.secret")
    elif choices := question["choices"]:
        prompt = "   ".join(f"{number} {_named(choice, question)}" for number, choice in enumerate(choices, 1))
        own_words = question["kind"] == QuestionKind.ASK and not question["strict"]
        prompt = say(f"cli.do.prompt.{'own_words' if own_words else 'choice'}", choices=prompt)
    else:
        prompt = say("cli.do.prompt.free")
    print(f"    {prompt} ", end="", flush=True)


def _named(choice: str, question: dict[str, Any]) -> str:
    if choice == ALLOW_FOR_TASK and question.get("to"):
        return say("question.allow_for_task", to=question["to"]["name"])
    return say(f"word.{choice}") if choice in _WORDS else choice


async def typed(question: dict[str, Any]) -> str | None:
    """Show the question and read the next typed line; None at the end of input. Anything that was typed before the
    question was shown is dropped, so that nobody allows something they have not read.
    """
    loop, number = asyncio.get_running_loop(), sys.stdin.fileno()
    there: asyncio.Future[None] = loop.create_future()

    def come() -> None:
        if not there.done():
            there.set_result(None)

    with _unseen(number) if question["kind"] == QuestionKind.SECRET else _fresh(number):
        _show(question)
        loop.add_reader(number, come)
        try:
            await there
            line = os.read(number, _LINE)
        finally:
            loop.remove_reader(number)
    return line.decode(errors="replace").rstrip("\r\n") if line else None


@contextmanager
def _fresh(terminal: int) -> Iterator[None]:
    termios.tcflush(terminal, termios.TCIFLUSH)
    yield


@contextmanager
def _unseen(terminal: int) -> Iterator[None]:
    """Hide what is typed except for the end of the line, like getpass."""
    before = termios.tcgetattr(terminal)
    quiet = before[:]
    quiet[3] = quiet[3] & ~termios.ECHO | termios.ECHONL
    termios.tcsetattr(terminal, termios.TCSAFLUSH, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


STANDARD_INPUT: Final = "-"


async def answer(options: argparse.Namespace, settings: Settings) -> int:
    """Send the answer given on the command line or in a file. Without one, ask for it at the terminal; a code is not
    shown while it is typed. Returns the exit code.

    Raises Refused if the task has no open question, if there is no terminal to ask at or no usable text in the file, if
    the service refuses the answer, or if a code was given as an argument, where the process list would show it. Also
    raises ServiceGone.
    """
    async with service_of(settings) as remote:
        question = await _open_question(remote, options.task)
        if options.text and question["kind"] == QuestionKind.SECRET:
            raise Refused(say("cli.answer.secret", task=options.task))
        text = await _text(options, question)
        refusal = await remote.answer(options.task, question["question"], meant(text, question))
    if refusal:
        raise Refused(refusal)
    print(say("cli.answer.done", task=options.task))
    return OK


async def _open_question(remote: Remote, task: str) -> dict[str, Any]:
    found = [one for one in await remote.questions() if one["task"] == task]
    if not found:
        raise Refused(say("cli.answer.none", task=task))
    return found[0]


async def _text(options: argparse.Namespace, question: dict[str, Any]) -> str:
    if options.text:
        return str(options.text)
    if options.file:
        return await asyncio.to_thread(_first_line, options.file)
    if not somebody_is_there():
        raise Refused(say("cli.answer.nobody"))
    print(f"? {question['text']}\n    {question['detail']}".rstrip())
    while (line := await typed(question)) is not None:
        if line.strip():
            return line
    raise Refused(say("cli.answer.nobody"))


def read_input(path: str) -> str:
    """Return the text of a file, or of standard input ("-"). Raises OSError and UnicodeDecodeError."""
    data = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    return data.decode("utf-8-sig")


def _first_line(path: str) -> str:
    """Return the first line of a file or of standard input. Raises Refused."""
    try:
        text = read_input(path).partition("\n")[0].removesuffix("\r")
    except OSError as error:
        raise Refused(say("cli.do.unread", file=error.filename, reason=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise Refused(say("cli.do.no_text")) from error
    if not text.strip():
        raise Refused(say("cli.answer.empty", file=path))
    return text
