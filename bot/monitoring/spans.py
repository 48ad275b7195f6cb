"""Optional OpenTelemetry spans for tasks, runs, steps and parts of the work.

They contain ids, counts and outcomes, but never a word of what people asked, what was on a screen, or what a model
said.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agent.events import Asked, Started, Step, TaskEnded, TaskEvent
from agent.questions import Question
from agent.run import RunId
from bot.config.installation import lack_of
from bot.logs.lines import ABOUT
from bot.texts import words
from devices.extras import Extra, is_installed
from devices.measuring import Part

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

logger = logging.getLogger(__name__)

FLUSH_S: Final = 5.0
"""Seconds that sending the last spans may take when the service stops."""
NAMES: Final = {
    "frame": "adb frame",
    "tree": "adb tree",
    "settle": "adb settle",
    "act": "adb act",
    "model": "model call",
}
"""The span name of each part of the work. Calls of the store have none, because there are hundreds of a millisecond
each.
"""


@dataclass
class _Open:
    """The open spans of a task: its own, and those of its runs and steps by run."""

    task: Span
    runs: dict[RunId, Span] = field(default_factory=dict)
    steps: dict[RunId, Span] = field(default_factory=dict)


class Spans:
    """Creates spans from the task service's events (`record_event`) and from parts of the work (`part`). Work that
    belongs to no task gets no span.
    """

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("opengui")
        self._open: dict[str, _Open] = {}

    def record_event(self, task: str, event: TaskEvent) -> None:
        """Begin or end the spans for an event of a task's work. The span of a step has begun with its first part."""
        match event:
            case Started():
                self._run(task, event.run)
            case Asked(question=Question(run=RunId() as run)):
                self._run(task, run).add_event("asked", {"kind": event.question.kind.value})
            case Step():
                span = self._step(task, event.run, began=time.time() - event.seconds)
                span.set_attribute("step", event.step)
                span.set_attribute("model.tokens.input", event.usage.input)
                span.set_attribute("model.tokens.output", event.usage.output)
                span.end()
                del self._open[task].steps[event.run]
            case TaskEnded():
                span = self._task(task).task
                span.set_attribute("outcome", event.outcome.value)
                span.set_attribute("steps", event.steps)
                self._end(task)
            case _:
                pass

    @contextmanager
    def part(self, part: Part) -> Iterator[None]:
        """Record the block as a span of this part of the work; see `devices.measuring`."""
        about = ABOUT.get()
        if about is None or part not in NAMES:
            yield
            return
        above = self._step(about.task, about.run) if about.run else self._task(about.task).task
        span = self._begin(NAMES[part], above)
        try:
            yield
        except BaseException as error:
            # Only the type, because a message may contain what was typed.
            span.set_attribute("error.type", type(error).__name__)
            raise
        finally:
            span.end()

    async def close(self) -> None:
        """End open spans, and send those that were not sent yet."""
        for task in list(self._open):
            self._end(task)
        try:
            async with asyncio.timeout(FLUSH_S):
                await asyncio.to_thread(self._provider.shutdown)
        except TimeoutError:
            logger.warning("The collector did not accept the last spans within %.0f s; they are lost.", FLUSH_S)

    def _task(self, task: str) -> _Open:
        if task not in self._open:
            self._open[task] = _Open(self._begin("task", None, {"task": task}))
        return self._open[task]

    def _run(self, task: str, run: RunId) -> Span:
        known = self._task(task)
        if run not in known.runs:
            known.runs[run] = self._begin("run", known.task, {"task": task, "run": str(run)})
        return known.runs[run]

    def _step(self, task: str, run: RunId, began: float | None = None) -> Span:
        above = self._run(task, run)
        steps = self._open[task].steps
        if run not in steps:
            steps[run] = self._begin("step", above, {"task": task, "run": str(run)}, began)
        return steps[run]

    def _begin(
        self, name: str, above: Span | None, facts: dict[str, str] | None = None, began: float | None = None
    ) -> Span:
        from opentelemetry import trace  # noqa: PLC0415 - optional

        context = None if above is None else trace.set_span_in_context(above)
        at = None if began is None else int(began * 1e9)
        return self._tracer.start_span(name, context=context, attributes=facts, start_time=at)

    def _end(self, task: str) -> None:
        known = self._open.pop(task)
        for span in (*known.steps.values(), *known.runs.values(), known.task):
            span.end()


def spans_to(endpoint: str) -> Spans | None:
    """Return an object that sends spans to a collector's OTLP/HTTP address. None if the address is "" or the extra
    `otel` is missing.
    """
    if not endpoint:
        return None
    if not is_installed(Extra.OTEL):
        logger.warning("%s", words("extra.unused", setting="OTLP_ENDPOINT", why=lack_of(Extra.OTEL)))
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - optional
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - optional
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - optional
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - optional

    provider = TracerProvider(resource=Resource.create({"service.name": "opengui"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")))
    logger.info("Spans go to the collector that OTLP_ENDPOINT names.")
    return Spans(provider)
