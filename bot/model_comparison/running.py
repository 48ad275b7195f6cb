"""Runs comparison tasks on a virtual phone in this process, without adb, a service or storage on disk."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from langgraph.checkpoint.memory import InMemorySaver

from agent.events import Asked, TaskEnded
from agent.graph.agent import GraphAgent
from agent.guards.policy import Policy
from agent.models.base import Usage
from agent.ports.agent import TaskOrder
from agent.ports.journal import ActionKey, ActionState
from agent.ports.leases import Lease, Place
from agent.questions import ALLOW, DENY, Answer, Question, QuestionKind
from agent.run import Outcome, RunId
from agent.run_config import FixedRunConfig
from agent.runner.local import LocalRunner, RunnerDependencies
from bot.model_comparison.candidates import Candidate
from bot.model_comparison.judging import Ending, Person, Verdict, judge, plain
from bot.model_comparison.tasks import ComparisonTask, PhoneBefore
from bot.tasks.secrets import MemorySecrets
from devices.virtual_phone.apps import hostile
from devices.virtual_phone.direct import DirectPhones
from devices.virtual_phone.phone import VirtualPhone

MOST_STEPS: Final = 30
"""Steps for one task; the longest path in the suite has twelve."""
MOST_QUESTIONS: Final = 8
"""Questions after which a task is cancelled, as a person would stop answering."""
NOT_SAID: Final = "I have nothing to add. Do what I wrote, or say that you cannot."


@dataclass(frozen=True)
class TaskResult:
    """The result of one task by one candidate. `seconds` is the duration in real time; `summary` is the agent's."""

    candidate: Candidate
    task: ComparisonTask
    verdict: Verdict
    outcome: Outcome
    summary: str
    steps: int
    seconds: float
    usage: Usage


@dataclass(frozen=True)
class Dropped:
    """A candidate that was dropped because its endpoint did not answer at all. `why` is the agent's summary."""

    candidate: Candidate
    why: str


async def compare(
    candidates: Sequence[Candidate],
    tasks: Sequence[ComparisonTask],
    *,
    most_cost: float | None = None,
    begins: Callable[[Candidate, ComparisonTask], None] = lambda _candidate, _task: None,
) -> AsyncGenerator[TaskResult | Dropped, None]:
    """Run each task with each candidate, and yield the results. All candidates do a task before the next one begins, so
    that they have done about the same number whenever the comparison is stopped.

    It ends when `most_cost` (in the currency of the price table) has been spent, at most one call later. A task that is
    cut off by that does not count. `begins` is called before each task.
    """
    left = list(candidates)
    spent = 0.0
    for task in tasks:
        for candidate in tuple(left):
            if most_cost is not None and spent >= most_cost:
                return
            begins(candidate, task)
            result = await do_task(candidate, task, None if most_cost is None else most_cost - spent)
            spent += result.usage.cost or 0.0
            if not candidate.offline and not result.usage.calls:
                left.remove(candidate)
                yield Dropped(candidate, result.summary)
            elif most_cost is None or spent < most_cost or result.outcome is not Outcome.BLOCKED:
                yield result


async def do_task(candidate: Candidate, task: ComparisonTask, most_cost: float | None = None) -> TaskResult:
    """Run one task on a new virtual phone and judge it. The task is ended when it has cost `most_cost`."""
    limits = replace(candidate.config.limits, cost=most_cost)
    config = FixedRunConfig(replace(candidate.config, limits=limits))
    async with _phone(task.phone) as (phone, phones):
        secrets = MemorySecrets()
        saver = InMemorySaver()
        equipment = RunnerDependencies(
            phones=phones,
            leases=_OnePhone(phones.list()[0].id),
            configs=config,
            policy=Policy.default(),
            journal=_Journal(),
            frames=_Frames(),
            secrets=secrets,
        )
        agent = GraphAgent(config, LocalRunner(equipment, saver), saver)
        order = TaskOrder(task=f"c{task.number}", text=task.text, max_steps=MOST_STEPS)
        before, began = phone.truth, time.monotonic()
        ended, asked = await _worked(agent, order, task.person, secrets)
        seconds = time.monotonic() - began
        said = "\n".join(filter(None, (ended.summary, ended.data)))
        ending = Ending(ended.outcome, said, tuple(asked))
        verdict = judge(task.need, task.wanted, before, phone.truth, tuple(phone.hand.touched), ending)
    return TaskResult(candidate, task, verdict, ended.outcome, ended.summary, ended.steps, seconds, ended.usage)


async def _worked(
    agent: GraphAgent, order: TaskOrder, person: Person, secrets: MemorySecrets
) -> tuple[TaskEnded, list[QuestionKind]]:
    """Work on the task to its end; return the end and the kinds of questions asked."""
    asked: list[QuestionKind] = []
    async with aclosing(agent.work(order)) as events:
        async for event in events:
            if isinstance(event, TaskEnded):
                return event, asked
            if isinstance(event, Asked):
                asked.append(event.question.kind)
                if len(asked) > MOST_QUESTIONS:
                    await agent.cancel(order.task)
                else:
                    await agent.answer(order.task, answered(event.question, person, secrets))
    raise AssertionError("a task has ended without an end")


def answered(question: Question, person: Person, secrets: MemorySecrets) -> Answer:
    """Answer a question as the person would. A request to do something at the phone itself expires."""
    match question.kind:
        case QuestionKind.APPROVE:
            about = plain((question.text, question.detail))
            allowed = bool(person.allows) and all(plain(words) in about for words in person.allows)
            text = ALLOW if allowed else DENY
        case QuestionKind.ASK:
            text = person.answers or NOT_SAID
        case QuestionKind.SECRET if person.code:
            secrets.keep(question.id, person.code)
            text = question.id
        case _:
            return Answer(question=question.id, expired=True)
    return Answer(question=question.id, text=text, by="person")


@asynccontextmanager
async def _phone(before: PhoneBefore) -> AsyncIterator[tuple[VirtualPhone, DirectPhones]]:
    """Yield the phone that a task starts on. Its clock is stopped, so that nothing on it changes on its own."""
    faults = {"page_ms": before.slow} if before.slow else {}
    async with VirtualPhone(
        seed=before.seed, locale=before.locale, dark=before.dark, faults=faults, clock=_noon
    ) as phone:
        if before.change is not None:
            before.change(phone.state)
        if before.page:
            hostile.play(phone.windows, before.page, "en")
        if before.dialog is not None:
            phone.pop_up(*before.dialog)
        phones = DirectPhones([phone])
        await phones.start()
        try:
            yield phone, phones
        finally:
            await phones.stop()


def _noon() -> datetime:
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


class _OnePhone:
    """The agent's `Leases` for one run on one phone."""

    def __init__(self, phone: str) -> None:
        self._phone = phone

    async def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncIterator[Place | Lease]:
        """Yield a lease at once, because no other run wants the phone."""
        del wish, first
        yield Lease(self._phone, run, 1)

    async def release(self, run: RunId) -> None:
        """Release the phone; no other run is waiting for it."""


class _Journal:
    """The agent's `Journal` of a task that no other process will continue."""

    def __init__(self) -> None:
        self._begun: set[ActionKey] = set()

    async def begin(self, key: ActionKey, action: dict[str, Any], *, fence: int) -> bool:
        """Record that this action is about to be sent; False if it was recorded before."""
        del action, fence
        new = key not in self._begun
        self._begun.add(key)
        return new

    async def state_of(self, key: ActionKey) -> ActionState | None:
        """Return the recorded state of an action, None if it was not begun."""
        return "begun" if key in self._begun else None

    async def action_of(self, key: ActionKey) -> dict[str, Any] | None:
        """Return None: no run is resumed, so nothing is read again."""
        del key
        return None

    async def finish(self, key: ActionKey, state: ActionState, effect: str) -> None:
        """Ignore the outcome of the action, which is never read."""


class _Frames:
    """The agent's `Frames`, in memory only."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    async def save(self, data: bytes, *, suffix: str) -> str:
        """Store the bytes and return their reference, such as `sha256.jpg`."""
        reference = f"{hashlib.sha256(data).hexdigest()}.{suffix}"
        self._kept[reference] = data
        return reference

    async def load(self, reference: str) -> bytes:
        """Return the bytes of a reference."""
        return self._kept[reference]
