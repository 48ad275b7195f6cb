"""The `opengui answer` command: answers a question that a task is waiting on."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any, Final

from agent.questions import QuestionKind
from bot.cli.control import service_of
from bot.cli.exits import OK, Refused
from bot.cli.prompt import meant, somebody_is_there, typed
from bot.cli.remote import Remote
from bot.config.settings import Settings
from bot.texts import say

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


def _first_line(path: str) -> str:
    """Return the first line of a file or of standard input. Raises Refused."""
    try:
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
        text = data.decode("utf-8-sig").partition("\n")[0].removesuffix("\r")
    except OSError as error:
        raise Refused(say("cli.do.unread", file=error.filename, reason=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise Refused(say("cli.do.no_text")) from error
    if not text.strip():
        raise Refused(say("cli.answer.empty", file=path))
    return text
