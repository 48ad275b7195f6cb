"""Whole tasks as a person feels them: from the message to the first touch and to the end, beside a floor.

One running service on a phone that was measured elsewhere. Its model is scripted and takes the same time for every
request, whatever the request is for.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from statistics import median

import aiohttp

from benchmarks.ground import FOREIGN_PHONE, TASK_S, ground
from benchmarks.journey import BROWSER, on_label, streamed
from benchmarks.row import Row
from benchmarks.scale import Service, service_on
from devices.virtual_phone.client import PhoneControl
from devices.virtual_phone.ground_truth import GroundTruth
from tests.end_to_end.brain import FINISH, Act, brain, call
from tests.fakes.model_server import Answer, ModelServer, Recorded

INPUT_S = 0.36
"""An input and a frame of that phone: what a step takes beside its request."""
FLOOR_SHARE, FIRST_EXTRA_S = 1.2, 0.8
"""What is allowed beside the floor, and before the first input beside the one request that it needs."""
INPUTS = frozenset({"input", "am", "monkey", "setText"})


@dataclass(frozen=True)
class Errand:
    """A task, what its model does, and how the phone shows that it was really done."""

    name: str
    text: str
    acts: tuple[Act, ...]
    is_done: Callable[[GroundTruth], bool]

    def floor(self, model_seconds: float) -> float:
        """Seconds below which nobody can be who asks the model once for each act."""
        return len(self.acts) * model_seconds + (len(self.acts) - 1) * INPUT_S


ERRANDS = (
    Errand(
        "Bluetooth",
        "Open Settings and turn Bluetooth on.",
        (call("open_app", name="Settings"), on_label("Bluetooth", "tap"), FINISH),
        lambda phone: phone.toggles["bluetooth"],
    ),
    Errand(
        "dark theme",
        "Switch the phone to the dark theme in Settings.",
        (call("open_app", name="Settings"), on_label("Display", "tap"), on_label("Dark theme", "tap"), FINISH),
        lambda phone: phone.toggles["dark"],
    ),
    Errand(
        "cart",
        "Put a Desk lamp into the cart of the Shop app.",
        (call("open_app", name="Shop"), on_label("Desk lamp", "tap"), on_label("Add to cart", "tap"), FINISH),
        lambda phone: len(phone.cart) == 1,
    ),
    Errand(
        "message",
        "Send the message 'On my way' to Bob with the Messages app.",
        (
            call("open_app", name="Messages"),
            on_label("Bob", "tap"),
            on_label("Text message", "type", text="On my way"),
            on_label("Send", "tap"),
            FINISH,
        ),
        lambda phone: [each.text for each in phone.messages].count("On my way") == 1,
    ),
    Errand(
        "search",
        "Open Chrome, search for weather and open the first result.",
        (
            call("open_app", name="Browser"),
            on_label(BROWSER, "type", text="weather", clear=True, submit=True),
            on_label("weather - Free Encyclopedia", "tap"),
            FINISH,
        ),
        lambda phone: phone.searches == ("weather",),
    ),
    Errand(
        "note",
        "In the Notes app, make a note titled 'Meeting' with the text 'Room 12 at 3 pm' and save it.",
        (
            call("open_app", name="Notes"),
            on_label("New note", "tap"),
            on_label("Title", "type", text="Meeting"),
            on_label("Note", "type", text="Room 12 at 3 pm"),
            on_label("Save", "tap"),
            FINISH,
        ),
        lambda phone: [each.title for each in phone.notes if each.title == "Meeting"] == ["Meeting"],
    ),
)


def _spoken(act: Act) -> Act:
    """The same act by a model that says what it does, as models do: no other has to be asked for those words."""

    def spoken(request: Recorded) -> Answer:
        answer = act(request)
        calls = (
            each
            if each.name == "finish"
            else each.model_copy(update={"arguments": {**each.arguments, "say": "Going on"}})
            for each in answer.tool_calls
        )
        return answer.model_copy(update={"tool_calls": tuple(calls)})

    return spoken


@dataclass(frozen=True)
class Whole:
    """One task: seconds from its message, and what it took."""

    first: float
    end: float
    requests: int
    tokens: int
    outcome: str


async def measured(runs: int, seconds: Sequence[float]) -> AsyncIterator[Row]:
    """Every task with models of each of these speeds, on a phone that is as new each time."""
    await _round(0.0)  # a scripted model that is shown a picture alone learns here where things are
    for each in seconds:
        rounds = [await _round(each) for _ in range(runs)]
        print(f"\nModel {each:g} s · load {os.getloadavg()[0]:.1f}")
        print(f"{'':<14}{'first input':>12}{'end':>8}{'floor':>8}{'requests':>10}{'needed':>8}{'tokens':>9}  outcome")
        for number, errand in enumerate(ERRANDS):
            wholes = [done[number] for done in rounds]
            first, end = median(whole.first for whole in wholes), median(whole.end for whole in wholes)
            requests, tokens = median(whole.requests for whole in wholes), median(whole.tokens for whole in wholes)
            outcomes = "/".join(sorted({whole.outcome for whole in wholes}))
            print(
                f"{errand.name:<14}{first:>12.2f}{end:>8.2f}{errand.floor(each):>8.2f}{requests:>10.0f}"
                f"{len(errand.acts):>8}{tokens:>9.0f}  {outcomes}",
                flush=True,
            )
            yield Row(f"{errand.name}, model {each:g} s: end", end, FLOOR_SHARE * errand.floor(each), "s")
            yield Row(f"{errand.name}, model {each:g} s: first input", first, each + FIRST_EXTRA_S, "s")


async def _round(model_seconds: float) -> list[Whole]:
    """All of them, one after the other."""
    think = brain()

    def answer(request: Recorded) -> Answer:
        judged = "You judge one press" in request.text
        return streamed(Answer(text='{"consequence": "none"}') if judged else think(request), model_seconds)

    async with (
        ground(1, FOREIGN_PHONE) as place,
        ModelServer(answer) as model,
        service_on(place, model.base_url, {"FAST_LANE": "auto"}) as service,
        place.phones[0].open() as phone,
    ):
        wholes = []
        for errand in ERRANDS:
            think = brain(*map(_spoken, errand.acts))
            wholes.append(await _done(errand, service, phone, model))
        return wholes


async def _done(errand: Errand, service: Service, phone: PhoneControl, model: ModelServer) -> Whole:
    asked, tokens = len(model.requests), model.tokens.input
    since = max((entry.number for entry in await phone.journal()), default=0)
    began, clock, outcome = time.time(), time.monotonic(), ""
    async with service.console.post("/api/v1/tasks", json={"text": errand.text}) as given:
        given.raise_for_status()
        task = (await given.json())["id"]
    lines, whole = {"Accept": "application/x-ndjson"}, aiohttp.ClientTimeout(total=TASK_S)
    async with service.console.get(f"/api/v1/tasks/{task}/events", headers=lines, timeout=whole) as events:
        async for line in events.content:
            event = json.loads(line)
            if event["type"] == "question":
                async with service.console.post(f"/api/v1/tasks/{task}/answer", json={"text": "yes"}) as said:
                    said.raise_for_status()
            if event["type"] == "final":
                outcome = event["outcome"]
                break
    end = time.monotonic() - clock
    if outcome == "succeeded" and not errand.is_done(await phone.truth()):
        outcome = "false success"
    await asyncio.sleep(1.0)  # the phone is put back
    inputs = [entry.at for entry in await phone.journal(since=since) if entry.receipt and entry.name in INPUTS]
    return Whole(
        min(inputs, default=began) - began,
        end,
        len(model.requests) - asked,
        model.tokens.input - tokens,
        outcome,
    )
