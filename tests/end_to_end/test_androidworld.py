"""The agent for AndroidWorld, with a stand-in for its environment and a real service."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

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


QUESTION = {"id": "q1", "kind": "approve", "text": "May it?", "detail": ""}


@dataclass(frozen=True)
class Refusing(Service):
    """A service of which each look at the task is scripted, and which refuses answers with `code`."""

    looks: list[dict[str, Any]] = field(default_factory=list)
    code: int = 409
    called: list[str] = field(default_factory=list)

    def call(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self.called.append(path)
        assert body is None or "/" in path
        if path.endswith("/answer"):
            raise HTTPError(self.url, self.code, "refused", Message(), None)
        if path.endswith("/cancel"):
            return {}
        if not self.looks:
            raise URLError("gone")
        said: dict[str, Any] = {"summary": "", "data": None, "steps": 0, "tokens": 0, "questions": []}
        return {"id": "t1", "outcome": None} | said | self.looks.pop(0)


def agent_of(service: Refusing) -> OpenGuiAgent:
    return OpenGuiAgent(StandIn(), service, lambda text: text, Result, poll=0)


def test_an_answer_that_is_refused_ends_no_episode() -> None:
    """Seen failing before: the refusal was raised, and the task went on with nobody."""
    over = Refusing("http://bot", "t", looks=[{"questions": [QUESTION]}, {"outcome": "succeeded"}])
    assert episode(agent_of(over), "do it")["questions"] == [
        [{"kind": "approve", "text": "May it?", "answer": "allow", "refused": 409}]
    ]
    assert not any(path.endswith("/cancel") for path in over.called)
    still = Refusing("http://bot", "t", looks=[{"questions": [QUESTION]}] * 2 + [{"outcome": "cancelled"}])
    assert episode(agent_of(still), "do it")["outcome"] == ["cancelled"]
    assert still.called.count("/tasks/t1/answer") == 1
    assert "/tasks/t1/cancel" in still.called


@pytest.mark.parametrize("code", [500, 409])
def test_a_task_is_cancelled_whatever_ends_the_episode(code: int) -> None:
    service = Refusing("http://bot", "t", looks=[{"questions": [QUESTION]}], code=code)
    with pytest.raises(OSError, match="refused" if code == 500 else "gone"):
        episode(agent_of(service), "do it")
    assert service.called[-1] == "/tasks/t1/cancel"
