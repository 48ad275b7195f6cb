"""A process that dies in any node of either graph, and another one that goes on where it stopped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from agent.effect_facts import in_english
from agent.graph.agent import main_graph
from agent.graph.executor.build import executor_graph
from agent.models.base import ModelReply, ModelRequest, Models
from agent.run import Outcome
from tests.agent.graph.dying import DyingSaver, Lives, Moment
from tests.agent.graph.rig import Rig, order
from tests.fakes.scripted_model import call, data, element, models, text

NODES = [*main_graph().nodes, *executor_graph().nodes]
SELDOM = {"__start__", "member", "sum_up_past"}
"""Not reached by a task that is short and needs a phone: see test_team and test_long_runs."""
PLACES: list[tuple[str, Moment, int]] = [(node, "has run", 1) for node in NODES if node not in SELDOM]
PLACES += [(node, "begins", 1) for node in ("executor", "execute_action", "call_user", "executor_exit")]
# The touch, the deletion that was allowed, the second sub-task: places where the first visit shows little.
PLACES += [("execute_action", "has run", 2), ("execute_action", "has run", 7), ("call_user", "has run", 2)]
PLACES += [("call_user", "begins", 2), ("plan_supervisor", "has run", 2)]
# The input of the task, and of each of its two sub-tasks.
PLACES += [("__start__", "begins", visit) for visit in (1, 2, 3)]


@pytest.mark.parametrize(("node", "moment", "visit"), PLACES)
async def test_dead_in_a_node_and_continued(rig: Rig, tmp_path: Path, node: str, moment: Moment, visit: int) -> None:
    """Seen failing with `execute_action` going on without a sight while the journal lets an action begin twice: one
    touch then reaches the phone two times.
    """
    lives = Lives(tmp_path / "checkpoints.sqlite3")
    title = rig.phone.truth.notes[0].title
    notes, bluetooth = len(rig.phone.truth.notes), rig.phone.truth.toggles["bluetooth"]
    task = order("switch Bluetooth, then delete the first note", quick=False, max_steps=40)
    connection = await lives.connect()
    saver = DyingSaver(connection, node, moment, visit)
    rig.saver = saver
    end = await lives.live(rig.agent(_models(title)), task, saver)
    assert end is None, f"{node} was not reached"
    await connection.close()
    connection = await lives.connect()
    saver = DyingSaver(connection)
    rig.saver = saver
    end = await lives.live(rig.agent(_models(title)), task, saver)
    await connection.close()
    assert end is not None
    assert end.outcome is Outcome.SUCCEEDED, end.summary
    assert end.summary == "All of it is done."
    assert rig.phone.truth.toggles["bluetooth"] is not bluetooth
    assert len(rig.phone.truth.notes) == notes - 1
    sent = Counter(entry.receipt for entry in rig.phone.journal.entries if entry.receipt and "tap" in entry.argv)
    assert set(sent.values()) == {1}


def _models(title: str) -> Models:
    """A model that decides by what it is shown, as often as it is asked."""

    def act(request: ModelRequest) -> ModelReply:
        assert request.scene is not None
        return _switch(request) if request.scene.goal == "switch it" else _delete(request, title)

    have, _ = models(
        [act] * 40,
        intent=[data(kind="complex")] * 3,
        plan=[text("1. switch\n2. delete")] * 3,
        supervise=[_supervise] * 8,
        summarize=[text("All of it is done.")] * 3,
    )
    return have


def _supervise(request: ModelRequest) -> ModelReply:
    facts = str(request.messages[-1].parts[0])
    if "delete it: succeeded" in facts:
        return data(decision="complete")
    if "switch it: succeeded" in facts:
        return data(decision="continue", remaining=["delete"], next="delete it")
    return data(decision="continue", remaining=["switch", "delete"], next="switch it")


def _switch(request: ModelRequest) -> ModelReply:
    scene = request.scene
    assert scene is not None
    lines = [line.text for line in scene.screen.elements or ()]
    heard = " ".join([*scene.notices, *(in_english(past.effects) for past in scene.past)])
    if "Bluetooth" not in lines:
        return call("open_app", name="Settings")
    if lines[lines.index("Bluetooth") + 1] == "Off":
        return call("tap", element=element(request, "Bluetooth"))
    if "The person answered" not in heard and "answer: " not in heard:
        return call("ask_user", question="Which colour?")
    return call("finish", status="success", summary="switched")


def _delete(request: ModelRequest, title: str) -> ModelReply:
    scene = request.scene
    assert scene is not None
    labels = {line.text for line in scene.screen.elements or ()}
    if "notes" not in scene.screen.app:
        return call("open_app", name="Notes")
    if "Delete" in labels:
        return call("tap", element=element(request, "Delete"))
    if title in labels:
        return call("tap", element=element(request, title))
    return call("finish", status="success", summary="deleted")
