"""Random requests, made from the API's document: none may be answered with 5xx, or in another form than is said there.

`make api-fuzz` sends 20,000 (API_CASES); the suite sends a sample.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import aiohttp
import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok

from bot.domain.right import Right
from tests.bot.web.v1.world import API, ApiWorld, open_api

CASES = 20_000
TOLD = frozenset({200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 503})
STREAMS = "/conversations/{conversation}/events"


async def fuzz(api: ApiWorld, cases: int, number: int = 0) -> dict[int, int]:
    """Send so many requests, and count the answers by status. Raises AssertionError for one that must not be."""
    secret = await api.token("fuzz", Right.ADMIN)
    async with api.session.get(api.url.with_path("/docs/openapi.json")) as response:
        document = await response.json()
    known = {
        "phone": "pixel",
        "task": (await api.ask(secret, "POST", "/tasks", {"text": "open settings"})).body["id"],
        "conversation": (await api.ask(secret, "POST", "/conversations", {})).body["id"],
        "schedule": (await api.ask(secret, "POST", "/schedules", {"rule": "every 2h", "text": "x"})).body["id"],
    }
    loop = asyncio.get_running_loop()
    counts: dict[int, int] = {}

    async def send(case: Any, *, real: bool) -> None:
        if real:  # a made-up name gets no further than to the look for it
            named = {name: known.get(name, value) for name, value in (case.path_parameters or {}).items()}
            case.path_parameters = named
        sent = case.as_transport_kwargs(base_url=str(api.url.with_path(API)))
        headers = {str(name): str(value) for name, value in (sent.get("headers") or {}).items()}
        headers = {name: value for name, value in headers.items() if value.isprintable() and value.isascii()}
        headers |= {"Authorization": f"Bearer {secret}"}
        if "json" in sent:
            more = {"json": sent["json"]}
        else:
            data = sent.get("data")
            more = {"data": data if isinstance(data, bytes | str) or data is None else str(data)}
            if case.method in {"POST", "PATCH"}:
                headers["Content-Type"] = "application/json"
        params = sent.get("params") or {}
        flat = [(str(key), str(value)) for key, value in params.items() if value is not None]
        async with api.session.request(
            case.method, sent["url"], params=flat, headers=headers, timeout=aiohttp.ClientTimeout(total=20), **more
        ) as answer:
            counts[answer.status] = counts.get(answer.status, 0) + 1
            if answer.content_type == "text/event-stream":
                return
            told = await answer.read()
            assert answer.status in TOLD, (case.method, sent["url"], answer.status, told[:500])
            assert "X-Request-Id" in answer.headers or answer.status == 400, (case.method, sent["url"], answer.status)
            if answer.status >= 400 and case.method != "HEAD":
                assert set(await answer.json()) == {"code", "message", "details"}, told[:500]

    def work() -> None:
        schema = schemathesis.openapi.from_dict(document)
        operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
        for index, operation in enumerate(operations):
            share = cases // len(operations) + (index < cases % len(operations))
            if share < 1:
                continue

            @seed(number)
            @settings(
                max_examples=share,
                deadline=None,
                database=None,
                verbosity=Verbosity.quiet,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(
                case=st.one_of(operation.as_strategy(), operation.as_strategy(generation_mode=_NEGATIVE)),
                real=st.booleans(),
            )
            def one(case: Any, real: bool) -> None:
                asyncio.run_coroutine_threadsafe(send(case, real=real), loop).result(30)

            one()

    failed: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            failed.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    while thread.is_alive():
        await asyncio.sleep(0.05)
    if failed:
        raise failed[0]
    return counts


_NEGATIVE = schemathesis.GenerationMode.NEGATIVE


async def _main() -> None:
    cases = int(os.environ.get("API_CASES", CASES))
    with tempfile.TemporaryDirectory() as directory:
        async with open_api(Path(directory)) as api:
            counts = await fuzz(api, cases, number=int(os.environ.get("API_SEED", "0")))
    sys.stdout.write(f"{sum(counts.values())} requests: {dict(sorted(counts.items()))}\n")


if __name__ == "__main__":
    asyncio.run(_main())
