"""What a host may do, and what it may not: each with a real engine that holds it back, or with the hub that does."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import pytest

from agent.actions import PressKey
from agent.events import Asked, RunEnded, Started, Step
from agent.guards.policy import Policy
from agent.guards.rules import shipped
from agent.models.base import Purpose
from agent.ports.runner import RunOrder
from agent.ports.stores import GivenFile
from agent.questions import Answer, QuestionKind
from agent.run import Outcome, RunId
from bot.fleet.engine import Address, Delivery, EngineAway, EngineRefused, Link
from bot.fleet.keys import public_of
from bot.fleet.messages import (
    Beat,
    GetFile,
    OrderSent,
    Reply,
    Told,
    UseMemory,
    asked_by,
    asked_of,
    beats_to,
    events_of,
    inbox_of,
    orders_to,
    read_reply,
)
from bot.fleet.nats_engine import NatsLink
from bot.fleet.sign_in import JoinRefused, delivery_of, join
from bot.tasks.manual_input import ManualInput, ManualInputError
from devices.inputs import Key
from devices.phone import Health
from tests.agent.test_runner_contract import FINISH, OPEN, RUN, Running
from tests.fakes.scripted_model import HANG, call, element, models
from tests.fleet.fake_engine import FakeLink
from tests.fleet.rig import LIMIT, FleetRig

SIGN_IN: Final[list[Any]] = [
    call("open_app", name="Account"),
    lambda request: call("type", element=element(request, "User name"), text="anna", submit=True),
    lambda request: call("enter_secret", element=element(request, "6-digit code"), question="Which code?", submit=True),
]


def order(**more: object) -> RunOrder:
    return RunOrder.model_validate({"run": RUN, "task": "write a note", "goal": "the notes are open", **more})


def stolen(fleet: FleetRig, name: str) -> Address:
    """How somebody with the key of a host gets in."""
    return Address(fleet.engine.url, name, inbox_of(name), seed=fleet.machines[name].keys.user)


@pytest.fixture
async def two(fleet: FleetRig) -> FleetRig:
    """Two hosts; the thief has the key of the second one."""
    for name in ("shelf", "thief"):
        await fleet.add_host(name, models([OPEN, FINISH])[0])
        await fleet.there(name)
    await fleet.machines["thief"].stop()
    return fleet


async def test_a_stolen_key_reads_and_writes_nothing_of_another_host(two: FleetRig) -> None:
    """Seen to fail when the permissions name all hosts: then the thief heard the beats of the other one."""
    heard: list[bytes] = []

    async def hear(delivery: Delivery) -> None:
        heard.append(delivery.data)

    async with two.connect(stolen(two, "thief")) as link:
        for subject in (
            beats_to("shelf"),
            orders_to("shelf"),
            delivery_of("shelf"),
            events_of("shelf", "*"),
            "fleet.ask.shelf",
            "fleet.>",
            "$SYS.REQ.USER.AUTH",
            f"{inbox_of('shelf')}.>",
            "_INBOX_hub.>",
        ):
            await link.listen(subject, hear)
        phone = await two.there()
        end = await Running(two.runner, order(phone=phone)).ended()
        assert end.outcome is Outcome.SUCCEEDED
        forged = Told(n=1, event=end).model_dump_json().encode()
        for subject in (events_of("shelf", RUN), orders_to("shelf"), beats_to("shelf"), "$KV.fleet.shelf"):
            with pytest.raises(EngineAway):
                await link.store(subject, forged)
    assert heard == []


async def test_who_only_listens_with_a_copied_key_hears_that_host_alone(two: FleetRig) -> None:
    """Beside the right machine, on all that the key opens: its beats come, and nothing of what another host does.

    Seen to fail when the permissions name all hosts: then the code's order and the answer to it were heard.
    """
    heard: list[tuple[str, bytes]] = []
    have, _ = models([*SIGN_IN, FINISH])
    shelf = two.machines["shelf"]
    await shelf.stop()
    shelf.models = have
    await shelf.start()
    await two.machines["thief"].start()
    async with two.connect(stolen(two, "thief")) as link:

        def hearing(subject: str) -> Callable[[Delivery], Awaitable[None]]:
            async def hear(delivery: Delivery) -> None:
                heard.append((subject, delivery.data))

            return hear

        own = (beats_to("thief"), delivery_of("thief"), asked_of("thief"), f"{inbox_of('thief')}.>")
        for subject in (*own, ">", "fleet.>", beats_to("*"), delivery_of("*"), asked_of("*"), "_INBOX_shelf.>"):
            await link.listen(subject, hearing(subject))
        await two.memory.remember("discord:1", "Anna likes blue")
        work = Running(two.runner, order(phone=await two.there(), person="discord:1"))
        question = (await work.until(Asked)).question
        two.secrets.keep(question.id, "246810")
        await two.runner.answer(RUN, Answer(question=question.id, text=question.id, by="Anna"))
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
        await two.until(lambda: any(subject == beats_to("thief") for subject, _ in heard))
        await link.flush()
    assert "246810" in " ".join(shelf.inputs())
    assert {subject for subject, _ in heard} <= set(own)
    said = b" ".join(data for _, data in heard)
    for word in (b"shelf", b"write a note", b"246810", b"blue", question.id.encode()):
        assert word not in said


async def publish_with_reply(link: Link, subject: str, data: bytes, reply: str) -> None:
    """What a link never does: have the answer sent somewhere else."""
    if isinstance(link, FakeLink):
        link.engine.say(link, subject, data, reply=reply)
    else:
        await cast("NatsLink", link)._client.publish(subject, data, reply=reply)


async def test_an_answer_of_the_hub_goes_to_nobody_elses_inbox(two: FleetRig) -> None:
    """Seen to fail without the look at where the reply is to go."""
    heard: list[bytes] = []

    async def hear(delivery: Delivery) -> None:
        heard.append(delivery.data)

    async with two.connect(stolen(two, "shelf")) as victim, two.connect(stolen(two, "thief")) as thief:
        await victim.listen(f"{inbox_of('shelf')}.>", hear)
        await victim.flush()
        asked = b'{"op": "hello"}'
        await publish_with_reply(thief, asked_by("thief"), asked, f"{inbox_of('shelf')}.1")
        await thief.request(asked_by("thief"), asked)
        await victim.flush()
    assert heard == []


async def test_what_a_host_tells_of_a_run_of_another_one_does_not_count(two: FleetRig) -> None:
    have, model = models([HANG])
    two.machines["shelf"].models = have
    phone = await two.there()
    await two.machines["shelf"].stop()
    await two.machines["shelf"].start()
    await two.there()
    work = Running(two.runner, order(phone=phone))
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    end = RunEnded(run=RUN, subtask=1, outcome=Outcome.SUCCEEDED, summary="stolen")
    async with two.connect(stolen(two, "thief")) as link:
        for number in range(1, 20):
            await link.publish(events_of("thief", RUN), Told(n=number, event=end).model_dump_json().encode())
        await link.flush()
    await two.hub.beat("shelf")
    assert not work.reading.done()
    await two.runner.shutdown()


async def test_a_host_gets_no_memory_and_no_file_but_those_of_its_runs(two: FleetRig) -> None:
    await two.memory.remember("discord:1", "Anna likes blue")
    await two.memory.remember("discord:2", "Ben likes red")
    secret = await two.store.frames.save(b"not for hosts", suffix="bin")
    given = await two.store.frames.save(b"for this run", suffix="bin")
    await two.hub.keep_run(RunId("8"), "thief", "discord:1")
    mine = RunOrder(run=RunId("8"), task="t", goal="g", files=(GivenFile(name="f", content=given),))
    await two.hub.order("thief", mine)
    async with two.connect(stolen(two, "thief")) as link:
        assert "blue" in str((await ask(link, UseMemory(person="discord:1", call="all"))).data)
        for person in ("discord:2", ""):
            assert (await ask(link, UseMemory(person=person, call="all"))).error
        assert (await ask(link, GetFile(reference=given))).data == len(b"for this run")
        assert (await ask(link, GetFile(reference=secret))).missing


async def ask(link: Link, asked: UseMemory | GetFile) -> Reply:
    return read_reply(await link.request(asked_by("thief"), asked.model_dump_json().encode()))[0]


async def test_an_invitation_holds_once_and_a_revoked_host_is_out(two: FleetRig) -> None:
    line = await two.hub.invite("third")
    code = line.rpartition(".")[2]
    await join(two.engine.url, "third", code, connect=two.connect)
    for used in (code, "another-code-that-is-made-up"):
        with pytest.raises(JoinRefused):
            await join(two.engine.url, "third", used, connect=two.connect)
    async with two.connect(stolen(two, "thief")) as link:
        assert await two.hub.revoke("thief")
        async with asyncio.timeout(LIMIT):
            await link.ended()
    with pytest.raises(EngineRefused):
        async with two.connect(stolen(two, "thief")):
            pass
    assert not [info for info in two.pool.list() if info.host == "thief"]
    assert not await two.hub.revoke("thief")


async def test_a_secret_crosses_encrypted_and_stands_in_no_stream(fleet: FleetRig) -> None:
    have, _ = models([*SIGN_IN, FINISH])
    machine = await fleet.add_host("shelf", have)
    await fleet.there()
    heard: list[bytes] = []

    async def hear(delivery: Delivery) -> None:
        heard.append(delivery.data)

    async with fleet.connect(Address(fleet.engine.url, "spy", "_INBOX_hub", seed=fleet.keys.user)) as spy:
        await spy.listen("fleet.>", hear)
        work = Running(fleet.runner, order())
        question = (await work.until(Asked)).question
        assert question.kind is QuestionKind.SECRET
        fleet.secrets.keep(question.id, "246810")
        await fleet.runner.answer(RUN, Answer(question=question.id, text=question.id, by="Anna"))
        await work.ended()
        await spy.flush()
    assert "246810" in " ".join(machine.inputs())
    assert heard
    assert not [data for data in heard if b"246810" in data]
    kept = [path for path in fleet.directory.rglob("*") if path.is_file() and path.parts[-2] != "frames"]
    assert not [path for path in kept if b"246810" in path.read_bytes()]


async def test_the_stricter_of_the_two_policies_wins(fleet: FleetRig) -> None:
    """The hub allows what the host refuses, and the host cannot allow what the hub refuses."""
    rules = shipped().model_dump()
    rules["refuse"]["packages"] = [*rules["refuse"]["packages"], "org.example.notes"]
    have, model = models([OPEN, FINISH])
    await fleet.add_host("shelf", have, policy=Policy(rules))
    await fleet.there()
    await Running(fleet.runner, order()).ended()
    first, second = [request.scene for request in model.asked(Purpose.ACT)]
    assert first is not None
    assert second is not None
    assert first.screen.elements
    assert not second.screen.elements, "nothing of an app that the host closes is shown to a model"


async def test_another_version_is_refused_with_a_word_and_one_apart_works(fleet: FleetRig) -> None:
    await fleet.add_host("next", models([OPEN, FINISH])[0], speaks=2)
    await fleet.there("next")
    await fleet.add_host("far", models([])[0], speaks=3)
    await fleet.until(lambda: any(info.host == "far" and "version" in info.reason for info in fleet.pool.list()))
    (far,) = [info for info in fleet.pool.list() if info.host == "far"]
    assert far.health is Health.OFFLINE
    assert "version 3" in far.reason
    assert (await Running(fleet.runner, order(phone=await fleet.there("next"))).ended()).outcome is Outcome.SUCCEEDED


async def test_messages_twice_and_out_of_order_change_nothing(fleet: FleetRig) -> None:
    have, model = models([OPEN, OPEN, HANG, FINISH])
    machine = await fleet.add_host("shelf", have)
    await fleet.there()
    work = Running(fleet.runner, order())
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    await fleet.until(lambda: sum(isinstance(event, Step) for event in work.events) == 2)
    sent = machine.inputs()
    events, asked = list(work.events), len(model.requests)
    again = OrderSent(host="shelf", epoch=fleet.hub._epoch, number=1, language="en", order=order())
    async with fleet.connect(Address(fleet.engine.url, "hub", "_INBOX_hub", seed=fleet.keys.user)) as link:
        for _ in range(3):
            await link.store(orders_to("shelf"), again.model_dump_json().encode())
        old = Beat(host="shelf", epoch=fleet.hub._epoch, number=1)  # of before the run: it names none
        await link.publish(beats_to("shelf"), old.model_dump_json().encode())
        await link.flush()
    async with fleet.connect(stolen(fleet, "shelf")) as link:
        for number, event in reversed(list(enumerate(events, 1))):
            await link.publish(events_of("shelf", RUN), Told(n=number, event=event).model_dump_json().encode())
    await asyncio.sleep(0.5)
    assert (machine.inputs(), work.events) == (sent, events)
    assert len(model.requests) == asked


async def test_a_person_touches_the_phone_of_a_host_once_and_only_while_it_is_free(fleet: FleetRig) -> None:
    have, model = models([HANG])
    machine = await fleet.add_host("shelf", have)
    phone = await fleet.there()
    operating = ManualInput(fleet.leases, fleet.pool, Policy.default(), fleet.store.journal)
    assert (await operating.touch(phone, PressKey(key=Key.HOME), "event-1")).app
    (sent,) = machine.inputs()
    with pytest.raises(ManualInputError):
        await operating.touch(phone, PressKey(key=Key.HOME), "event-1")
    assert machine.inputs() == [sent]
    assert (await fleet.pool.get(phone).glance()) is not None
    work = Running(fleet.runner, order())
    await work.until(Started)
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    with pytest.raises(ManualInputError):
        await operating.touch(phone, PressKey(key=Key.HOME), "event-2")
    with sqlite3.connect(machine.directory / "opengui.sqlite3") as kept:
        assert kept.execute("SELECT state FROM actions WHERE run LIKE 'hand-%'").fetchall() == [("done",)]


def test_keys_are_told_to_nobody(fleet: FleetRig) -> None:
    assert public_of(fleet.keys.user) not in repr(fleet.keys)
    assert fleet.keys.user not in repr(fleet.keys)
