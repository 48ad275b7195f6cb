"""Hosts go on with the second hub: what they work on goes on, and its end is told once."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.end_to_end.brain import FINISH, call, tap
from tests.end_to_end.service import Place, place_with
from tests.end_to_end.test_telegram import bluetooth_is_on, town
from tests.failover.hubs import LIMIT_S, LONG, WAYS, hub_at
from tests.faults.service.test_running import finals, then
from tests.fixtures.adb import AdbServer
from tests.fixtures.databases import ON_POSTGRESQL

pytestmark = [
    LONG,
    pytest.mark.fleet,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not ON_POSTGRESQL, reason="only a record in PostgreSQL can be taken over"),
]

QUESTION = "Which colour do you want?"


@pytest.mark.parametrize("way", WAYS)
async def test_a_host_goes_on_with_the_second_hub(
    adb_server: AdbServer, tmp_path: Path, database: str, way: str
) -> None:
    """Its phone is in the middle of a task, in which it asks a person after the first hub is lost."""
    from bot.fleet.keys import HubKeys  # noqa: PLC0415 - an extra
    from tests.fixtures.postgresql import rows_of  # noqa: PLC0415 - the same
    from tests.fleet.chaos import HostProcess  # noqa: PLC0415 - the same
    from tests.fleet.engine import engine_at  # noqa: PLC0415 - the same

    asked = asyncio.Event()
    acts = [
        call("open_app", name="Settings"),
        then(asked.set, tap("Bluetooth")),
        call("ask_user", question=QUESTION),
        FINISH,
    ]
    async with place_with(adb_server, tmp_path) as place, town(*acts) as here, AsyncExitStack() as stack:
        hubs = []
        for name in ("one", "two"):
            at = Place(place.phone, adb_server, tmp_path / name, here.settings | {"ANDROID_SERIALS": "none"})
            at.data.mkdir(parents=True)
            hubs.append(await stack.enter_async_context(hub_at(at, database)))
        first, second = hubs
        keys = first.place.data / "fleet-hub.json"
        engine = await stack.enter_async_context(engine_at(tmp_path, HubKeys.kept(keys)))
        shutil.copy(keys, second.place.data)
        for hub in hubs:
            hub.place.settings["FLEET_URL"] = engine.url
        await first.begin("Ready.")
        await second.begin("Standing by")
        code, line, why = await first.place.opengui("fleet", "invite", "shelf")
        assert code == 0, why
        (tmp_path / "host").mkdir()
        own = {name: value for name, value in here.settings.items() if name.startswith("VLM_")}
        host = HostProcess(place, tmp_path / "host", own)
        stack.push_async_callback(host.end, signal.SIGTERM)
        await host.start("--join", line.split("'")[1])
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
        await asked.wait()

        await first.lose(way)
        await second.service.says("Ready.")
        answered: set[int] = set()
        async with asyncio.timeout(LIMIT_S):
            while not finals(here):
                for message in here.fake.from_bot(here.group):
                    for data, label in message.buttons.items():
                        if label == "Resume" and message.id not in answered:
                            answered.add(message.id)
                            await here.fake.press(here.alice, message, data)
                    if QUESTION in message.text and "Open for" in message.text and message.id not in answered:
                        answered.add(message.id)
                        await here.fake.say(here.alice, here.group, "the blue one", reply_to=message)
                await asyncio.sleep(0.1)
        await first.come_back(way)

        await second.service.stop()
        assert rows_of(database, "SELECT state, outcome FROM tasks") == [("ended", "succeeded")]
        assert rows_of(database, "SELECT state, attempts FROM outbox WHERE kind = 'final'") == [("sent", 1)]
        assert finals(here) == 1
        assert sum(QUESTION in message.text for message in here.fake.from_bot(here.group)) == 1
        assert bluetooth_is_on(place)
        receipts = Counter(entry.receipt for entry in place.phone.journal.inputs() if entry.receipt)
        assert {*receipts.values()} == {1}, "an action reached the phone twice"
        assert "Traceback" not in host.log
