"""What a lost service takes with it: its own phones, secrets in its memory, and files that are not shared."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.end_to_end.brain import FINISH, Act, call, on, tap
from tests.end_to_end.service import Place, place_with
from tests.end_to_end.test_telegram import Town, town
from tests.end_to_end.workshop import hang
from tests.failover.hubs import LIMIT_S, LONG, hub_at
from tests.failover.test_chats import two_hubs
from tests.faults.service.test_running import then
from tests.fixtures.adb import AdbServer
from tests.fixtures.databases import ON_POSTGRESQL

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not ON_POSTGRESQL, reason="only a record in PostgreSQL can be taken over"),
]

AHEAD = "Your answer is held in memory"
ASKS = "wants a password or code"


async def pressed(here: Town, word: str) -> None:
    """Press the button with this word, once it is there."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            for message in here.fake.from_bot(here.group):
                for data, label in message.buttons.items():
                    if word in label:
                        await here.fake.press(here.alice, message, data)
                        return
            await asyncio.sleep(0.05)


@LONG
async def test_a_phone_of_the_lost_service_ends_its_task_as_blocked(
    adb_server: AdbServer, tmp_path: Path, database: str
) -> None:
    """The second service has another phone, on which the task is not begun again."""
    from devices.virtual_phone.phone import VirtualPhone  # noqa: PLC0415 - a part
    from tests.fixtures.postgresql import rows_of  # noqa: PLC0415 - an extra

    asked = asyncio.Event()
    acts = [call("open_app", name="Settings"), then(asked.set, hang), tap("Bluetooth"), FINISH]
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(town(*acts))
        hubs = []
        for number in (1, 2):
            phone = await stack.enter_async_context(VirtualPhone(number=number))
            await adb_server.connect(phone.address)
            stack.push_async_callback(adb_server.disconnect, phone.address)
            (tmp_path / f"{number}").mkdir()
            own = Place(phone, adb_server, tmp_path / f"{number}", here.settings.copy())
            hubs.append(await stack.enter_async_context(hub_at(own, database)))
        first, second = hubs
        await first.begin("Ready.")
        await second.begin("Standing by")
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
        await asked.wait()
        await first.lose("kill")
        await second.service.says("Ready.")
        await pressed(here, "Resume")
        blocked = await here.bot_says("Blocked · Task 1", here.group)
        await second.service.stop()
        ((name,),) = rows_of(database, "SELECT phone_name FROM tasks")
        assert f'The phone "{name}" is not connected' in blocked.text
        assert "The task stopped there" in blocked.text
        assert "not started" not in blocked.text
        assert rows_of(database, "SELECT outcome FROM tasks") == [("blocked",)]
        assert rows_of(database, "SELECT state, attempts FROM outbox WHERE kind = 'final'") == [("sent", 1)]
        assert [hub.place.phone.truth.toggles["bluetooth"] for hub in hubs] == [False, False]
        assert not second.place.phone.journal.inputs()


@LONG
async def test_a_secret_in_memory_is_asked_for_again(adb_server: AdbServer, tmp_path: Path, database: str) -> None:
    """It was given before there was a field for it, so the first service kept it; the record has nothing of it."""
    asked = asyncio.Event()
    given: Act = on("6-digit code", "enter_secret", question="Which code came to your phone?", submit=True)
    acts = [
        call("ask_user", question="Which code came to your phone?"),
        then(asked.set, hang),
        call("open_app", name="Account"),
        on("User name", "type", text="anna", submit=True),
        given,
        given,
        FINISH,
    ]
    async with (
        place_with(adb_server, tmp_path) as place,
        town(*acts) as here,
        two_hubs(place, database, here.settings) as (first, second),
    ):
        await first.begin("Ready.")
        await second.begin("Standing by")
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, "/do sign in as anna")
        question = await here.bot_says(AHEAD, here.group)
        await here.fake.say(here.alice, here.group, "135791", reply_to=question)
        await asked.wait()
        await first.lose("kill")
        await second.service.says("Ready.")
        await pressed(here, "Resume")

        await pressed(here, "Allow")

        again = await here.bot_says(ASKS, here.group)
        await here.fake.say(here.alice, here.group, "246810", reply_to=again)
        await here.bot_says("It is done.", here.group)
        assert place.phone.truth.signed_in == "anna"
        assert "135791" not in first.service.log + second.service.log


async def test_the_doctor_of_the_second_names_what_it_lacks(
    adb_server: AdbServer, tmp_path: Path, database: str
) -> None:
    """And nothing any more once it has them."""
    theirs = ["agents/buyer/AGENTS.md", "mcp.json", "settings.json", "skills/tea/SKILL.md", "fleet-hub.json"]
    async with (
        place_with(adb_server, tmp_path) as place,
        two_hubs(place, database, {}) as (first, second),
    ):
        for name in theirs:
            file = first.place.data / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("{}")
        await first.begin("Ready.")
        await second.begin("Standing by")
        _, told, _ = await second.place.opengui("doctor")
        assert "agents/buyer, fleet-hub.json, mcp.json, settings.json, skills/tea" in told
        for name in theirs:
            file = second.place.data / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("{}")
        _, told, _ = await second.place.opengui("doctor")
        assert "skills/tea" not in told
