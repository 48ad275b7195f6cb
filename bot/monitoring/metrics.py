"""Metrics of the service in the format that Prometheus reads, without names, texts or ids.

`/healthz` and `/metrics` are served with the console. They need no token, because they only contain numbers and states.
"""

from __future__ import annotations

import asyncio
from collections import Counter as Count
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from functools import partial
from typing import Final, get_args

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from agent.events import Step, TaskEnded, TaskEvent
from agent.models.base import Usage
from agent.models.state import ModelState
from bot.domain.task import TaskState
from bot.monitoring.dependencies import Dependencies
from bot.monitoring.heartbeat import Pulse
from bot.store.errors import StoreError
from bot.store.housekeeping import DiskUsage
from bot.store.totals import Figures
from bot.views.tasks import model_json
from devices.measuring import Part
from devices.phone import Health, Phones
from devices.wording import said

STEP_BUCKETS: Final = (1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0, 120.0)
"""Seconds; a step consists of a look at the screen, a call of the model and an action."""
PART_BUCKETS: Final = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)
"""Seconds; a transaction takes milliseconds, a picture a fifth of a second, a model's answer up to minutes."""
LIVE: Final = tuple(state.value for state in TaskState if state is not TaskState.ENDED)

PATIENCE_S: Final = 5.0
"""Seconds that counting in the store may take."""


class Metrics:
    """Collects metrics from each event of the task service (`record_event`), and from the other components when `text`
    is called.
    """

    def __init__(
        self,
        figures: Figures,
        phones: Phones,
        pulse: Pulse,
        still_for: Callable[[], float],
        waits: Dependencies,
        kept: Callable[[], DiskUsage | None],
    ) -> None:
        self._figures = figures
        self._waits = waits
        self._disk_usage = kept
        self._phones = phones
        self._used: dict[str, Usage] = {}
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        gauge = partial(Gauge, registry=registry)
        lag = gauge("opengui_loop_lag_seconds", "How late the event loop was last")
        lag.set_function(lambda: pulse.lag)
        still = gauge("opengui_desk_still_seconds", "How long the task service has not come round")
        still.set_function(still_for)
        self._tasks = gauge("opengui_tasks", "Tasks in the store", ["state", "outcome"])
        self._queue = gauge("opengui_queue_tasks", "Tasks that wait for a phone or their turn")
        self._phone = gauge("opengui_phones", "Known phones", ["health"])
        self._reconnects = gauge("opengui_reconnects", "How often it was back after a wait, since the start", ["what"])
        self._waiting = gauge("opengui_waits", "1 while the service waits for it", ["what"])
        self._size = gauge("opengui_kept_bytes", "Bytes on the disk, looked at each hour", ["what"])
        self._questions = gauge("opengui_open_questions", "Questions that wait for a person")
        self._outbox = gauge("opengui_outbox_messages", "Messages not sent yet, or given up", ["state"])
        self._refusals = gauge("opengui_refusals", "Refusals since the store began", ["platform", "kind"])
        self._seconds = Histogram("opengui_step_seconds", "Seconds of a step", buckets=STEP_BUCKETS, registry=registry)
        parts = Histogram(
            "opengui_part_seconds", "Seconds of a part of the work", ["part"], buckets=PART_BUCKETS, registry=registry
        )
        self._parts = {part: parts.labels(part) for part in get_args(Part)}
        self._tokens = Counter("opengui_model_tokens", "Tokens of model calls", ["kind"], registry=registry)

    def part(self, part: Part) -> AbstractContextManager[object]:
        """Measure the duration of the block as this part of the work; see `devices.measuring`."""
        return self._parts[part].time()

    def record_event(self, task: str, event: TaskEvent) -> None:
        """Count an event of a task's work. What a task used outside its steps, for its plan and summary, is counted at
        its end.
        """
        match event:
            case Step():
                self._seconds.observe(event.seconds)
                self._used_by_now(task, event.usage)
            case TaskEnded():
                self._used_by_now(task, event.usage)
                del self._used[task]
            case _:
                pass

    async def text(self) -> bytes:
        """Return all metrics in Prometheus's text format. Raises StoreError."""
        figures = await self._figures.now()
        for gauge in (self._tasks, self._outbox, self._refusals, self._phone):
            gauge.clear()
        # States without tasks are reported as 0, because a metric that comes and goes is hard to watch.
        for state, outcome in {(state, "") for state in LIVE} | figures.tasks.keys():
            self._tasks.labels(state, outcome).set(figures.tasks.get((state, outcome), 0))
        self._queue.set(figures.tasks.get((TaskState.QUEUED.value, ""), 0))
        self._questions.set(figures.questions)
        for state in ("pending", "sending", "dead"):
            self._outbox.labels(state).set(figures.outbox.get(state, 0))
        for kind, count in figures.refusals.items():
            self._refusals.labels(*kind).set(count)
        if (kept := self._disk_usage()) is not None:
            self._size.labels("pictures").set(kept.pictures_size)
            self._size.labels("tasks").set(kept.database_size)
            self._size.labels("checkpoints").set(kept.checkpoints_size)
        waited = {wait.what for wait in self._waits.current_waits()}
        for what in self._waits.names:
            self._waiting.labels(what).set(what in waited)
            self._reconnects.labels(what).set(self._waits.recoveries[what])
        healths = Count(phone.health for phone in self._phones.list())
        for health in Health:
            self._phone.labels(health.value).set(healths[health])
        return generate_latest(self._registry)

    def _used_by_now(self, task: str, used: Usage) -> None:
        """Count what was added since the last call; a counter never decreases."""
        told = self._used.get(task, Usage())
        self._used[task] = used
        self._tokens.labels("input").inc(max(0, used.input - told.input))
        self._tokens.labels("output").inc(max(0, used.output - told.output))


class WatchPages:
    """Handles requests of monitoring programs, at `/healthz` and `/metrics`. `chats` are the platforms on which people
    reach the service; an outage of one makes it unhealthy.
    """

    def __init__(
        self,
        pulse: Pulse,
        metrics: Metrics,
        waits: Dependencies,
        model: Callable[[], ModelState],
        chats: Collection[str] = (),
    ) -> None:
        self._pulse = pulse
        self._chats = chats
        self._waits = waits
        self._model = model
        self._metrics = metrics

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles."""
        return [Route("/healthz", self.health), Route("/metrics", self.numbers)]

    async def health(self, _: Request) -> Response:
        """Return the service's health as JSON: what is wrong, what is being waited for, and the state of the model. The
        status is 200 while task service, store and chats work, else 503.
        """
        wrong = [] if self._pulse.healthy else ["desk"]
        waits = self._waits.current_waits()
        if await self._text() is None or any(wait.what == "store" for wait in waits):
            wrong.append("store")
        wrong += [wait.what for wait in waits if wait.what in self._chats]
        body = {
            "healthy": not wrong,
            "wrong": wrong,
            "waits": [{"for": wait.what, "why": said(wait.why), "since": round(wait.since)} for wait in waits],
            "model": model_json(self._model()),
            "loop_lag_seconds": round(self._pulse.lag, 3),
        }
        return JSONResponse(body, status_code=503 if wrong else 200, headers={"Cache-Control": "no-store"})

    async def numbers(self, _: Request) -> Response:
        """Return the metrics, or 503 while the store cannot be read."""
        text = await self._text()
        if text is None:
            return PlainTextResponse("The store cannot be read; the log says why.\n", 503)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _text(self) -> bytes | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._metrics.text()
        except (StoreError, TimeoutError):
            return None
