"""A machine with a model that can be told anew for each test, and commands run on it as an operator runs them."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.end_to_end.brain import Act, brain
from tests.end_to_end.service import START_S, Place
from tests.fakes.model_server import Answer, ModelServer, Recorded
from tests.fixtures.warm_start import start_opengui

MODEL = "a-model"
IN_A_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from bot.cli.main import main
sys.exit(main())
"""
"""The program, in a session whose terminal is its standard input."""


async def _piece(terminal: int, came: asyncio.Event) -> str:
    """What is shown next; "" once nobody writes to the terminal any more."""
    while True:
        await came.wait()
        came.clear()
        try:
            return os.read(terminal, 4096).decode()
        except BlockingIOError:
            continue  # what was told of was read already
        except OSError as over:
            if over.errno != errno.EIO:
                raise
            return ""


@dataclass(frozen=True)
class Ran:
    """A command that has ended. `lines` are the objects that it printed."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def final(self) -> dict[str, Any]:
        return self.lines[-1]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The lines of one type."""
        return [line for line in self.lines if line["type"] == kind]


class Brain:
    """The model's mind; `acts` gives it new ones. It believes every proof while `proven` holds."""

    def __init__(self) -> None:
        self._think = brain()
        self.proven = True
        self.reply: str | None = None

    def acts(self, *acts: Act, proven: bool = True, reply: str | None = None) -> None:
        """With a `reply` every request is small talk to it."""
        self._think = brain(*acts)
        self.proven, self.reply = proven, reply

    def __call__(self, request: Recorded) -> Answer:
        if not self.proven and "You check whether a task" in request.text:
            return Answer(text=json.dumps({"proven": False, "reason": "Nothing shows it."}))
        if self.reply is not None and "Decide how to handle" in request.text:
            return Answer(text=json.dumps({"kind": "chat", "need_plan": False, "answer": self.reply}))
        return self._think(request)


@dataclass
class Workshop:
    """A place with a model endpoint. Commands there use it."""

    place: Place
    brain: Brain
    model: ModelServer

    async def opengui(self, *arguments: str, stdin: str = "", **more: str) -> Ran:
        """Run a command to its end."""
        return Ran(*await self.place.opengui(*arguments, stdin=stdin, **more))

    async def do(self, *arguments: str, stdin: str = "", **more: str) -> Ran:
        """`opengui do --json …`."""
        return await self.opengui("do", "--json", *arguments, stdin=stdin, **more)

    async def at_a_terminal(self, answers: Mapping[str, str], *arguments: str) -> tuple[int, str]:
        """`opengui do …` in a terminal of its own, where each of these texts is answered with its keys as it is shown:
        the exit code and all that was shown.
        """
        own, program = os.openpty()
        os.set_blocking(own, False)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", IN_A_TERMINAL, "do"),
            *arguments,
            cwd=self.place.directory,
            env=self.place.environment({}),
            stdin=program,
            stdout=program,
            stderr=program,
            start_new_session=True,
        )
        os.close(program)
        shown, left, came = "", dict(answers), asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(own, came.set)
        try:
            async with asyncio.timeout(START_S):
                while piece := await _piece(own, came):
                    shown += piece
                    for text in [text for text in left if text in shown]:
                        os.write(own, left.pop(text).encode())
                code = await process.wait()
        finally:
            loop.remove_reader(own)
            os.close(own)
            if process.returncode is None:
                process.kill()
                await process.wait()
        return code, shown

    async def signalled(self, how: signal.Signals, after: str, *arguments: str) -> Ran:
        """`opengui do --json …`, sent a signal as soon as it has printed a line of this type."""
        process = await start_opengui(
            ["do", "--json", *arguments],
            directory=self.place.directory,
            environment=self.place.environment({}),
            piped=True,
        )
        try:
            async with asyncio.timeout(START_S):
                out = b""
                while line := await process.stdout.readline():
                    out += line
                    if json.loads(line)["type"] == after:
                        process.send_signal(how)
                        break
                rest, err = await process.communicate(b"")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return Ran(process.returncode, (out + rest).decode(), err.decode())


@asynccontextmanager
async def workshop_at(place: Place) -> AsyncIterator[Workshop]:
    """The workshop at a place."""
    thinking = Brain()
    async with ModelServer(thinking) as model:
        place.settings |= {"VLM_BASE_URL": model.base_url, "VLM_MODEL": MODEL}
        yield Workshop(place, thinking, model)


def hang(_: Recorded) -> Answer:
    """An act of a model that never answers."""
    return Answer(hang="before")


def kinds(lines: Sequence[dict[str, Any]]) -> list[str]:
    """The types of the lines, in order."""
    return [line["type"] for line in lines]
