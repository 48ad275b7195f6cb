"""The kinds of AndroidWorld's tasks that docs/reachability.md calls shown are done, in as many requests as it says.

The solver sees nothing but the words of its requests, and what it touches is found by the words of the task. A person
says yes to what is asked.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.events import Asked
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.run import Outcome
from devices.virtual_phone.ground_truth import SentMessage, truth_of
from tests.agent.dialects.test_offered import reply_in
from tests.agent.graph.blind_solver import Solver, lines
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, models

TABLE = tomllib.loads((Path(__file__).parents[3] / "docs" / "reachability.toml").read_text(encoding="utf-8"))
S = Solver("tools")
FOLDER = "/sdcard/Documents"
Kind = tuple[Sequence[Any], Callable[[Rig], bool]]


def files(**arguments: str) -> Any:
    return reply_in("tools", "files", **arguments)


def edit_text(**arguments: Any) -> Any:
    return reply_in("tools", "edit_text", **arguments)


def sent(rig: Rig) -> tuple[SentMessage, ...]:
    return truth_of(rig.phone.state).messages


def on(rig: Rig, name: str) -> bool:
    return truth_of(rig.phone.state).toggles[name]


def write(words: str) -> Any:
    """Types into the field for a message."""

    def answer(request: ModelRequest) -> ModelReply:
        there = next(line.number for line in lines(request) if "Text message" in line.words)
        return call("type", element=there, text=words)

    return answer


def field(words: str) -> Any:
    """Touches the field that holds these words."""
    return S.tap(words, "field")


KINDS: dict[str, Kind] = {
    "move": (
        [files(do="move", path=f"{FOLDER}/a.txt", to=f"{FOLDER}/b")],
        lambda rig: rig.phone.files.read(f"{FOLDER}/b/a.txt") == b"a",
    ),
    "folder": (
        [files(do="make_folder", path=f"{FOLDER}/new")],
        lambda rig: rig.phone.files.is_folder(f"{FOLDER}/new"),
    ),
    "edit": (
        [
            S.open("Notes"),
            S.tap("Groceries"),
            field("Milk"),
            edit_text(changes=[["Milk", "For Sunday\n\nMilk"]]),
            S.tap("Save"),
        ],
        lambda rig: rig.phone.state.notes[0].body == "For Sunday\n\nMilk, bread, coffee",
    ),
    "replace": (
        [S.open("Notes"), S.tap("Groceries"), field("Milk"), edit_text(text="Tea"), S.tap("Save")],
        lambda rig: rig.phone.state.notes[0].body == "Tea",
    ),
    "note": (
        [S.open("Notes"), S.tap("New note"), S.type("Trip"), field("Note"), S.type("Boots"), S.tap("Save")],
        lambda rig: (rig.phone.state.notes[-1].title, rig.phone.state.notes[-1].body) == ("Trip", "Boots"),
    ),
    "delete": ([S.open("Notes"), S.tap("Groceries"), S.tap("Delete")], lambda rig: not rig.phone.state.notes),
    "open": ([S.open("Clock")], lambda rig: rig.phone.state.front == "clock"),
    "reply": (
        [S.open("Messages"), S.tap("Alice"), write("On my way"), S.tap("Send")],
        lambda rig: sent(rig)[0] == SentMessage("Alice", "On my way"),
    ),
    "send": (
        [
            S.open("Messages"),
            S.tap("New message"),
            S.type("5550100"),
            S.tap("Text message"),
            S.type("Hello"),
            S.tap("Send"),
        ],
        lambda rig: sent(rig)[0] == SentMessage("5550100", "Hello"),
    ),
    "resend": (
        [S.open("Messages"), S.tap("Bob"), write("Great, thanks!"), S.tap("Send")],
        lambda rig: Counter(sent(rig))[SentMessage("Bob", "Great, thanks!")] == 2,
    ),
    "forward": (
        [S.open("Messages"), S.tap("Alice"), write("The parcel has arrived."), S.tap("Send")],
        lambda rig: SentMessage("Alice", "The parcel has arrived.") in sent(rig),
    ),
    "switch off": ([S.open("Settings"), S.tap("Wi-Fi")], lambda rig: not on(rig, "wifi")),
    "switch on": ([S.open("Settings"), S.tap("Bluetooth")], lambda rig: on(rig, "bluetooth")),
    "two switches": (
        [S.open("Settings"), S.tap("Wi-Fi"), S.tap("Bluetooth")],
        lambda rig: on(rig, "bluetooth") and not on(rig, "wifi"),
    ),
    "switch and app": (
        [S.open("Settings"), S.tap("Bluetooth"), S.open("Clock")],
        lambda rig: on(rig, "bluetooth") and rig.phone.state.front == "clock",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_kind_that_is_called_shown_is_done(rig: Rig, kind: str) -> None:
    rig.phone.files.write(f"{FOLDER}/a.txt", b"a")
    rig.phone.files.write(f"{FOLDER}/b/c.txt", b"c")
    steps, is_done = KINDS[kind]
    asked, model = models([*steps, S.finish()])
    work = Work(rig.agent(asked), order("do what the steps say"))
    answering = asyncio.create_task(_say_yes(work))
    end = await work.ended()
    answering.cancel()
    assert end.outcome is Outcome.SUCCEEDED
    assert is_done(rig)
    assert len(model.asked(Purpose.ACT)) == TABLE["shown"][kind]


async def _say_yes(work: Work) -> None:
    answered: set[str] = set()
    while True:
        asked = await work.until(Asked, lambda event: event.question.id not in answered)
        answered.add(asked.question.id)
        await work.answer("allow")


def test_the_table_is_whole() -> None:
    """Every task is there, each that is called shown has a kind above, and enough are reached."""
    tasks = TABLE["tasks"]
    assert len(tasks) == 116
    assert set(TABLE["shown"]) == set(KINDS)
    reached = Counter(task["reach"] for task in tasks.values())
    assert {task["kind"] for task in tasks.values() if task["reach"] == "shown"} == set(KINDS)
    assert reached["shown"] + reached["by argument"] >= 110
    assert all(task["why"] for task in tasks.values() if task["reach"] == "no")
    assert all(set(task["needs"]) <= set(TABLE["needs"]) for task in tasks.values())
