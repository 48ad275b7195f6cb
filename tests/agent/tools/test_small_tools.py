"""The small tools: text, JSON, time, weather, files, notes, documents, PDF, and the search without a key."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent.actions import Action
from agent.control import Control
from agent.effect_facts import in_english
from agent.events import FileFound, RunEvent
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.ports.journal import MemoryToolCalls
from agent.ports.memory import Passage
from agent.tools.calling import Worker
from agent.tools.clock import Time, time_tool
from agent.tools.egress import Egress, Fetched, FetchFailed
from agent.tools.files import ReadFiles, TaskFiles, WriteFile, file_tools
from agent.tools.jotting import NOTE, TODOS, WriteNote, WriteTodos
from agent.tools.json_query import JSON, JsonQuery
from agent.tools.knowledge import SearchDocuments, knowledge_tool
from agent.tools.pdf import PdfUnread, pdf_text
from agent.tools.searching import DuckDuckGo, _Refused
from agent.tools.spec import ActionError, ActionResult, Situation, Tool, ToolContext
from agent.tools.text import TEXT, Text
from agent.tools.weather import Weather, weather_tool
from bot.config.settings import Settings
from bot.wiring.team import toolbox_of
from tests.fakes.ports import MemoryFrames
from tests.fakes.scripted_model import models


def context(**more: Any) -> ToolContext:
    values: dict[str, Any] = {
        "task_id": "7",
        "person": "web:1",
        "member": "researcher",
        "task": "do it",
        "said": ("do it",),
        "found": (),
        "notes": (),
        "models": models([])[0],
        "control": Control(),
        "mask": Mask(),
        "frames": MemoryFrames(),
        "emit": lambda _event: None,
    }
    return ToolContext(**values | more)


async def run(tool: Tool[Any], action: Action, **more: Any) -> ActionResult:
    return await tool.run(action, context(**more))


async def refused(tool: Tool[Any], action: Action, **more: Any) -> str:
    with pytest.raises(ActionError) as told:
        await run(tool, action, **more)
    return str(told.value)


def test_each_tool_can_be_told_to_a_model(tmp_path: Path) -> None:
    """Seen failing with a field `start`: that is a place on a screen."""
    settings = Settings(_env_file=None, data_dir=tmp_path, knowledge_dir=tmp_path)  # type: ignore[call-arg]  # pydantic's
    specs = toolbox_of(settings, MemoryToolCalls(), Policy.default()).caller(Worker("7", "a", 1)).specs()
    assert len(specs) == 13
    assert all(spec.description and len(json.dumps(spec.parameters)) < 1_500 for spec in specs)


async def test_text() -> None:
    counted = await run(TEXT, Text(operation="count", text="a b\nc"))
    assert counted.data == {"characters": 5, "words": 3, "lines": 2}
    assert (await run(TEXT, Text(operation="find", text="x\nab ab", wanted="ab"))).read == ("line 2: ab ab",)
    assert (await run(TEXT, Text(operation="replace", text="a.b", wanted=".", other="-"))).read == ("a-b",)
    assert (await run(TEXT, Text(operation="sort", text="b\na\nb"))).read == ("a\nb\nb",)
    assert (await run(TEXT, Text(operation="unique", text="b\na\nb"))).read == ("b\na",)
    assert "-b\n+c" in (await run(TEXT, Text(operation="compare", text="a\nb", other="a\nc"))).read[0]
    assert in_english((await run(TEXT, Text(operation="compare", text="a", other="a"))).effects).endswith("the same")
    assert "wanted" in await refused(TEXT, Text(operation="find", text="a"))
    bomb = Text(operation="replace", text="a" * 50_000, wanted="a", other="b" * 50_000)
    assert "million" in await refused(TEXT, bomb)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("items[0].price", "3"),
        ("items[*].name", '"a"\n"b"'),
        ("$.items[-1]", '{"name": "b", "price": 4}'),
        ('["a key"]', "true"),
        ("items.*.price", "3\n4"),
    ],
)
async def test_json(path: str, value: str) -> None:
    whole = {"items": [{"name": "a", "price": 3}, {"name": "b", "price": 4}], "a key": True}
    assert (await run(JSON, JsonQuery(text=json.dumps(whole), path=path))).read == (value,)


async def test_json_that_is_none() -> None:
    assert "no JSON (line 1)" in await refused(JSON, JsonQuery(text="{", path="a"))
    assert "no JSON" in await refused(JSON, JsonQuery(text="[" * 80_000, path="a"))
    assert "Its names are: a." in await refused(JSON, JsonQuery(text='{"a": 1}', path="b"))
    assert "has to be like" in await refused(JSON, JsonQuery(text="{}", path="a[b"))


async def test_the_time() -> None:
    tool = time_tool("Europe/Berlin", lambda: datetime(2026, 11, 23, 12, tzinfo=UTC))
    assert in_english((await run(tool, Time())).effects) == "it is Monday 2026-11-23 13:00 (Europe/Berlin)"
    done = await run(tool, Time(zone="UTC", since="2026-11-01", until="2026-11-23"))
    assert done.data is not None
    assert done.data["days"] == 22
    for wrong in (Time(zone="../etc/passwd"), Time(zone="Mars/Base"), Time(since="tomorrow")):
        assert "Not done" in await refused(tool, wrong)


class Answers(Egress):
    """A way out that answers by the host."""

    def __init__(self, place: object, weather: object = None) -> None:
        super().__init__()
        self.given = {"geocoding-api.open-meteo.com": place, "api.open-meteo.com": weather}
        self.asked: list[str] = []

    async def fetch(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        send: Mapping[str, Any] | bytes | None = None,
        reads: bool = True,
    ) -> Fetched:
        del reads
        assert headers is None
        assert send is None
        self.asked.append(url)
        return Fetched(url, 200, "application/json", "", json.dumps(self.given[url.split("/")[2]]).encode())


async def test_the_weather() -> None:
    daily = {
        "time": ["2026-11-23", "2026-11-24"],
        "weather_code": [61, None],
        "temperature_2m_min": [1.5, 2],
        "temperature_2m_max": [6, 7],
        "precipitation_sum": [3.2, 0],
    }
    now = {"temperature_2m": 4.2, "weather_code": 3, "wind_speed_10m": 11}
    place = {"name": "Berlin", "country": "Germany", "latitude": 52.5, "longitude": 13.4}
    egress = Answers({"results": [place]}, {"current": now, "daily": daily})
    done = await run(weather_tool(lambda: egress), Weather(place="Berlin&host=evil.test#"))
    assert in_english(done.effects) == "Berlin, Germany: 4.2 °C, overcast"
    assert "2026-11-23: rain, 1.5 to 6.0 °C, 3.2 mm" in done.read[0]
    assert [url.partition("?")[0] for url in egress.asked] == [
        "https://geocoding-api.open-meteo.com/v1/search",
        "https://api.open-meteo.com/v1/forecast",
    ]
    assert "name=Berlin%26host%3Devil.test%23" in egress.asked[0]
    assert "No place" in await refused(weather_tool(lambda: Answers({})), Weather(place="x"))
    odd = {"results": [{**place, "latitude": 9e99}]}
    assert "cannot be read" in await refused(weather_tool(lambda: Answers(odd)), Weather(place="x"))


async def test_a_place_that_carries_memory_away_is_asked() -> None:
    """Seen failing without `memory` among the sources: the door code was looked up."""
    asked = context(memory=("The door code of Margarethe Silberstein is 774411.",))
    situation = Situation(Policy.default(), "weather", None, asked.sources)
    gate = weather_tool(lambda: Answers({})).gate(Weather(place="774411 margarethe silberstein"), situation)
    assert gate.verdict == "approve"
    assert weather_tool(lambda: Answers({})).gate(Weather(place="Berlin"), situation).verdict == "allow"


async def test_files_of_the_task(tmp_path: Path) -> None:
    events: list[RunEvent] = []
    look, write = file_tools(TaskFiles(tmp_path))
    await run(write, WriteFile(path="a/report.md", text="one\ntwo"))
    await run(write, WriteFile(path="a/report.md", text="three", old="two", give=True), emit=events.append)
    assert [event.name for event in events if isinstance(event, FileFound)] == ["report.md"]
    assert (await run(look, ReadFiles(operation="list"))).read == ("a/report.md (9 bytes)",)
    assert (
        "lines 2 to 2 of 2\nthree"
        in (await run(look, ReadFiles(operation="read", path="a/report.md", first=2))).read[0]
    )
    assert (await run(look, ReadFiles(operation="find", wanted="thr"))).read == ("a/report.md:2: three",)
    assert "0 times" in await refused(write, WriteFile(path="a/report.md", text="x", old="four"))
    assert "inside the folder" in await refused(look, ReadFiles(operation="read", path="../8/secret"))
    assert (await look.run(ReadFiles(operation="list"), replace(context(), task_id="8"))).read == ()


async def test_no_secret_goes_into_a_file(tmp_path: Path) -> None:
    mask = Mask()
    mask.add("blue-otter-4711")
    _, write = file_tools(TaskFiles(tmp_path))
    await run(write, WriteFile(path="a", text="it is blue-otter-4711"), mask=mask)
    assert "otter" not in TaskFiles(tmp_path).of("7").read("a")


async def test_notes_and_todos() -> None:
    assert (await run(NOTE, WriteNote(text="A costs 3"))).notes == ("A costs 3",)
    assert (await run(TODOS, WriteTodos(done=["a"], left=["b"]))).notices == ("[x] a", "[ ] b")


class Documents:
    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        if query == "away":
            raise OSError
        return (Passage("house.md", "The key is under the mat."),)[:limit]


async def test_documents() -> None:
    tool = knowledge_tool(Documents())
    assert (await run(tool, SearchDocuments(query="key"))).read == ("document: house.md\n\nThe key is under the mat.",)
    assert "cannot be read" in await refused(tool, SearchDocuments(query="away"))


def pdf(content: bytes, more: bytes = b"") -> bytes:
    """A PDF of one page with this content stream."""
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources FONTS >>".replace(
            b"FONTS", b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        ),
        b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), more, content),
    ]
    data, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + b"xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(data),
    )


@pytest.mark.slow
@pytest.mark.real_time
async def test_a_pdf_is_read() -> None:
    assert await pdf_text(pdf(b"BT /F1 12 Tf 10 100 Td (The pump costs 120 euros) Tj ET")) == "The pump costs 120 euros"


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.parametrize("kind", ["damaged", "bomb", "no words"])
async def test_a_hostile_pdf_takes_nothing_down(kind: str) -> None:
    packed = zlib.compress(b"BT " + b"(x) Tj " * 12_000_000 + b" ET", 1) if kind == "bomb" else b""
    data = {"damaged": b"%PDF-1.4 nothing", "bomb": pdf(packed, b"/Filter /FlateDecode"), "no words": pdf(b" ")}[kind]
    with pytest.raises(PdfUnread):
        await pdf_text(data)


async def test_the_search_without_a_key_is_polite() -> None:
    asked: list[str] = []

    def ask(query: str) -> Sequence[Mapping[str, Any]]:
        asked.append(query)
        if query == "refuse":
            raise _Refused
        return [
            {"href": "https://a.test/x", "title": "A", "body": "words"},
            {"href": "javascript:alert(1)"},
            {"href": 3},
        ]

    search = DuckDuckGo(ask)
    assert [page.url for page in await search.search("pumps")] == ["https://a.test/x"]
    with pytest.raises(FetchFailed, match="refuses, or cannot be reached"):
        await search.search("refuse")
    with pytest.raises(FetchFailed, match="asked again in"):
        await search.search("pumps")
    assert asked == ["pumps", "refuse"]
