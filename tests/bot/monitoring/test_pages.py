"""What a watcher is told, over real HTTP behind the console's own gate."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from agent.events import Step, TaskEnded
from agent.models.base import Usage
from agent.models.state import ModelState, ModelStatus
from agent.run import Outcome, RunId
from bot.monitoring.dependencies import Dependencies
from bot.monitoring.heartbeat import DESK_STILL_S, Pulse, ServiceManager
from bot.monitoring.metrics import Metrics, WatchPages
from bot.people.access import Policy
from bot.people.rights import Rights
from bot.store.housekeeping import DiskUsage
from bot.store.store import Store
from bot.web.auth import ConsoleGate
from bot.web.connections import HttpServer
from bot.web.exposure import Exposure
from bot.web.page_files import PageTexts
from bot.web.server import Guarded
from bot.web.sessions import Sessions
from devices.measuring import listening
from devices.pool import AdbPhones
from tests.bot.store.conftest import add_task
from tests.fixtures.databases import open_store


class WindowManager:
    still = 0.0

    def seconds_since_round(self) -> float:
        return self.still


async def no_status() -> str:
    return ""


@dataclass
class Watched:
    store: Store
    task_service: WindowManager
    metrics: Metrics
    waits: Dependencies
    waiting: dict[str, str]
    url: str

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        async with aiohttp.ClientSession() as caller, caller.get(f"{self.url}{path}", headers=headers) as response:
            return response.status, await response.text()

    async def numbers(self) -> dict[tuple[str, ...], float]:
        """Name and labels → value."""
        status, text = await self.get("/metrics")
        assert status == 200
        families = text_string_to_metric_families(text)
        return {
            (sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples
        }


@pytest.fixture
async def watched(real_world: None, tmp_path: Path) -> AsyncIterator[Watched]:  # noqa: ARG001
    store = await open_store(tmp_path)
    task_service = WindowManager()
    pulse = Pulse(task_service.seconds_since_round, ServiceManager(), no_status)
    waiting: dict[str, str] = {}

    async def model() -> str:
        return waiting.get("model", "")

    async def trouble() -> str:
        return waiting.get("store", "")

    async def chat() -> str:
        return waiting.get("discord", "")

    waits = Dependencies({"model": model, "store": trouble, "discord": chat}, clock=lambda: 1_000.0)
    metrics = Metrics(
        store.figures, AdbPhones(), pulse, task_service.seconds_since_round, waits, lambda: DiskUsage(1, 1000, 200, 30)
    )
    gate = ConsoleGate(
        Exposure("127.0.0.1"), "token", Sessions(store.sessions, time.time, {}), await Rights.open(Policy(), store)
    )
    app = Starlette()
    state = ModelState(ModelStatus.NOT_TESTED, "a-model")
    app.router.routes += WatchPages(pulse, metrics, waits, lambda: state, {"discord"}).routes()
    server = HttpServer(Guarded(app, gate, PageTexts("en")))
    port = await server.listen("127.0.0.1", 0)
    gate.open(port, lambda _: True)
    yield Watched(store, task_service, metrics, waits, waiting, f"http://127.0.0.1:{port}")
    await server.close()
    await store.close()


def step(seconds: float, usage: Usage) -> Step:
    return Step(run=RunId("1"), subtask=1, step=1, max_steps=60, summary="typed 246810", seconds=seconds, usage=usage)


async def test_the_numbers_are_those_of_store_and_work(watched: Watched) -> None:
    await add_task(watched.store, event="1")
    await add_task(watched.store, event="2")
    await watched.store.refusals.count("telegram", "stranger")
    watched.metrics.record_event("1", step(4.0, Usage(input=100, output=10)))
    watched.metrics.record_event("1", step(6.0, Usage(input=150, output=15)))
    ended = TaskEnded(outcome=Outcome.SUCCEEDED, summary="done", usage=Usage(input=200, output=20))
    watched.metrics.record_event("1", ended)
    told = await watched.numbers()
    assert told["opengui_tasks", "", "queued"] == 2
    assert told["opengui_tasks", "", "working"] == 0
    assert told["opengui_queue_tasks",] == 2
    assert told["opengui_refusals", "stranger", "telegram"] == 1
    assert told["opengui_step_seconds_count",] == 2
    assert told["opengui_step_seconds_sum",] == 10.0
    assert told["opengui_model_tokens_total", "input"] == 200, "steps as they come, the rest with the end"
    assert told["opengui_model_tokens_total", "output"] == 20
    assert told["opengui_open_questions",] == 0
    assert told["opengui_outbox_messages", "pending"] == 0
    assert told["opengui_phones", "ready"] == 0
    assert told["opengui_loop_lag_seconds",] == 0
    assert told["opengui_kept_bytes", "pictures"] == 1000
    assert told["opengui_kept_bytes", "checkpoints"] == 30


async def test_the_time_of_a_step_is_told_by_part(watched: Watched) -> None:
    with listening(watched.metrics.part):
        await watched.store.frames.save(b"picture", suffix="jpg")
        await add_task(watched.store)
    await add_task(watched.store, "2")
    told = await watched.numbers()
    assert told["opengui_part_seconds_count", "store"] == 2, "and nothing afterwards"
    assert told["opengui_part_seconds_count", "frame"] == 0, "what may be there is told also while it is none"


async def test_no_contents_and_no_people_are_in_them(watched: Watched) -> None:
    task = await add_task(watched.store)
    watched.metrics.record_event(task.id, step(1.0, Usage()))
    _, text = await watched.get("/metrics")
    for word in (task.text, task.person.name, "246810", "typed"):
        assert word not in text


async def test_a_desk_that_stands_still_is_not_healthy(watched: Watched) -> None:
    assert (await watched.get("/healthz"))[0] == 200
    watched.task_service.still = DESK_STILL_S
    status, text = await watched.get("/healthz")
    assert status == 503
    assert '"desk"' in text


async def test_a_store_that_cannot_be_read_is_told(watched: Watched) -> None:
    await watched.store.write(lambda transaction: transaction.fetch("ALTER TABLE outbox RENAME TO lost"))
    assert (await watched.get("/metrics"))[0] == 503
    status, text = await watched.get("/healthz")
    assert status == 503
    assert '"store"' in text


async def test_what_is_waited_for_is_told_until_it_is_back(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    watched.waiting["model"] = "Its endpoint does not answer."
    await watched.waits.check()
    assert watched.waits.current_waits() == (), "once is no wait: a connection may be made anew"
    for _ in range(3):
        await watched.waits.check()
    status, text = await watched.get("/healthz")
    assert status == 200, "a model that is away is no fault of this process"
    assert json.loads(text)["waits"] == [{"for": "model", "why": "Its endpoint does not answer.", "since": 1000}]
    assert (await watched.numbers())["opengui_waits", "model"] == 1
    watched.waiting.clear()
    await watched.waits.check()
    assert json.loads((await watched.get("/healthz"))[1])["waits"] == []
    assert (await watched.numbers())["opengui_waits", "model"] == 0
    assert (await watched.numbers())["opengui_reconnects", "model"] == 1
    assert [record.levelname for record in caplog.records if "waits" in record.getMessage()] == ["WARNING", "INFO"]


async def test_a_store_that_cannot_be_written_is_not_healthy(watched: Watched) -> None:
    watched.waiting["store"] = "Nothing can be written (database or disk is full)."
    await watched.waits.check()
    await watched.waits.check()
    status, text = await watched.get("/healthz")
    assert status == 503
    assert json.loads(text)["wrong"] == ["store"]


async def test_a_chat_that_is_gone_is_not_healthy(watched: Watched) -> None:
    """Seen failing before: 200 and "healthy", while nobody on that platform could reach the service."""
    watched.waiting["discord"] = "It is not connected."
    await watched.waits.check()
    assert (await watched.get("/healthz"))[0] == 200, "a connection may be made anew"
    await watched.waits.check()
    status, text = await watched.get("/healthz")
    assert status == 503
    assert json.loads(text)["wrong"] == ["discord"]
    watched.waiting.clear()
    await watched.waits.check()
    assert (await watched.get("/healthz"))[0] == 200


async def test_another_page_learns_nothing(watched: Watched) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        for path in ("/metrics", "/healthz"):
            assert (await watched.get(path, **headers))[0] == 403
