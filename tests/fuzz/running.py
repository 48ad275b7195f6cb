"""Targets that are running: the virtual phone behind its port, the console behind its port, and pressed buttons."""

from __future__ import annotations

import asyncio
import struct
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
from hypothesis import strategies as st

from bot.cards.buttons import ButtonAction
from bot.commands.spec import BY_NAME
from bot.domain.address import Person
from bot.domain.task import TaskState, locator
from bot.texts import say
from devices.virtual_phone.adbd import HEADER, MAX_PAYLOAD, VERSION, Command, ProtocolFault, read_message
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.shell.commands import COMMANDS
from devices.virtual_phone.shell.interpreter import ERR, Interpreter
from devices.virtual_phone.uiautomator_server import JAR, MAIN_CLASS
from tests.bot.web.world import open_world
from tests.bot.world import ADA, BEN, CHANNEL, EVE, PRIVATE, a_world
from tests.fuzz.strategies import JSON, WORDS, json_text, json_with, mixed
from tests.fuzz.target import Target

T = TypeVar("T")
PATIENCE = 10.0
FAULT = say("intake.failed", happened="").strip()
"""In the reply when the program has failed."""
PAUSE = 0.02
"""Seconds in which a program may still be starting when nothing comes back; answers are waited for, silence is not."""
Check = Callable[[T], Awaitable[None]]


def on_a_loop(
    made: Callable[[], AbstractAsyncContextManager[Check[T]]],
) -> Callable[[], AbstractContextManager[Callable[[T], None]]]:
    """For a check that runs on an event loop; whatever the loop is told of that nobody caught, fails it."""

    @contextmanager
    def opened() -> Iterator[Callable[[T], None]]:
        uncaught: list[object] = []
        with asyncio.Runner() as runner:
            runner.get_loop().set_exception_handler(lambda _, told: uncaught.append(told.get("exception", told)))
            around = made()
            check = runner.run(_entered(around))

            def once(value: T) -> None:
                runner.run(_bounded(check, value))
                assert uncaught == [], uncaught.pop()

            try:
                yield once
            finally:
                runner.run(_left(around))

    return opened


async def _entered(around: AbstractAsyncContextManager[Check[T]]) -> Check[T]:
    return await around.__aenter__()


async def _left(around: AbstractAsyncContextManager[Check[T]]) -> None:
    await around.__aexit__(None, None, None)


async def _bounded(check: Check[T], value: T) -> None:
    async with asyncio.timeout(PATIENCE):
        await check(value)


@asynccontextmanager
async def headers() -> AsyncIterator[Check[bytes]]:
    """The reader of adb's messages: a message, or a fault."""

    async def check(data: bytes) -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        with suppress(ProtocolFault, asyncio.IncompleteReadError):
            while True:
                message = await read_message(reader)
                assert len(message.payload) <= MAX_PAYLOAD

    yield check


Sent = tuple[int, int, int, bytes]


def packet(message: Sent) -> bytes:
    """A message as it goes over the wire."""
    word, first, second, payload = message
    return HEADER.pack(word, first, second, len(payload), 0, word ^ 0xFFFFFFFF) + payload


def request_of(body: object) -> bytes:
    """A request to the phone's JSON-RPC server."""
    text = json_text(body).encode()
    return b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(text) + text


HELLO = packet((Command.CNXN, VERSION, MAX_PAYLOAD, b"host::features=shell_v2"))


@asynccontextmanager
async def links() -> AsyncIterator[Check[list[Sent]]]:
    """The virtual phone behind its port: any messages after the greeting; the next link is greeted as ever."""
    async with VirtualPhone() as phone:
        phone.files.write(JAR, b"jar")
        port = int(phone.address.rpartition(":")[2])

        async def check(messages: list[Sent]) -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with suppress(ConnectionError):
                writer.write(HELLO + b"".join(map(packet, messages)))
                await writer.drain()
                assert (await read_message(reader)).command is Command.CNXN
                with suppress(asyncio.IncompleteReadError, TimeoutError):
                    while True:
                        await asyncio.wait_for(read_message(reader), PAUSE)
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HELLO)
            assert (await read_message(reader)).command is Command.CNXN
            writer.close()

        yield check


@asynccontextmanager
async def shells() -> AsyncIterator[Check[str]]:
    """The virtual phone's shell with all its programs: an exit code and words, never a trace."""
    phone = VirtualPhone()

    async def check(line: str) -> None:
        code, output = await Interpreter(phone, COMMANDS, "shell").run(_as_it_came(line))
        assert 0 <= code <= 255
        assert b"Traceback" not in output.of(ERR)

    yield check


@asynccontextmanager
async def bodies() -> AsyncIterator[Check[tuple[str, str, bytes]]]:
    """The console: every request is answered, and no body is a fault of the program."""
    with tempfile.TemporaryDirectory(prefix="opengui-fuzz-") as name:
        async with open_world(Path(name)) as world:
            headers = {"Authorization": f"Bearer {world.token}", "Content-Type": "application/json"}
            async with aiohttp.ClientSession(world.url, headers=headers) as session:

                async def check(request: tuple[str, str, bytes]) -> None:
                    method, path, body = request
                    async with session.request(method, path, data=body if method == "POST" else None) as answer:
                        await answer.read()
                        assert answer.status < 500, (answer.status, await answer.text())

                yield check


@asynccontextmanager
async def typed() -> AsyncIterator[Check[str]]:
    """Commands as an admin types them: every one is answered, and none is a fault of the program."""
    with tempfile.TemporaryDirectory(prefix="opengui-fuzz-") as name:
        async with a_world(Path(name)) as world:
            await world.ask(await world.working("open settings"))

            async def check(line: str) -> None:
                shown = len(world.chat.messages())
                reply = await world.type(line, ADA)
                words = reply.toast if reply.message is None else f"{reply.message.heading}\n{reply.message.body}"
                picture = reply.message is not None and reply.message.picture
                assert words.strip() or reply.task or picture or len(world.chat.messages()) > shown, line
                assert FAULT not in words, words
                for task in await world.task_service.active():
                    if task.id != "1":
                        await world.task_service.cancel(task.id, ADA)

            yield check


@asynccontextmanager
async def presses() -> AsyncIterator[Check[tuple[str, Person]]]:
    """Buttons made by hand: always answered; nobody but owner and admin changes a task."""
    with tempfile.TemporaryDirectory(prefix="opengui-fuzz-") as name:
        async with a_world(Path(name)) as world:
            task = await world.working("open settings", place=PRIVATE)
            question = await world.ask(task)
            assert locator(question.question.id) == QUESTION

            async def check(pressed: tuple[str, Person]) -> None:
                data, person = pressed
                before = len(await world.task_service.recent(50))
                reply = await world.press(data, person, CHANNEL)
                assert reply.toast or reply.message is not None or reply.task
                assert FAULT not in reply.toast
                assert (await world.task_service.known(task.id)).state is TaskState.WAITING
                assert len(await world.task_service.recent(50)) == before

            yield check


def _as_it_came(line: str) -> str:
    """As the phone reads a line off the wire."""
    return line.encode("utf-8", "replace").decode("utf-8", "surrogateescape")


QUESTION = locator("1.q1")
_typed = st.builds(
    lambda name, words: " ".join([name, *words]).encode("utf-8", "replace").decode(),  # chats carry no half signs
    st.sampled_from(sorted(BY_NAME)),
    st.lists(
        st.sampled_from(["1", "#1", "²", "9" * 20, "9" * 5000, "--task", "--before", "--device", "--days", "--", "all"])
        | WORDS,
        max_size=5,
    ),
)
_word = st.sampled_from(list(Command)) | st.integers(0, 2**32 - 1)
_id = st.integers(0, 3) | st.integers(0, 2**32 - 1)
_service = mixed(
    *(
        "shell:",
        "shell,v2,raw:",
        "exec:",
        "sync:",
        "tcp:9008",
        "screencap",
        "id",
        "input tap 1 2",
        ";",
        "\0",
        "reboot:",
    ),
    f"CLASSPATH={JAR} app_process / {MAIN_CLASS}",
    most=4,
)
_sync = st.builds(
    lambda kind, length, rest: struct.pack("<4sI", kind, length) + rest,
    st.sampled_from([b"SEND", b"STAT", b"LIST", b"RECV", b"DATA", b"DONE", b"QUIT", b"XXXX"]),
    st.integers(0, 99) | st.integers(0, 2**32 - 1),
    st.binary(max_size=30),
)
_http = json_with(
    method=st.sampled_from(["setText", "dumpWindowHierarchy", "x"]), params=st.lists(JSON, max_size=3), id=JSON
).map(request_of)
_payload = _service.map(lambda text: text.encode("utf-8", "replace")) | _sync | _http | st.binary(max_size=30)
_messages = st.lists(
    st.tuples(_word, _id, _id, _payload)
    | st.tuples(st.sampled_from([Command.OPEN, Command.WRTE]), st.just(1), st.just(1), _payload),
    max_size=8,
)
_program = st.sampled_from(sorted(COMMANDS))
_argument = (
    st.sampled_from(
        [
            *(
                "tap",
                "swipe",
                "text",
                "keyevent",
                "keycombination",
                "draganddrop",
                "start",
                "broadcast",
                "force-stop",
                "-a",
                "-n",
                "-p",
            )
        ]
        + [
            *(
                "--es",
                "msg",
                "ADB_INPUT_B64",
                "put",
                "get",
                "secure",
                "system",
                "global",
                "default_input_method",
                "window",
                "power",
            )
        ]
        + [
            *(
                "list",
                "set",
                "-s",
                "KEYCODE_ENTER",
                "KEYCODE_NOPE",
                "1",
                "-1",
                "99999",
                "1.5",
                "nan",
                "/sdcard/",
                "/sdcard/../..",
                "size",
            )
        ]
        + [
            *(
                "density",
                "dump",
                "--compressed",
                "/dev/tty",
                "resolve-activity",
                "query-activities",
                "packages",
                "$(id)",
                "|",
                ">",
                "&&",
                ";",
            )
        ]
    )
    | WORDS
)
_lines = st.builds(lambda name, rest: " ".join([name, *rest]), _program, st.lists(_argument, max_size=6)) | mixed(
    *" ;&|<>$`\"'\\\n(){}#=%", *sorted(COMMANDS), "OPENGUI_RECEIPT="
)
_console = st.tuples(
    st.just("POST"),
    st.sampled_from(["/api/console/messages", "/api/console/presses"]),
    json_with(
        **dict.fromkeys(
            ("text", "event", "thread", "reply_to", "data", "message", "question", "device"),
            WORDS | st.just("12345678"),
        ),
        secret=st.booleans(),
        quick=st.booleans(),
        files=st.lists(JSON, max_size=2),
    )
    .map(json_text)
    .map(str.encode)
    | st.binary(max_size=40),
) | st.tuples(
    st.just("GET"),
    st.builds(
        lambda path, query: f"{path}?{query}",
        st.sampled_from(
            ["/api/console/messages", "/api/state", "/api/v1/tasks", "/api/v1/phones", "/api/v1/tasks/1/steps", "/"]
        ),
        st.sampled_from(
            [
                "",
                "before=1",
                "cursor=1",
                f"cursor={'9' * 20}",
                f"before={'9' * 20}",
                f"before={'9' * 5000}",
                "before=-1",
                "before=²",
                "thread=%00",
                "thread=%ff",
                "token=%ff",
            ]
        ),
    ),
    st.just(b""),
)
_pressed = st.tuples(
    st.builds(
        lambda *parts: ":".join(parts),
        st.just("1") | WORDS,
        st.sampled_from([deed.value for deed in ButtonAction]) | WORDS,
        st.sampled_from(["1", QUESTION, "99999999999999999999", "²"]) | WORDS,
        st.sampled_from(["allow", "1", "done", "yes"]) | WORDS,
    )
    | WORDS,
    st.sampled_from([BEN, EVE]),
)

RUNNING: tuple[Target[Any], ...] = (
    Target(
        "adb messages",
        st.binary(max_size=60) | _messages.map(lambda each: b"".join(map(packet, each))),
        on_a_loop(headers),
    ),
    Target("adb links", _messages, on_a_loop(links), brief=40),
    Target("the phone's shell", _lines, on_a_loop(shells), brief=150),
    Target("console requests", _console, on_a_loop(bodies), brief=60),
    Target("typed commands", _typed, on_a_loop(typed), brief=80),
    Target("pressed buttons", _pressed, on_a_loop(presses), brief=40),
)
