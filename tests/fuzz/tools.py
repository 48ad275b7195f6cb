"""Targets in what tools read: the calls of models, files of a task, and what sites, services and folders give."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from pydantic import ValidationError

from agent.front_matter import FolderRefused, read_folders
from agent.members.loading import load_team
from agent.models.base import ToolCall
from agent.ports.journal import CallKey, MemoryToolCalls
from agent.skills.library import load_skills
from agent.tools.calling import Toolbox, Worker
from agent.tools.clock import time_tool
from agent.tools.egress import Egress, Fetched
from agent.tools.files import MOST_DEPTH, FileRefused, TaskFiles, file_tools
from agent.tools.jotting import NOTE, TODOS
from agent.tools.json_query import JSON as JSON_TOOL
from agent.tools.json_query import MOST_VALUES, JsonQuery
from agent.tools.pages import decoded
from agent.tools.pdf import PdfUnread, pdf_text
from agent.tools.spec import ActionError
from agent.tools.text import TEXT
from agent.tools.weather import Weather, weather_tool
from bot.wiring.team import TOOL_NAMES
from tests.agent.tools.test_small_tools import context, pdf
from tests.fuzz.running import on_a_loop
from tests.fuzz.strategies import JSON, NUMBERS, WORDS, damaged, json_text, json_with, mixed
from tests.fuzz.target import Target

SECRET = b"nobody may read this"
WORKER = Worker("7", "fuzz", 1)


@asynccontextmanager
async def json_paths() -> AsyncIterator[Callable[[tuple[str, str]], Awaitable[None]]]:
    """A few values, or a sentence."""

    async def check(given: tuple[str, str]) -> None:
        with suppress(ActionError, ValidationError):
            done = await JSON_TOOL.run(JsonQuery(text=given[0], path=given[1]), context())
            assert 0 < len(done.read[0].splitlines()) <= MOST_VALUES

    yield check


class Says(Egress):
    """A way out to a service that gives these answers, one after the other."""

    def __init__(self, answers: list[bytes]) -> None:
        super().__init__()
        self._answers = iter(answers)

    async def fetch(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        send: Mapping[str, Any] | bytes | None = None,
        reads: bool = True,
    ) -> Fetched:
        del reads
        del headers, send
        return Fetched(url, 200, "application/json", "", next(self._answers))


@asynccontextmanager
async def weather() -> AsyncIterator[Callable[[tuple[object, object]], Awaitable[None]]]:
    """A line of weather that a model can be told, or a sentence."""

    async def check(given: tuple[object, object]) -> None:
        egress = Says([json_text(each).encode("utf-8", "surrogatepass") for each in given])
        with suppress(ActionError):
            done = await weather_tool(lambda: egress).run(Weather(place="Berlin"), context())
            assert len(done.read[0].splitlines()) <= 5

    yield check


@contextmanager
def pdfs() -> Iterator[Callable[[bytes], None]]:
    """Words, or a sentence; whatever becomes of the process that reads it, which has a limit of its own."""
    with asyncio.Runner() as runner:

        def check(data: bytes) -> None:
            with suppress(PdfUnread):
                assert runner.run(pdf_text(data)).strip()

        yield check


@contextmanager
def files() -> Iterator[Callable[[list[tuple[bool, str, bytes]]], None]]:
    """Whatever is read and written, nothing outside of the folder is."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        (root / "secret").write_bytes(SECRET)
        folder = TaskFiles(root / "tasks").of("7")
        folder.write("a/b.txt", "inside")
        (folder.path / "out").symlink_to(root)
        (folder.path / "link").symlink_to(root / "secret")

        def check(steps: list[tuple[bool, str, bytes]]) -> None:
            for writes, name, data in steps:
                with suppress(FileRefused):
                    if writes:
                        folder.write(name, data)
                    assert folder.read_bytes(name) != SECRET
            assert sorted(path.name for path in root.iterdir()) == ["secret", "tasks"]
            assert [path.name for path in (root / "tasks").iterdir()] == ["7"]
            assert (root / "secret").read_bytes() == SECRET
            assert all(len(Path(entry.path).parts) <= MOST_DEPTH for entry in folder.entries())

        yield check


@asynccontextmanager
async def calls() -> AsyncIterator[Callable[[list[ToolCall]], Awaitable[None]]]:
    """Every call is answered with words, and written down as JSON."""
    with tempfile.TemporaryDirectory() as place:
        folders = TaskFiles(Path(place))
        tools = (TEXT, JSON_TOOL, NOTE, TODOS, time_tool("Europe/Berlin"), *file_tools(folders))

        async def check(wanted: list[ToolCall]) -> None:
            record = MemoryToolCalls()
            caller = Toolbox(tools, record, files=folders).caller(WORKER)
            made = await caller.call(wanted, context(), turn=0)
            assert len(made) == len(wanted)
            for number, called in enumerate(made):
                assert called.told.encode()
                stored = await record.at(CallKey("7", "fuzz", 1, 0, number))
                assert stored is not None
                assert json.dumps([stored.call.arguments, stored.call.name, stored.result], ensure_ascii=False).encode()

        yield check


@contextmanager
def folders() -> Iterator[Callable[[bytes], None]]:
    """A folder is used or refused with a reason, as a skill and as a member; the shipped ones stay."""
    with tempfile.TemporaryDirectory() as place:
        own = Path(place, "own")
        (own / "tea").mkdir(parents=True)

        def check(data: bytes) -> None:
            for file in ("SKILL.md", "AGENTS.md"):
                (own / "tea" / file).write_bytes(data)
            there, team = load_skills(own), load_team(own, TOOL_NAMES)
            for found, refused in ((there.found, there.refused), (team.members, team.refused)):
                assert ("tea" in found) == (len(refused) == 0)
                assert len(found) >= 2
                assert all(each.why for each in refused)
            if "tea" in there.found:
                skill = there.found["tea"]
                assert skill.described("zh")
                json.dumps([skill.apps, skill.allowed_tools]).encode()
                with suppress(FolderRefused):
                    skill.reference(skill.body[:100])
            assert read_folders([own], "OTHER.md", lambda document: document).found == {}

        yield check


@contextmanager
def charsets() -> Iterator[Callable[[tuple[bytes, str]], None]]:
    """A page is text, whatever charset it says it has."""

    def check(given: tuple[bytes, str]) -> None:
        body, charset = given
        decoded(Fetched("", 200, "text/html", charset, body)).encode("utf-8", "surrogatepass")

    yield check


HEAD = (
    "---\nname: tea\ndescription: Makes tea.\nlicense: MIT\nmetadata:\n  opengui-apps: com.a com.b\n"
    "  opengui-description-zh: 泡茶\nallowed-tools: [calculate, shell]\ntools: calculate, shell\nmodel: basic\n"
    "max_calls: 3\n---\nBoil water. See references/pot.md.\n"
)
WORDED = pdf(b"BT /F1 12 Tf 10 100 Td (The pump costs 120 euros) Tj ET").decode("latin-1")
NAMES = (TEXT.kind, JSON_TOOL.kind, NOTE.kind, TODOS.kind, "time", "files", "write_file", "shell", "")
_place = json_with(name=WORDS, country=WORDS, latitude=NUMBERS, longitude=NUMBERS)
_daily = json_with(
    time=st.lists(WORDS, max_size=4),
    weather_code=st.lists(st.none() | NUMBERS, max_size=4),
    temperature_2m_min=st.lists(st.none() | NUMBERS, max_size=4),
    temperature_2m_max=st.lists(st.none() | NUMBERS, max_size=4),
    precipitation_sum=st.lists(st.none() | NUMBERS, max_size=4),
)
_now = json_with(temperature_2m=NUMBERS, weather_code=NUMBERS, wind_speed_10m=NUMBERS)
_good_place = st.just({"results": [{"name": "Berlin", "latitude": 52.5, "longitude": 13.4}]})
_arguments = json_with(
    operation=st.sampled_from(["count", "find", "replace", "sort", "unique", "compare", "list", "read"]),
    text=WORDS,
    wanted=WORDS,
    other=WORDS,
    old=WORDS,
    path=WORDS | st.sampled_from(["a.txt", "../a", "/etc/passwd", "*", "[0]", "a/b/c"]),
    first=NUMBERS,
    give=st.booleans(),
    zone=WORDS | st.sampled_from(["UTC", "Asia/Shanghai", "../etc/passwd"]),
    since=WORDS | st.sampled_from(["0001-01-01", "9999-12-31T23:59:59.999999-23:59", "2026-W01-1"]),
    until=WORDS | st.sampled_from(["0001-01-01T00:00+23:59", "2026-02-29"]),
    todos=st.lists(JSON, max_size=3),
)
TOOLS: tuple[Target[Any], ...] = (
    Target(
        "json paths",
        st.tuples(
            JSON.map(json_text) | mixed("{", "}", "[", "]", ":", ",", '"a"', "1"),
            mixed("$", ".", "*", "[", "]", "[0]", "[-1]", "[*]", '["a"]', "a", "items", most=12),
        ),
        on_a_loop(json_paths),
        found=(("[" * 50_000, ""), ("9" * 5_000, ""), ('{"\\ud800": "\\ud800"}', "*")),
    ),
    Target(
        "weather replies",
        st.tuples(
            json_with(results=st.lists(_place, max_size=2)) | _good_place,
            json_with(current=_now, daily=_daily) | JSON,
        ),
        on_a_loop(weather),
        brief=30,
    ),
    Target(
        "PDF",
        damaged(WORDED).map(lambda text: text.encode("latin-1", "replace")) | st.binary(max_size=40),
        pdfs,
        brief=4,
    ),
    Target(
        "files of a task",
        st.lists(
            st.tuples(
                st.booleans(),
                mixed("a", "b.txt", "/", "..", ".", "out", "link", "secret", "\\", "~", ".part", most=7),
                st.binary(max_size=20),
            ),
            max_size=6,
        ),
        files,
        found=([(True, "out/secret", b"x"), (True, "link", b"x"), (False, "link", b"")],),
    ),
    Target(
        "calls of tools",
        st.lists(
            st.builds(
                ToolCall,
                st.just("1"),
                st.sampled_from(NAMES) | WORDS,
                _arguments.map(json_text) | JSON.map(json_text) | mixed("{", "}", '"text"', ":", "1"),
            ),
            max_size=4,
        ),
        on_a_loop(calls),
    ),
    Target(
        "skills and members",
        damaged(HEAD).map(lambda text: text.encode("utf-8", "surrogatepass"))
        | mixed("---\n", "name: tea\n", "description: x\n", "tools:", "[", "]", "- ", "&a ", "*a", "!!int ", "|\n").map(
            lambda text: text.encode("utf-8", "surrogatepass")
        ),
        folders,
        brief=20,
        found=tuple(
            b"---\nname: tea\ndescription: x\nmetadata: " + odd + b"\n---\nx" for odd in (b"[" * 3_000, b"? " * 390)
        ),
    ),
    Target(
        "charsets",
        st.tuples(
            st.binary(max_size=60) | st.just(b'<meta charset="punycode">\xff'),
            st.sampled_from(["utf-8", "gb18030", "idna", "punycode", "undefined", "hex", "utf-7", "unicode_escape", ""])
            | WORDS,
        ),
        charsets,
        found=((b"a..b\xff", "undefined"), (b"abc-z9\xff", "punycode"), (b"\xff", "a\x00b")),
    ),
)
