"""Whatever a host says, on every subject that it has: nothing that the hub does for others ends by it, or stands still.

Seen failing where the hub filled in what a host sent as a form: the list of phones stood still.
"""

from __future__ import annotations

import json
import random
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.effect_facts import PhoneNote, Worded, in_english
from agent.events import Step
from agent.run import Outcome, RunId
from bot.fleet.bounds import Faults, check_limits, one_line
from bot.fleet.engine import Delivery, EngineAway, Link
from bot.fleet.hub import HostRefused
from bot.fleet.messages import (
    PRESENCE,
    SPEAKS,
    PhoneThere,
    Presence,
    Pulse,
    Reply,
    Sentence,
    Told,
    asked_by,
    asked_of,
    events_of,
    pulse_of,
)
from bot.fleet.phone_calls import raise_refused, read
from bot.views.tasks import effect_words
from devices.errors import CaptureFailed, PhoneError
from devices.phone import Health, PhoneInfo
from devices.wording import filled, said
from tests.agent.test_runner_contract import FINISH, OPEN, Running
from tests.fakes.scripted_model import models
from tests.fleet.rig import FleetRig
from tests.fleet.test_borders import order, stolen

FORMS = ("{missing}", "{x:>300000000}", "{x.__class__}", "{0}", "{", "}", "{x!r:>9}", "{{x}}", "%(x)s", "{" * 400)


@pytest.fixture
async def two(fleet: FleetRig) -> FleetRig:
    """A host that works, and one whose key somebody else has."""
    await fleet.add_host("shelf", models([OPEN, FINISH])[0])
    await fleet.there("shelf")
    await fleet.add_host("a-thief", models([])[0])
    await fleet.there("a-thief")
    await fleet.machines["a-thief"].stop()
    return fleet


async def others_go_on(fleet: FleetRig) -> None:
    """The other host hears the hub, its phone is listed, and a task on it is done."""
    before = fleet.hub._number
    await fleet.until(lambda: fleet.hub._number > before + 4)
    assert all(not task.done() for task in fleet.hub._tasks)
    phone = await fleet.there("shelf")
    assert (await Running(fleet.runner, order(phone=phone)).ended()).outcome is Outcome.SUCCEEDED


async def tell(fleet: FleetRig, link: Link, phone: dict[str, Any], number: int) -> None:
    """Say as the thief that it has this phone."""
    there = {"boot": "b", "number": number, "speaks": SPEAKS, "phones": [phone]}
    await link.put(PRESENCE, "a-thief", json.dumps(there).encode())
    pulse = Pulse(boot="b", number=number, epoch=fleet.hub._epoch)
    await link.publish(pulse_of("a-thief"), pulse.model_dump_json().encode())
    await link.flush()


def taken(fleet: FleetRig) -> tuple[str, int] | None:
    """Which presence of the thief the hub knows."""
    presence = fleet.hub.hosts["a-thief"].presence
    return None if presence is None else (presence.boot, presence.number)


async def test_no_form_of_a_host_stops_lists_or_the_heartbeat(two: FleetRig) -> None:
    info = PhoneThere(info=PhoneInfo("x", "x", "x", Health.OFFLINE)).model_dump(mode="json")
    async with two.connect(stolen(two, "a-thief")) as link:
        for number, form in enumerate(FORMS, 1):
            said = {"form": form, "kind": form[:100], "values": {"x": "1"}}
            await tell(two, link, info | {"reason": said, "fix": {**said, "kind": "phone.battery.reason"}}, number)
            await two.until(lambda number=number: taken(two) == ("b", number))  # type: ignore[misc]
            (found,) = [each for each in two.pool.list() if each.id == "x"]
            assert found.reason == "The machine reported something that this version has no words for."
            assert found.fix == found.reason
        await others_go_on(two)


ODD: list[Any] = [
    None,
    0,
    -1,
    2**53 + 1,
    2**64,
    10**400,
    1e308,
    float("inf"),
    float("nan"),
    "",
    "x" * 300_000,
    "\ud800",
    "\x00\u202e\n",
    [],
    {},
    [[]],
    {"": {}},
    *FORMS,
]


def odd(value: Any, chance: random.Random, deep: int = 0) -> Any:
    """The message with some part of it another one."""
    if chance.random() < (0.15 if deep else 0.02):
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {name: odd(each, chance, deep + 1) for name, each in value.items() if chance.random() > 0.03}
    if isinstance(value, list):
        return [odd(each, chance, deep + 1) for each in value]
    return value


def written(value: Any) -> bytes:
    return json.dumps(value).encode()[:900_000]


async def test_no_message_on_any_subject_of_a_host_stops_what_the_hub_does_for_others(two: FleetRig) -> None:
    """Messages as they are and with parts of them another one, and bytes that are nothing; the seed is fixed."""
    chance = random.Random(33)
    run = RunId("8")
    await two.hub.keep_run(run, "a-thief", "discord:1")
    (info,) = [info for info in two.pool.list() if info.host == "a-thief"]
    note = PhoneNote(sentence="s")
    step = Told(n=1, event=Step(run=run, subtask=1, step=1, max_steps=2, summary="s", effect=(note,)))
    there = Presence(boot="b", number=1, speaks=SPEAKS, phones=(PhoneThere.of(replace(info, name="n")),))
    pulse = Pulse(boot="b", number=1, epoch=two.hub._epoch, working=(str(run),))
    memory = {"op": "memory", "person": "discord:1", "call": "remember", "arguments": {"text": "t", "phone": "p"}}
    subjects: list[tuple[str, Any]] = [
        (events_of("a-thief", run), step.model_dump(mode="json")),
        (events_of("a-thief", run), {"kind": "wanted", "n": 1, "phone": "x"}),
        (events_of("a-thief", run), {"kind": "returned", "n": 1, "fence": 1}),
        (pulse_of("a-thief"), pulse.model_dump(mode="json")),
        (asked_by("a-thief"), memory),
        (asked_by("a-thief"), {"op": "file", "reference": "r", "offset": 0}),
        (f"$KV.{PRESENCE}.a-thief", there.model_dump(mode="json")),
    ]
    async with two.connect(stolen(two, "a-thief")) as link:
        for turn in range(300):
            subject, message = chance.choice(subjects)
            data = chance.randbytes(50) if turn % 20 == 0 else written(odd(message, chance))
            if subject.startswith("$KV"):
                await link.put(PRESENCE, "a-thief", data)
                await link.publish(pulse_of("a-thief"), written({**pulse.model_dump(mode="json"), "number": turn}))
            else:
                await link.publish(subject, data)
        for deep in (b"[" * 100_000, b'{"a":' * 50_000):
            await link.publish(events_of("a-thief", run), deep)
            await link.publish(pulse_of("a-thief"), deep)
        await link.flush()
        await two.until(lambda: two.hub.faults["a-thief"] > 50)
        await others_go_on(two)


async def test_no_answer_of_a_host_stops_what_asked_for_it(two: FleetRig) -> None:
    """Each is an error of a phone, or a fault of that host, to who asked."""
    info = PhoneThere(info=PhoneInfo("x", "x", "x", Health.READY)).model_dump(mode="json")
    bodies = [b"", b"{", b"[]\n", b'{"data": {"raised": "X"}}\n', b'{"data": {"raised": "NameBook", "sentence": 1}}\n']
    bodies += [b'{"data": 1}\nno picture', b'{"error": "' + b"e" * 100_000 + b'"}\n', b'{"data": {"files": 3}}\n']
    bodies += [b'{"data": {"width": 100000000, "height": 1, "elements": null, "facts": {}}}\n']
    async with two.connect(stolen(two, "a-thief")) as link:
        waiting = iter(bodies * 4)

        async def answer(delivery: Delivery) -> None:
            await delivery.answer(next(waiting, b""))

        await link.listen(asked_of("a-thief"), answer)
        await tell(two, link, info, 1)
        await two.until(lambda: any(each.id == "x" and each.health.usable for each in two.pool.list()))
        phone = two.pool.get("x")
        for _ in bodies:
            for call in (phone.observe(), phone.find_files("n"), phone.glance()):
                with suppress(PhoneError, HostRefused, EngineAway):
                    await call
        await others_go_on(two)


def test_a_form_of_others_is_filled_in_bounded_time_and_room() -> None:
    tracemalloc.start()
    for form in FORMS:
        fact = Worded(sentence="s", values={"x": "1"}, form=form[:500], translations={"zh": form[:500]})
        assert len(in_english((fact,))) < 2000
        assert len(effect_words((fact,), {})) < 2000
        assert len(Sentence(kind="phone.battery.reason", values={"percent": form}).worded()) < 500
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    known = said(PhoneNote(sentence="nothing like that").words)
    assert known == "The phone reported something that this version has no words for."


@given(st.text(alphabet="{}x!:.[]0 ", max_size=60))
def test_a_form_never_reads_more_than_names(form: str) -> None:
    try:
        assert len(filled(form, {"x": "v"})) <= len(form)
    except KeyError as missing:
        assert missing.args[0].isidentifier()  # noqa: PT017 - the name of the value


PLAIN = st.none() | st.integers() | st.floats() | st.text()


@pytest.mark.slow
@given(st.recursive(PLAIN, lambda each: st.lists(each) | st.dictionaries(st.text(), each)))
def test_what_is_bounded_is_json_that_the_database_takes(value: Any) -> None:
    data = json.dumps(value).encode()
    try:
        kept = json.loads(check_limits(data))
    except ValueError:
        return

    def look(each: object) -> None:
        assert not isinstance(each, int) or abs(each) <= 2**53
        if isinstance(each, str):
            each.encode()
        for part in each if isinstance(each, list) else each.values() if isinstance(each, dict) else ():
            look(part)

    look(kept)


@given(st.text(max_size=500), st.integers(1, 100))
def test_what_is_in_a_line_is_one_short_line(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert line.isprintable()


def test_faults_are_counted_and_told_ever_more_seldom(caplog: pytest.LogCaptureFixture) -> None:
    faults = Faults()
    for _ in range(1000):
        with faults.of("shelf"):
            raise OverflowError("Python int too large")
    assert faults["shelf"] == 1000
    assert len(caplog.records) == 10
    with pytest.raises(EngineAway), faults.of("shelf"):
        raise EngineAway


@pytest.mark.parametrize("told", [{}, {"width": 9, "height": 9, "elements": None, "facts": {"package": {}}}, None, 3])
def test_an_observation_that_is_none_is_an_error_of_the_phone(told: object) -> None:
    with pytest.raises(CaptureFailed):
        read(told, b"")
    with pytest.raises(PhoneError):
        raise_refused(Reply(data={"raised": "NameBook", "sentence": told}))
