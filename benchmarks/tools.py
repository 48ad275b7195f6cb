"""The own time of tools: a call from the model's words to its result, with the record of calls on the disk."""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from agent.models.base import ToolCall
from agent.tools.calling import Toolbox, Worker
from agent.tools.computing import CALCULATE, PYTHON
from agent.tools.pages import read_page as page_of
from agent.tools.text import TEXT
from agent.tools.web import read_page
from benchmarks.row import Row
from bot.store.store import Store
from tests.agent.tools.site import Site, hostile_site
from tests.agent.tools.test_small_tools import context

BETWEEN_S = 0.03
"""Between two calls there is at least the answer of a model."""
CALL_MS = 5.0
PYTHON_MS = 10.0
CALLS: Mapping[str, tuple[float, Callable[[int], Mapping[str, object]]]] = {
    "text": (CALL_MS, lambda number: {"operation": "count", "text": f"{number} words"}),
    "calculate": (PYTHON_MS, lambda number: {"expression": f"{number} * 1.19"}),
    "python": (PYTHON_MS, lambda number: {"code": f"total = {number}\nfor n in range(100):\n    total += n\ntotal"}),
}
"""Tools with their targets and the arguments of call so and so: equal ones would come from the cache."""


async def measured(runs: int) -> list[Row]:
    """Two rows for each tool, of many calls: its time and the processor's. Of a page what the tool takes beside
    fetching and reading it.
    """
    many = max(20, runs * 10)
    with tempfile.TemporaryDirectory() as folder:
        store = await Store.open(Path(folder))
        try:
            async with hostile_site() as site:
                egress = site.egress()
                box = Toolbox([TEXT, CALCULATE, PYTHON, read_page(lambda: egress)], store.tool_calls)
                rows = []
                for name, (target, arguments) in CALLS.items():
                    await _called(box, name, many, arguments(many))  # the first one loads what it needs
                    before = _processor_ms()
                    took = [await _called(box, name, number, arguments(number)) for number in range(many)]
                    spent = (_processor_ms() - before) / many
                    rows.append(Row(f"a call of {name} (median)", statistics.median(took), target, "ms"))
                    rows.append(Row(f"a call of {name}, processor time (mean)", spent, target, "ms"))
                took, alone = [], []
                for number in range(many):
                    took.append(await _called(box, "read_page", number, {"url": site.url(f"/page?{number}")}))
                    alone.append(await _read(site, number))
                own = statistics.median(took[1:]) - statistics.median(alone)
                rows.append(Row("read_page beside fetching and reading a page (median)", own, CALL_MS, "ms"))
        finally:
            await store.close()
    return rows


def _processor_ms() -> float:
    """Of this process and of those that it has ended: what counts on a machine that has other work."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return 1000 * sum(each.ru_utime + each.ru_stime for each in used)


async def _called(box: Toolbox, name: str, number: int, arguments: Mapping[str, object]) -> float:
    """Milliseconds of one call by a worker of its own, which has made none before."""
    caller = box.caller(Worker("1", name, number))
    said = str(arguments.get("url", ""))
    await asyncio.sleep(BETWEEN_S)
    began = time.perf_counter()
    (called,) = await caller.call([ToolCall("1", name, json.dumps(arguments))], context(said=(said,)), turn=0)
    took = (time.perf_counter() - began) * 1000
    assert called.state == "ok", called.told
    return took


async def _read(site: Site, number: int) -> float:
    """Milliseconds of the page alone."""
    await asyncio.sleep(BETWEEN_S)
    began = time.perf_counter()
    await page_of(site.url(f"/page?{number}"), site.egress())
    return (time.perf_counter() - began) * 1000
