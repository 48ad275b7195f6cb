"""Two prices are looked up side by side, compared, and the cheaper one is written into the notes of a phone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from aiohttp import web

from agent.events import Started, TaskEvent
from agent.run import Outcome
from bot.config.settings import Settings
from bot.domain.address import Address, Person
from bot.domain.chat import Budget
from bot.domain.task import TaskState
from bot.domain.task_request import Origin, TaskRequest
from bot.outbox.outbox import Outbox
from bot.wiring.core import open_core
from devices.virtual_phone.phone import VirtualPhone
from tests.agent.tools.site import NAME, Site
from tests.bot.chats.loopback import CAPABILITIES, LoopbackChat
from tests.end_to_end.brain import call, on, tap
from tests.fakes.model_server import Answer, ModelServer, Recorded
from tests.fixtures.adb import AdbServer

LIMIT = 60.0
WISH = "Compare what pump A and pump B cost and put the cheaper one in my notes"
PRICES = {"A": "1,240", "B": "1,310"}
ANNA = Person("discord", "1", "Anna")
QUICK = replace(
    CAPABILITIES,
    threads=False,
    edit_interval=0.0,
    edit_interval_group=0.0,
    chat_budgets=(Budget(1000, 1.0),),
    group_budgets=(),
    account_budgets=(),
)
PLAN = {
    "thought": "Anna wants the cheaper of two pumps in her notes.",
    "title": "The cheaper pump",
    "steps": [
        {"member": "researcher", "title": "price of A"},
        {"member": "researcher", "title": "price of B"},
        {"member": "coder", "title": "the difference"},
        {"member": "executor", "title": "write it down"},
    ],
}


@dataclass
class Shops:
    """Two shops and a search for them. A page comes when both were asked for and `go` is set."""

    asked: set[str] = field(default_factory=set)
    both: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    site: Site = field(default_factory=Site)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        pump = request.path.removeprefix("/pump-").upper()
        if request.path == "/search":
            pump = request.query["q"][-1]
            found = {"title": f"Pump {pump}", "url": self.site.url(f"/pump-{pump.lower()}"), "content": "in stock"}
            return web.json_response({"results": [found]})
        self.asked.add(pump)
        if len(self.asked) == 2:
            self.both.set()
        await self.go.wait()
        told = "".join(
            f"<p>{at}. The pump {pump} costs {PRICES[pump]} euros today, in every shop.</p>" for at in range(6)
        )
        text = f"<html><head><title>Pump {pump}</title></head><body><article>{told}</article></body></html>"
        return web.Response(text=text, content_type="text/html")


@asynccontextmanager
async def open_shops() -> AsyncIterator[Shops]:
    shops = Shops()
    app = web.Application()
    app.router.add_get("/{path:.*}", shops.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    shops.site.port = runner.addresses[0][1]
    try:
        yield shops
    finally:
        await runner.cleanup()


def said(**data: object) -> Answer:
    return Answer(text=json.dumps(data))


def thinks(shops: Shops, request: Recorded) -> Answer:
    """A model without memory: what it does next is what the conversation has come to."""
    text = request.text
    if "Decide how to handle" in text:
        return said(kind="complex", need_plan=True, answer="")
    if "You plan work for a small team" in text:
        return said(**PLAN)
    if "You supervise a small team" in text:
        return supervises(text)
    if "You tell a person how" in text:
        return Answer(text="Pump A is 70 euros cheaper; it is in your notes.")
    if "You check whether a task" in text:
        return said(proven=True)
    if "You write captions" in text:
        return Answer(text="Writing a note")
    if "You look something up" in text:
        return looks_up(shops, "A" if "price of pump A" in text else "B", request)
    if "You work out what is asked" in text:
        results = [each for each in request.messages if each.get("role") == "tool"]
        return Answer(text="B costs 70 euros more.") if results else call("calculate", expression="1310-1240")(request)
    return writes(request)


def supervises(text: str) -> Answer:
    done = text.partition("Results:")[2]
    if "(none yet)" in done:
        goals = [{"member": "researcher", "todo": f"price of {pump}", "goal": f"price of pump {pump}"} for pump in "AB"]
        return said(decision="continue", remaining=["the difference", "write it down"], assignments=goals)
    if "70 euros more" not in done:
        goal = {"member": "coder", "todo": "the difference", "goal": f"{PRICES['B']} - {PRICES['A']}"}
        return said(decision="continue", remaining=["write it down"], assignments=[goal])
    if "Saved." not in done:
        goal = {"member": "executor", "todo": "write it down", "goal": "A note with the title Pump A"}
        return said(decision="continue", remaining=[], assignments=[goal])
    return said(decision="complete")


def looks_up(shops: Shops, pump: str, request: Recorded) -> Answer:
    results = sum(each.get("role") == "tool" for each in request.messages)
    if results == 0:
        return call("web_search", query=f"price of pump {pump}")(request)
    if results == 1:
        return call("read_page", url=shops.site.url(f"/pump-{pump.lower()}"))(request)
    return Answer(text=f"Pump {pump} costs {PRICES[pump]} euros ({shops.site.url(f'/pump-{pump.lower()}')}).")


def writes(request: Recorded) -> Answer:
    """On the phone, by what is to be seen there."""
    screen = request.text.rpartition("The screen now")[2]
    if "'Pump A'" in screen and "'Save'" in screen:
        return tap("Save")(request)
    if "'Save'" in screen:
        return on("Title", "type", text="Pump A")(request)
    if "'Pump A'" in screen:
        return call("finish", status="success", summary="Saved.")(request)
    if "'New note'" in screen:
        return tap("New note")(request)
    return call("open_app", name="Notes")(request)


@pytest.fixture
async def phone(adb_server: AdbServer) -> AsyncIterator[VirtualPhone]:
    async with VirtualPhone() as made:
        await adb_server.connect(made.address)
        yield made
        await adb_server.disconnect(made.address)


async def test_from_a_wish_to_a_note(adb_server: AdbServer, phone: VirtualPhone, tmp_path: Path) -> None:
    phone.state.notes.clear()
    async with open_shops() as shops, ModelServer(lambda request: thinks(shops, request)) as model:
        settings = Settings.model_validate(
            {
                "adb_servers": ((adb_server.host, adb_server.port),),
                "android_serials": (phone.address,),
                "data_dir": tmp_path / "data",
                "vlm_base_url": model.base_url,
                "vlm_model": "a-vl",
                "basic_model": "a-small-one",
                "reasoning_model": "a-deep-one",
                "searxng_url": f"http://127.0.0.1:{shops.site.port}",
                "guard": "rules",
            }
        )
        egress = shops.site.egress()
        async with open_core(settings, (), way_out=lambda: egress) as core:
            chat, here = LoopbackChat(capabilities=QUICK), Address("discord", "bot", "1")
            outbox = Outbox(core.task_service, core.store, {"discord": chat}, "none")
            await outbox.start()
            events: list[TaskEvent] = []
            core.task_service.on_event(lambda _task, event: events.append(event))
            try:
                wish = TaskRequest(WISH, ANNA, Origin(here, "1"))
                task = (await core.task_service.accept(wish)).task
                async with asyncio.timeout(LIMIT):
                    await shops.both.wait()
                    both = (
                        "▶ researcher: price of A\n▶ researcher: price of B\n○ coder: the difference\n○ write it down"
                    )
                    await chat.wait_until(lambda: any(both in each.body for each in chat.messages(here)), LIMIT)
                    assert (await core.task_service.known(task.id)).state is TaskState.WORKING
                    assert await core.store.leases.open_leases() == ()
                    shops.go.set()
                    await chat.wait_until(lambda: any(each.final for each in chat.messages(here)), LIMIT)
            finally:
                await outbox.stop()
            ended = await core.task_service.known(task.id)
            assert await core.store.leases.open_leases() == ()
            steps = await core.task_service.steps(task.id)
    assert ended.outcome is Outcome.SUCCEEDED, ended.summary
    assert [note.title for note in phone.truth.notes] == ["Pump A"]
    assert len([event for event in events if isinstance(event, Started)]) == 1
    assert {step.subtask for step in steps} == {4}, "one run on the phone, after three parts without one"
    card, final = chat.messages(here)
    assert "✓ researcher: price of A\n✓ researcher: price of B\n✓ coder: the difference\n✓ write it down" in card.body
    pages = [f"http://{NAME}:{shops.site.port}/pump-{pump}" for pump in "ab"]
    assert final.body.endswith("Sources:\n" + "\n".join(f"- Pump {page[-1].upper()} {page}" for page in pages))
    assert [page.url for page in ended.sources] == pages
    for share in ("a-small-one (researcher)", "a-small-one (coder)", "a-deep-one", "a-vl"):
        assert share in final.footer, final.footer
