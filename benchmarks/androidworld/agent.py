"""An agent for AndroidWorld: it hands a goal to a running service over the API, and says what came of it.

`run.py` makes it one of AndroidWorld's `EnvironmentInteractingAgent`; here nothing of AndroidWorld is imported.
"""

from __future__ import annotations

import json
import time
import tomllib
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.error import HTTPError

POLICY: Final = Path(__file__).with_name("policy.toml")
POLL_S: Final = 1.0
CALL_S: Final = 30.0
"""Seconds for one call of the API."""
MOST_S: Final = 1800.0
"""Seconds for one task; AndroidWorld has no limit of its own."""


class Environment(Protocol):
    """What of AndroidWorld's `AsyncEnv` is used."""

    def reset(self, go_home: bool = False) -> object:
        """Back to where an episode begins."""
        ...

    def execute_action(self, action: object) -> None:
        """Take an action of AndroidWorld's own: the answer to a question."""
        ...


class Policy:
    """What AndroidWorld's person says to a question, by a file."""

    def __init__(self, path: Path = POLICY) -> None:
        self._rules = tomllib.loads(path.read_text(encoding="utf-8"))

    def answer(self, question: Mapping[str, Any]) -> str | None:
        """The answer; None gives the question up."""
        rule = self._rules.get(question["kind"], {})
        said = f"{question['text']}\n{question['detail']}".casefold()
        if any(word in said for word in rule.get("unless", ())):
            return "deny"
        answer: str | None = rule.get("answer")
        return answer


@dataclass(frozen=True)
class Service:
    """A running service: its address, a token with the rights to operate and to approve, and the phone."""

    url: str
    token: str
    phone: str = ""

    def call(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One call of the API: a POST with a body, else a GET. Raises OSError, with HTTP's refusals among them."""
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=CALL_S) as answer:
            told: dict[str, Any] = json.load(answer)
            return told


@dataclass
class OpenGuiAgent:
    """One `step` is a whole task. `answered` makes AndroidWorld's answer, `result` its result of a step."""

    env: Environment
    service: Service
    answered: Callable[[str], object]
    result: Callable[[bool, dict[str, Any]], object]
    policy: Policy = field(default_factory=Policy)
    name: str = "opengui"
    transition_pause: float | None = None
    max_steps: int | None = None
    poll: float = POLL_S
    """Seconds between two looks at the task."""

    def set_max_steps(self, max_steps: int) -> None:
        """How many steps AndroidWorld grants: those of the run, not calls of `step`."""
        self.max_steps = max_steps

    def reset(self, go_home: bool = False) -> None:
        """Begin an episode."""
        self.env.reset(go_home=go_home)

    def step(self, goal: str) -> object:
        """Do the whole task. Raises OSError when the service cannot be reached, and TimeoutError."""
        began = time.monotonic()
        asked = {"text": goal, "phone": self.service.phone, "max_steps": self.max_steps}
        task = self.service.call("/tasks", asked)
        questions: list[dict[str, Any]] = []
        tried: dict[str, bool] = {}
        try:
            while task["outcome"] is None:
                if time.monotonic() - began > MOST_S:
                    raise TimeoutError(f"task {task['id']} did not end in {MOST_S:g} s")
                for question in task["questions"]:
                    if question["id"] in tried:
                        if tried[question["id"]]:  # what was refused would be refused again
                            self._cancel(task["id"])
                        continue
                    answer = self.policy.answer(question)
                    refused = self._answer(task["id"], question["id"], answer)
                    tried[question["id"]] = bool(refused)
                    questions.append({each: question[each] for each in ("kind", "text")} | {"answer": answer} | refused)
                time.sleep(self.poll)
                task = self.service.call(f"/tasks/{task['id']}")
        finally:
            if task["outcome"] is None:
                self._cancel(task["id"])
        if task["outcome"] in {"succeeded", "answered", "unverified"}:
            self.env.execute_action(self.answered(task["data"] or task["summary"]))
        told = {each: task[each] for each in ("id", "outcome", "summary", "data", "steps", "tokens")}
        return self.result(True, told | {"seconds": time.monotonic() - began, "questions": questions})

    def _answer(self, task: str, question: str, text: str | None) -> dict[str, int]:
        """Answer it. What the service refuses, as when the question is over by now, is told and ends no episode."""
        try:
            self.service.call(f"/tasks/{task}/answer", {"question": question, "text": text})
        except HTTPError as error:
            if error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise
            return {"refused": error.code}
        return {}

    def _cancel(self, task: str) -> None:
        """Let no task go on that nobody follows any more."""
        with suppress(OSError):
            self.service.call(f"/tasks/{task}/cancel", {})
