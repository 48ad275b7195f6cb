"""Makes the tool calls of a worker: checks whether a person must approve each, records it, runs it, and returns its
result.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, Literal

from agent.actions import Action
from agent.control import Stopped
from agent.dialects.tool_schemas import plain_tool_spec
from agent.guards.binding import digest
from agent.guards.gate import Gate
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.models.base import ToolCall, ToolSpec
from agent.models.json_answers import whole_signs
from agent.ports.journal import CallKey, CallState, NewCall, StoredCall, ToolCalls
from agent.tools.call_values import action_of, covered, done_data, done_of, head_and_tail, new_call, told_of
from agent.tools.files import FileRefused, TaskFiles
from agent.tools.spec import ActionError, ActionResult, Situation, Tool, ToolContext

logger = logging.getLogger(__name__)

MOST_CALLS: Final = 30
"""The maximum number of calls by one worker, and therefore in one answer."""
AT_ONCE: Final = 5
MOST_EQUAL: Final = 3
"""How often the result of an equal call is repeated. After that, the model is only told that it was given before."""
MOST_RESULT: Final = 6_000
"""Characters of a result that a model is shown, about 1,500 tokens. A longer one is stored in a file of the task."""
UNCERTAIN: Final = (
    "This was begun before an interruption, and nobody knows whether it was done; it was not done again. Do it once "
    "more only if a person says that it is missing."
)
SKIPPED: Final = "Skipped and not done, because a call before it in the same answer failed."
WAITS: Final = "Not done yet: a person is asked about a call before it."
ASKS: Final = "Not done yet: a person has to allow it first."
DENIED: Final = "Not done: a person did not allow it. Do not try it again, nor another way to the same."
ENOUGH: Final = (
    f"Not done: no more than {MOST_CALLS} calls can be made. Finish with what you have, and say what is missing."
)
REPEATED: Final = (
    "Not done again: this very call was made before, and its result has been told {times} times. Use it, or do "
    "something else."
)
REFUSED: Final = "Refused and not done: {reason}. Find a way without it, or say that it cannot be done."

State = Literal["ok", "failed", "skipped", "cached", "asks"]


@dataclass(frozen=True, slots=True)
class Worker:
    """The caller of tools: the `number`th assignment of this member in a task, such as researcher 2. For a run on a
    phone, the number is the sub-task's.
    """

    task: str
    member: str
    number: int


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of one tool call.

    `call` is the model's call. `told` is what the model reads, never empty; text by others is between <read> marks in
    it, as data. `done` is None if the call has no result. With the state "asks", a person must approve the call first:
    `gate` says why, `question` and `details` are shown to them, and `approval` is a digest of the tool and its
    arguments that identifies their answer.
    """

    call: ToolCall
    told: str
    state: State
    done: ActionResult | None = None
    gate: Gate | None = None
    question: str = ""
    details: tuple[str, ...] = ()
    approval: str = ""
    uncertain: bool = False
    """Whether it is unknown if the call was done; `question` then describes it."""


class Toolbox:
    """The available tools that need no phone, by name, and what all their callers share: call record, policy and task
    files.

    An example: `toolbox.caller(Worker("7", "researcher", 1), ["web_search"])` returns that worker's caller.
    """

    def __init__(
        self,
        tools: Iterable[Tool[Any]],
        calls: ToolCalls,
        *,
        policy: Policy | None = None,
        files: TaskFiles | None = None,
        offered_now: Callable[[], Sequence[Tool[Any]]] = tuple,
    ) -> None:
        """`files` stores results that are too long to show. `offered_now` returns tools that come and go: a worker gets
        those available when it begins or continues. Raises ValueError if two tools have the same name.
        """
        self.offered_now = offered_now
        self.calls = calls
        self.files = files
        self.policy = policy or Policy.default()
        self.tools: dict[str, Tool[Any]] = {}
        for tool in tools:
            if self.tools.setdefault(tool.kind, tool) is not tool:
                raise ValueError(f"There are two tools of the name {tool.kind!r}.")

    async def with_what_is_known(self, context: ToolContext) -> ToolContext:
        """Return the context with the addresses and document passages added that tool calls of the task have found so
        far, whoever made them.
        """
        found, documents = await self.calls.found(context.task_id), await self.calls.documents(context.task_id)
        return replace(context, found=(*context.found, *found), documents=(*context.documents, *documents))

    def caller(self, worker: Worker, names: Collection[str] | None = None) -> ToolCaller:
        """Return the object with which a worker calls tools: those of the named ones that are available, or all if
        `names` is None.
        """
        return ToolCaller(worker, self.named(names), self)

    def named(self, names: Collection[str] | None) -> list[Tool[Any]]:
        """Return those of the named tools that are available, all if `names` is None. A name such as `mcp_home__*`
        stands for all with this prefix.
        """
        if names is None:
            return list(self.offered())
        beginnings = tuple(name.removesuffix("*") for name in names if name.endswith("*"))
        return [tool for tool in self.offered() if tool.kind in names or tool.kind.startswith(beginnings)]

    def offered(self) -> tuple[Tool[Any], ...]:
        """Return all tools that are available now."""
        return tuple({**{tool.kind: tool for tool in self.offered_now()}, **self.tools}.values())


class ToolCaller:
    """Makes the tool calls of one worker."""

    def __init__(self, worker: Worker, tools: Iterable[Tool[Any]], box: Toolbox) -> None:
        self._worker = worker
        self._tools = {tool.kind: tool for tool in tools}
        self.box = box
        self._equal: dict[str, int] = {}

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools as they are described to a model."""
        return tuple(plain_tool_spec(tool.model) for tool in self._tools.values())

    async def call(
        self,
        wanted: Sequence[ToolCall],
        context: ToolContext,
        *,
        turn: int,
        allowed: Collection[str] = (),
        denied: Collection[str] = (),
    ) -> tuple[CallResult, ...]:
        """Make the calls of one answer in order and return their results. Calls without an effect are made up to 5 at
        once, a call with an effect alone.

        `turn` is the number of the answer in the worker's conversation and must be the same after a crash: finished
        calls are not repeated, only their results. After a failure, calls that have not begun are skipped. At a call
        that a person must approve ("asks"), those behind it wait: call again with the same answer and turn, and the
        call's `approval` in `allowed` or `denied`.

        If an answer has more calls than one worker may make, the last result stands for all the rest. Raises Stopped,
        and errors of the call record.
        """
        first = CallKey(self._worker.task, self._worker.member, self._worker.number, turn, 0)
        room = max(0, MOST_CALLS - await self.box.calls.count(first))
        context = await self.box.with_what_is_known(context)
        answer = _Answer(self, context, allowed, denied)
        calls = [_Call(call, replace(first, index=index), self) for index, call in enumerate(wanted[:room])]
        made = await answer.all(calls)
        if len(wanted) > room:
            more = len(wanted) - room
            told = ENOUGH if more == 1 else f"{ENOUGH} ({more:,} calls of this answer were left out.)"
            made = (*made, CallResult(wanted[room], told, "skipped"))
        return made

    def tool(self, name: str) -> Tool[Any] | None:
        """Return the worker's tool with this name, or None."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the worker's tools."""
        return tuple(self._tools)

    def times(self, same: str) -> int:
        """Count this use of a cached result, and return how often it was used. `same` is the digest that equal calls
        share.
        """
        self._equal[same] = self._equal.get(same, 0) + 1
        return self._equal[same]

    async def known(self, key: CallKey) -> StoredCall | None:
        """Return the record of a call that has ended; None if there is none or it was only begun or stopped (`perform`
        then decides whether it may run).
        """
        stored = await self.box.calls.at(key)
        return None if stored is None or stored.state in {"begun", "stopped"} else stored

    async def perform(
        self, tool: Tool[Any], action: Action, key: CallKey, context: ToolContext
    ) -> tuple[ActionResult, bool]:
        """Record the call, run it and record its result. Returns the result, and whether it was taken from an equal
        earlier call.

        A call with an effect never runs twice. Raises ActionError if it failed, with `uncertain` if it may have been
        done, and Stopped.
        """
        mask = context.mask
        call = new_call(tool, action, mask)
        known = await self.box.calls.begin(key, call)
        if known is not None:
            if known.ok:
                return done_of(known.result), known.cached
            told = str(known.result.get("why", ""))
            if known.state == "begun":
                await self.box.calls.finish(key, "uncertain", {"why": UNCERTAIN}, 0.0)
            raise ActionError(told or UNCERTAIN, uncertain=known.state in {"begun", "uncertain"})
        calls, began = self.box.calls, time.perf_counter()
        try:
            done = await tool.run(action, context)
        except (Stopped, asyncio.CancelledError):
            state: CallState = "stopped" if tool.repeatable else "uncertain"
            await asyncio.shield(calls.finish(key, state, {}, time.perf_counter() - began))
            raise
        except ActionError as error:
            seconds = time.perf_counter() - began
            failed: CallState = "uncertain" if error.uncertain else "failed"
            await calls.finish(key, failed, {"why": mask.text(str(error))}, seconds)
            raise
        done = await self._box_up(covered(done, mask), tool, key)
        await calls.finish(key, "done", done_data(done), time.perf_counter() - began)
        return done, False

    async def _box_up(self, done: ActionResult, tool: Tool[Any], key: CallKey) -> ActionResult:
        """Move text that is too long to show to a task file, keeping its head and tail."""
        shown = list(done.read)
        for part, text in enumerate(done.read):
            if len(text) > MOST_RESULT:
                name = f"results/{tool.kind}-{key.member}{key.number}-{key.turn}-{key.index}-{part}.txt"
                shown[part] = f"{head_and_tail(text, MOST_RESULT)}{await self._filed(key.task, name, text)}"
        return replace(done, read=tuple(shown))

    async def _filed(self, task: str, name: str, text: str) -> str:
        if self.box.files is None:
            return ""
        try:
            await asyncio.to_thread(self.box.files.of(task).write, name, text)
        except (FileRefused, OSError) as error:
            logger.warning("Task %s: a long result could not be stored as a file: %s", task, error)
            return ""
        return f"\n[the whole text is in the file {name}]"


class _Answer:
    """The calls of one answer while they are being made."""

    def __init__(
        self, caller: ToolCaller, context: ToolContext, allowed: Collection[str], denied: Collection[str]
    ) -> None:
        self._caller = caller
        self._context = context
        self._allowed = allowed
        self._denied = denied
        self._failed = False
        self._waits = False

    async def all(self, calls: Sequence[_Call]) -> tuple[CallResult, ...]:
        made: list[CallResult] = []
        for repeatable, group in groupby(calls, lambda call: call.repeatable):
            some, most = list(group), AT_ONCE if repeatable else 1
            for at in range(0, len(some), most):
                made += await self._together(some[at : at + most])
        return tuple(made)

    async def _together(self, calls: Sequence[_Call]) -> list[CallResult]:
        """Make a few calls at once. All gates are checked first, so that nothing behind a question begins."""
        made: list[CallResult | None] = []
        running: dict[int, asyncio.Task[CallResult]] = {}
        for number, call in enumerate(calls):
            early = await self._before(call)
            made.append(early)
            if early is None:
                running[number] = asyncio.create_task(self._run(call))
        try:
            if running:
                await asyncio.wait(running.values())
            for number, task in running.items():
                made[number] = task.result()
        finally:
            for task in running.values():
                task.cancel()
            if running:
                await asyncio.wait(running.values())
        return [each for each in made if each is not None]

    async def _before(self, call: _Call) -> CallResult | None:
        """Return the outcome of a call that does not run; None if it runs or its result is known."""
        known = await self._caller.known(call.key)
        if known is not None:
            self._failed |= not known.ok
            return call.told_again(known)
        if self._waits:
            return CallResult(call.call, WAITS, "skipped")
        if self._failed:
            return await self._refused(call, SKIPPED, "skipped")
        if call.action is None or call.tool is None:
            return await self._refused(call, call.trouble)
        gate = call.tool.gate(
            call.action, Situation(self._caller.box.policy, self._context.task, None, self._context.sources)
        )
        if gate.verdict == "allow" or call.approval in self._allowed:
            return None
        if gate.verdict in {"refuse", "secret"}:
            return await self._refused(call, REFUSED.format(reason=gate.reason))
        if call.approval in self._denied:
            return await self._refused(call, DENIED)
        self._waits = True
        question, details = call.tool.asks(call.action, None), tuple(call.tool.shown(call.action))
        return CallResult(call.call, ASKS, "asks", None, gate, question, details, call.approval)

    async def _refused(self, call: _Call, told: str, state: CallState = "failed") -> CallResult:
        self._failed = True
        await self._caller.box.calls.refuse(call.key, call.new(self._context.mask), state, {"why": told})
        return CallResult(call.call, told, "skipped" if state == "skipped" else "failed")

    async def _run(self, call: _Call) -> CallResult:
        assert call.tool is not None
        assert call.action is not None
        try:
            done, cached = await self._caller.perform(call.tool, call.action, call.key, self._context)
        except ActionError as error:
            self._failed = True
            told = self._context.mask.text(str(error))
            return call.failed(told, uncertain=error.uncertain)
        if not cached:
            return CallResult(call.call, told_of(done), "ok", done)
        times = self._caller.times(call.new(self._context.mask).same)
        told = told_of(done) if times < MOST_EQUAL else REPEATED.format(times=times)
        return CallResult(call.call, told, "cached", done)


class _Call:
    """One parsed call: its tool and typed arguments, or why there are none."""

    def __init__(self, call: ToolCall, key: CallKey, caller: ToolCaller) -> None:
        self.call = call
        self.key = key
        self.tool = caller.tool(call.name)
        self.action: Action | None = None
        self.trouble = ""
        if self.tool is None:
            names = ", ".join(caller.names) or "none"
            self.trouble = f"There is no tool of the name {call.name[:60]!r} here. The tools are: {names}."
            return
        try:
            self.action = self.tool.resolve(action_of(self.tool, call.arguments))
        except ActionError as error:
            self.trouble = str(error)

    @property
    def repeatable(self) -> bool:
        """Whether it changes nothing, which includes calls that could not be parsed."""
        return self.tool is None or self.action is None or self.tool.repeatable

    @property
    def approval(self) -> str:
        """The digest that identifies a person's answer about this call."""
        assert self.tool is not None
        assert self.action is not None
        return digest([self.action.kind, self.tool.meant(self.action)])

    def new(self, mask: Mask) -> NewCall:
        """Return the call in the form that is recorded."""
        if self.tool is None or self.action is None:
            return NewCall(
                whole_signs(self.call.name[:60]), {"unread": whole_signs(mask.text(self.call.arguments[:500]))}, True
            )
        return new_call(self.tool, self.action, mask)

    def told_again(self, stored: StoredCall) -> CallResult:
        """Return the recorded outcome as it was reported when the call was made."""
        if stored.ok:
            done = done_of(stored.result)
            return CallResult(self.call, told_of(done), "cached" if stored.cached else "ok", done)
        told = str(stored.result.get("why", "")) or UNCERTAIN
        if stored.state == "skipped":
            return CallResult(self.call, told, "skipped")
        return self.failed(told, uncertain=stored.state == "uncertain")

    def failed(self, told: str, *, uncertain: bool) -> CallResult:
        """Return that the call failed or, if `uncertain`, that it is unknown, with what was to be done."""
        known = uncertain and self.tool is not None and self.action is not None
        what = self.tool.asks(self.action, None) if known and self.tool is not None else ""
        return CallResult(self.call, told, "failed", question=what, uncertain=uncertain)
