"""The agent for AndroidWorld, with a stand-in for its environment and a real service."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.androidworld.agent import OpenGuiAgent, Policy, Service
from benchmarks.androidworld.report import report
from tests.end_to_end.service import Place
from tests.end_to_end.test_api import token


@dataclass
class Result:
    """AndroidWorld's AgentInteractionResult."""

    done: bool
    data: dict[str, Any]


@dataclass
class StandIn:
    """AndroidWorld's AsyncEnv, as far as an agent uses it."""

    resets: list[bool] = field(default_factory=list)
    actions: list[object] = field(default_factory=list)

    def reset(self, go_home: bool = False) -> object:
        self.resets.append(go_home)
        return None

    def execute_action(self, action: object) -> None:
        self.actions.append(action)


def episode(agent: OpenGuiAgent, goal: str, steps: int = 10) -> dict[str, Any]:
    """As AndroidWorld runs one (episode_runner.run_episode): reset, steps until it is done, a list for each key."""
    agent.reset(go_home=True)
    agent.set_max_steps(steps)
    kept: dict[str, list[Any]] = {}
    for _ in range(steps):
        result = agent.step(goal)
        assert isinstance(result, Result)
        for key, value in result.data.items():
            kept.setdefault(key, []).append(value)
        if result.done:
            return kept
    raise AssertionError("it did not say that it is done")


async def test_a_goal_is_done_by_a_service_and_booked(place: Place) -> None:
    async with place.service() as service:
        secret = await token(place, "androidworld", "--right", "operate", "--right", "approve")
        env = StandIn()
        url = service.console.partition("/?")[0]
        agent = OpenGuiAgent(env, Service(url, secret), lambda text: ("answer", text), Result)
        deleted = await asyncio.to_thread(episode, agent, "open Notes, tap Groceries and tap Delete")
    assert deleted["outcome"] == ["succeeded"]
    assert [each["kind"] for each in deleted["questions"][0]] == ["approve"]
    assert place.phone.state.notes == []
    assert env.resets == [True]
    assert env.actions == [("answer", deleted["data"][0] or deleted["summary"][0])]
    assert deleted["steps"][0] >= 3
    told = report(
        [
            {"task_template": "MarkorDeleteNote", "is_successful": 1.0, "episode_data": deleted},
            {"task_template": "MarkorDeleteAllNotes", "is_successful": 0.0, "episode_data": deleted},
            {"task_template": "CameraTakePhoto", "is_successful": float("nan"), "episode_data": float("nan")},
        ]
    )
    assert told.startswith("1 of 3 right (33.3%), 1 claimed and not right")
    assert "| CameraTakePhoto | no | no end |" in told


def test_what_its_person_says(tmp_path: Path) -> None:
    policy = Policy()
    ask = {"detail": "", "text": "May the agent do this: tap 'Delete'?"}
    assert policy.answer({"kind": "approve", **ask}) == "allow"
    assert policy.answer({"kind": "approve", "detail": "Pay $20", "text": "May the agent do this?"}) == "deny"
    assert policy.answer({"kind": "take over", **ask}) == "done"
    assert policy.answer({"kind": "secret", **ask}) is None
    own = tmp_path / "policy.toml"
    own.write_text('[ask]\nanswer = "blue"\n', encoding="utf-8")
    assert Policy(own).answer({"kind": "ask", **ask}) == "blue"
    assert Policy(own).answer({"kind": "approve", **ask}) is None
