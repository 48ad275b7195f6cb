"""Spans of a task, kept in memory instead of sent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import aiohttp.web
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent.events import Asked, Started, Step, TaskEnded
from agent.models.base import Usage
from agent.questions import Question, QuestionKind
from agent.run import Outcome, RunId
from bot.logs.lines import ABOUT, About
from bot.monitoring.spans import Spans, spans_to
from devices.measuring import listening, measured

SECRET = "246810"
STARTED = Started(run=RunId("7"), phone="pixel", phone_name="Anna's phone")


@dataclass
class Kept:
    spans: Spans
    exporter: InMemorySpanExporter

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == name]

    def above(self, span: ReadableSpan) -> str:
        (found,) = [
            other
            for other in self.exporter.get_finished_spans()
            if span.parent is not None and other.context is not None and other.context.span_id == span.parent.span_id
        ]
        return found.name


@pytest.fixture
def kept() -> Iterator[Kept]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    token = ABOUT.set(About("7"))
    yield Kept(Spans(provider), exporter)
    ABOUT.reset(token)


@measured("frame")
async def look() -> str:
    return "seen"


@measured("act")
async def touch() -> None:
    raise OSError(f"typed {SECRET}")


@measured("store")
async def write() -> None:
    return None


def step(number: int) -> Step:
    return Step(
        run=RunId("7"), subtask=1, step=number, max_steps=60, summary=f"typed {SECRET}", thought=SECRET, seconds=2.0,
        usage=Usage(input=100, output=10),
    )  # fmt: skip


async def test_a_task_has_its_run_its_steps_and_their_parts(kept: Kept) -> None:
    with listening(kept.spans.part):
        kept.spans.record_event("7", STARTED)
        about = ABOUT.get()
        assert about is not None
        about.run = RunId("7")
        assert await look() == "seen"
        with pytest.raises(OSError, match="typed"):
            await touch()
        await write()
        kept.spans.record_event("7", step(1))
        kept.spans.record_event("7", step(2))
        question = Question(id="q", run=RunId("7"), kind=QuestionKind.ASK, text=SECRET)
        kept.spans.record_event("7", Asked(question=question))
        kept.spans.record_event("7", TaskEnded(outcome=Outcome.SUCCEEDED, summary=SECRET, steps=2))
    (frame,), (act,), (run,), (task,) = (kept.named(name) for name in ("adb frame", "adb act", "run", "task"))
    assert [kept.above(span) for span in (frame, act, run)] == ["step", "step", "task"]
    assert task.parent is None
    first, second = kept.named("step")
    assert (first.attributes or {})["model.tokens.input"] == 100
    assert (second.start_time or 0) < (second.end_time or 0) - 1e9, "a step without parts is as long as it says"
    assert (task.attributes or {})["outcome"] == "succeeded"
    assert (act.attributes or {})["error.type"] == "OSError"
    assert len(kept.exporter.get_finished_spans()) == 6, "the store has no spans"


async def test_no_words_are_in_them(kept: Kept) -> None:
    """Seen failing with `record_exception`: the message of an error tells what was typed."""
    await test_a_task_has_its_run_its_steps_and_their_parts(kept)
    for span in kept.exporter.get_finished_spans():
        told = span.to_json()
        assert SECRET not in told
        assert "Anna" not in told
        assert "seen" not in told


async def test_what_is_open_ends_with_the_service(kept: Kept) -> None:
    kept.spans.record_event("7", STARTED)
    await kept.spans.close()
    assert len(kept.exporter.get_finished_spans()) == 2


async def test_what_belongs_to_no_task_has_no_span(kept: Kept) -> None:
    token = ABOUT.set(None)
    with listening(kept.spans.part):
        await look()
    ABOUT.reset(token)
    assert kept.exporter.get_finished_spans() == ()


@pytest.mark.slow
async def test_they_go_to_the_collector_over_http(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    got: list[str] = []

    async def take(request: aiohttp.web.Request) -> aiohttp.web.Response:
        got.append(f"{request.path} {request.content_type} {len(await request.read()) > 0}")
        return aiohttp.web.Response()

    app = aiohttp.web.Application()
    app.router.add_route("*", "/{tail:.*}", take)
    runner = aiohttp.web.AppRunner(app, access_log=None)
    await runner.setup()
    await aiohttp.web.TCPSite(runner, "127.0.0.1", 0).start()
    spans = spans_to(f"http://127.0.0.1:{runner.addresses[0][1]}/")
    assert spans is not None
    spans.record_event("7", STARTED)
    await spans.close()
    await runner.cleanup()
    assert got == ["/v1/traces application/x-protobuf True"]
    assert "127.0.0.1" not in caplog.text


def test_nothing_is_made_without_an_address() -> None:
    assert spans_to("") is None
