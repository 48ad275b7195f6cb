"""LocalRunner, which runs sub-tasks on the phones of this process, with one thread of the executor graph per run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.types import Command

from agent.control import Signal, Stopped
from agent.error_mapping import fault_of
from agent.events import Asked, Resumed, RunEnded, RunEvent, Started, Told, Waiting, stream_events
from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.executor.build import executor_graph
from agent.graph.executor.built_in import BUILT_IN
from agent.graph.executor.context import LearnedNames, RunContext
from agent.graph.executor.screen import PhoneScreen
from agent.graph.executor.state import NEW_RUN, NEW_SUBTASK, ExecutorState, joined, result_of
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.guards.reading import Readings
from agent.guards.secrets import Typed
from agent.models.base import PILOT, Usage
from agent.models.pictures import takes_pictures
from agent.ports.journal import Journal, MemoryToolCalls
from agent.ports.leases import GIVE_BACK_S, Lease, Leases, Lender, NoPhone, PhoneLeft, Place
from agent.ports.memory import Memory, recalled_for
from agent.ports.runner import RunOrder
from agent.ports.stores import FileLost, Frames, GivenFile, Secrets, SkillNames
from agent.questions import Answer, Question
from agent.run import Outcome, RunId
from agent.run_config import RunConfigSource
from agent.runner.active_run import ActiveRun, WarmUp, cancel_warm_up, config_of, cut_off, ended, fresh, look_and_ask
from agent.skills.library import Skills
from agent.tools.calling import Toolbox
from agent.wording import sentence
from devices.errors import PhoneError, PhoneGone
from devices.phone import Phone, Phones
from devices.phone import WarmUp as PhoneWarmUp

logger = logging.getLogger(__name__)


async def prepare(
    run: ActiveRun, phone: Phone, files: tuple[GivenFile, ...], frames: Frames, phones: Phones, grace: float
) -> bool:
    """Prepare the phone for the run and copy the files to it.

    A pause interrupts this and a resume restarts it, as does an unplugged phone that returns within `grace` seconds.
    Returns False if anything of that kind happened. Raises Stopped, FileLost, FileRejected if the phone refuses a file,
    and other PhoneErrors.
    """
    lost = False
    at_once = True
    while True:
        at_once = not run.control.paused and at_once
        await run.control.wait_while_paused()
        try:
            with run.control.acting():
                if lost:
                    await run.control.guard(phones.wait_for(phone.info.id, timeout=grace))
                await run.control.guard(phone.prepare())
                for file in files[len(run.files) :]:
                    run.files.append(await run.control.guard(_put(run, phone, file, frames)))
        except Stopped:
            if not run.control.paused:
                raise
            at_once = False
        except PhoneGone:
            if lost:
                raise
            lost, at_once = True, False
        else:
            return at_once


async def _put(run: ActiveRun, phone: Phone, file: GivenFile, frames: Frames) -> str:
    """Copy a file and return its path on the phone. Each run has its own folder, so repeating it changes nothing."""
    try:
        data = await frames.load(file.content)
    except KeyError:
        raise FileLost(file.name) from None
    return await phone.push(file.name, data, folder=str(run.id))


Emit = Callable[[RunEvent], None]

RESTORE_S = 10.0


@dataclass(frozen=True)
class RunnerDependencies:
    """The services and settings that every run shares."""

    phones: Phones
    leases: Leases
    configs: RunConfigSource
    """The source of configurations for new runs. A run keeps the one it took until its task ends."""
    policy: Policy
    journal: Journal
    frames: Frames
    secrets: Secrets
    actions: ActionRegistry = BUILT_IN
    toolbox: Toolbox = field(default_factory=lambda: Toolbox((), MemoryToolCalls()))
    """The tools that need no phone, and what their callers share: call record, policy and task files."""
    memory: Memory | None = None
    skills: Skills = field(default_factory=Skills)
    skill_names: SkillNames | None = None
    """The store for translations of recorded words into other languages; None if none are stored."""
    readings: Readings = field(default_factory=Readings)
    """Earlier judgements of the independent reader, the second model that judges presses."""
    give_back: float = GIVE_BACK_S
    grace: float = 15.0
    """Seconds for which an unplugged phone is waited for."""


class LocalRunner:
    """Implements `agent.ports.runner.Runner` with the phones of this machine."""

    def __init__(self, dependencies: RunnerDependencies, checkpointer: BaseCheckpointSaver[str]) -> None:
        self._dependencies = dependencies
        self._graph = executor_graph().copy({"checkpointer": checkpointer})
        self._runs: dict[RunId, ActiveRun] = {}
        self._giving_way: set[asyncio.Task[None]] = set()
        self._typed: dict[str, Typed] = {}
        """By phone: what no later task may show."""

    def start(self, order: RunOrder) -> AsyncGenerator[RunEvent, None]:
        """Start or continue a sub-task, and yield its events. A fault of the phone or program ends it with a sentence
        for people. Implements `Runner.start`.
        """
        return stream_events(partial(self._start, order))

    async def warm_up(self, order: RunOrder) -> None:
        """Prepare a sub-task that may follow: look at a free phone and ask the model for the first action. Implements
        `Runner.warm_up`.
        """
        run = self._run(order.run)
        lender = self._dependencies.leases
        # Files of a task must be on the phone before it is looked at.
        if not isinstance(lender, Lender) or run.phone is not None or run.warm_up is not None or order.files:
            return
        lease = await lender.borrow(run.id, order.phone, partial(self._give_way, run))
        if lease is None:
            return
        try:
            phone = self._dependencies.phones.get(lease.phone)
        except PhoneError as error:
            logger.info("run %s was not begun ahead: %s", run.id, error)
            await lender.release(run.id)
            return
        self._meet(phone, run)
        work = asyncio.create_task(self._warm_up(order, run, phone, lease, own=False), name=f"warm-up of {run.id}")
        run.warm_up = WarmUp(lease, lender, phone, work)

    async def cool_down(self, run: RunId) -> Usage:
        """Drop what `warm_up` prepared, and return the tokens that it cost. Implements `Runner.cool_down`."""
        active = self._runs.get(run)
        if active is None:
            return Usage()
        await self._cool_down(active)
        used, active.memory.spent_ahead = active.memory.spent_ahead, Usage()
        return used

    async def answer(self, run: RunId, answer: Answer) -> None:
        """Deliver the answer to the run's open question. Implements `Runner.answer`."""
        self._run(run).answers.give(answer)

    async def signal(self, run: RunId, signal: Signal) -> None:
        """Pause, resume, steer or cancel the run. Raises TimeoutError if a pause does not take effect in time.
        Implements `Runner.signal`.
        """
        control = self._run(run).control
        control.apply(signal)
        await control.wait_until_stopped()

    async def rest(self, run: RunId) -> None:
        """Give the phone back for now; the run keeps everything else. Implements `Runner.rest`."""
        active = self._runs.get(run)
        if active is not None:
            async with active.lock:
                await self._give_back(active)

    async def release(self, run: RunId) -> None:
        """Give the phone back and forget the run, because its task is over. Implements `Runner.release`."""
        active = self._runs.pop(run, None)
        if active is not None:
            await self._cool_down(active)
            await self._forget_look(active)
            await self._give_back(active)
            if active.config is not None:
                self._dependencies.configs.give_back(active.config)

    async def shutdown(self) -> None:
        """Stop every run at its next safe point and give its phone back. Implements `Runner.shutdown`."""
        for run in self._runs.values():
            run.control.drain()
        for run in list(self._runs.values()):
            await self._cool_down(run)
            async with run.lock:
                await self._give_back(run)

    async def phone_of(self, order: RunOrder) -> str:
        """Return the id of the phone on which the run began here; "" if it did not."""
        return _phone_in((await self._graph.aget_state(config_of(order))).values)

    def _run(self, run: RunId) -> ActiveRun:
        return self._runs.setdefault(run, ActiveRun(run, mask=Mask(self._dependencies.policy.closes)))

    async def _start(self, order: RunOrder, emit: Emit) -> None:
        run = self._run(order.run)
        end: RunEnded | None = None
        async with run.lock:
            try:
                end = await self._work(order, run, emit)
            except Stopped:
                if run.control.cancelled:
                    end = await self._cut(order, Outcome.CANCELLED, "")
            except (PhoneError, NoPhone, FileLost) as error:
                left = isinstance(error, NoPhone) and await self.phone_of(order)
                fault = fault_of(PhoneLeft(*error.args) if left else error)
                end = await self._cut(order, fault.outcome, fault.sentence)
        if end is not None:
            emit(end)

    async def _work(self, order: RunOrder, run: ActiveRun, emit: Emit) -> RunEnded | None:
        """Return the end of the sub-task; None if it is to be continued after a shutdown."""
        config = config_of(order)
        state = await self._graph.aget_state(config)
        payload: ExecutorState | Command[Any] | None = fresh(order, first=not state.values.get("order"))
        if _is_about(order, state.values):
            if not state.tasks:
                return ended(order, cast("ExecutorState", state.values))
            payload = None
        pending = state.interrupts if payload is None else ()
        # Unfinished work stays on its phone, even if any free phone was requested.
        run.wish = _phone_in(state.values) or order.phone
        run.person = order.person
        while True:
            if pending:
                question = Question.model_validate(pending[0].value)
                emit(Asked(question=question))
                answer = await self._answer(run, question)
                payload = Command(resume={pending[0].id: answer.model_dump(mode="json")})
            begins = isinstance(payload, dict) and not state.values
            await self._make_ready(order, run, emit, first=bool(pending), begins=begins)
            await self._remember(order, run)
            run.memory.names = await self._names(order, run)
            for verdict in order.verdicts:
                self._dependencies.readings.know(verdict.key, verdict.consequence, verdict.object)
            if isinstance(payload, dict):
                begun: ExecutorState = {"order": {"phone": run.wish, "files": list(run.files)}}
                payload = joined(payload, begun)
            if pending:
                emit(Resumed(question=question.id))
            assert run.phone is not None
            assert run.lease is not None
            context = self._context(run, run.phone, run.lease, emit)
            if not context.screen.by_list and not takes_pictures(context.config.models.vision):
                context.screen.switch_to_list()
            with run.control.acting(), suppress(GraphDrained):
                await self._graph.ainvoke(
                    payload, config, context=context, durability="sync", control=run.control.graph
                )
            state = await self._graph.aget_state(config)
            pending = state.interrupts
            if not state.tasks:
                return ended(order, cast("ExecutorState", state.values))
            if run.control.draining and not pending:
                logger.info("run %s stops at a safe point", run.id)
                return None
            payload = None

    async def _names(self, order: RunOrder, run: ActiveRun) -> LearnedNames | None:
        """Return the known names of the skill's words on the run's phone, with a way to store more."""
        store = self._dependencies.skill_names
        assert run.phone is not None
        locale = run.phone.info.locale
        if store is None or run.memory.recorded is None or not locale:
            return None
        known = await store.names(order.skill, locale)
        return LearnedNames(known, partial(store.keep_names, order.skill, locale))

    async def _remember(self, order: RunOrder, run: ActiveRun) -> None:
        """Load the remembered facts for the run, and the facts and documents whose words may not leave it."""
        recall = partial(recalled_for, self._dependencies.memory, order.person, order.task, phone=run.wish)
        run.memory.facts = await recall((order.goal,))
        run.memory.facts_of_others = await recall(order.goals)
        read = await self._dependencies.toolbox.calls.documents(order.run.task)
        run.memory.documents = (*order.documents, *read)
        run.memory.instructions = order.instructions
        skills = self._dependencies.skills
        run.memory.skill = skills.followed(order.skill, order.arguments).strip()
        run.memory.recorded = None if order.plan else skills.recording(order.skill, order.arguments)
        run.memory.arguments = order.arguments

    async def _make_ready(self, order: RunOrder, run: ActiveRun, emit: Emit, *, first: bool, begins: bool) -> None:
        """Get a lease and a prepared phone, reporting the place in the queue while waiting.

        If the run `begins`, the phone is looked at and the model asked meanwhile, unless that was done before.
        """
        while run.control.paused:
            await run.control.wait_while_paused()
        async with run.cooling:
            if run.phone is not None:
                return
            warm = run.warm_up
            if warm is not None and warm.lender.keep(run.id):
                run.warm_up, run.lease = None, warm.lease
            elif warm is not None:
                await self._end_warm_up(run)
                warm = None
        ahead = None if warm is None else warm.work
        try:
            phone, lease = await self._take_phone(order, run, emit, first=first)
            if warm is None:
                self._meet(phone, run)
            if warm is None and begins and not order.files and not run.control.has_notes:
                looking = self._warm_up(order, run, phone, lease, own=True)
                ahead = asyncio.create_task(looking, name=f"first look of {run.id}")
            have = self._dependencies
            at_once = await prepare(run, phone, order.files, have.frames, have.phones, have.grace)
            if ahead is not None:
                await run.control.guard(asyncio.wait({ahead}), pausing=False)
        finally:
            if ahead is not None:
                await cancel_warm_up(ahead)
        if not at_once:
            await self._forget_look(run)

    async def _take_phone(self, order: RunOrder, run: ActiveRun, emit: Emit, *, first: bool) -> tuple[Phone, Lease]:
        queue = self._dependencies.leases.acquire(run.id, run.wish, first=first)
        try:
            while run.lease is None:
                item = await run.control.guard(_next(queue), pausing=False)
                if isinstance(item, Lease):
                    run.lease = item
                else:
                    emit(Waiting(place=item.number, phone=item.phone))
        finally:
            if isinstance(queue, AsyncGenerator):
                await queue.aclose()
        run.wish = run.lease.phone
        run.phone = phone = self._dependencies.phones.get(run.lease.phone)
        emit(Started(run=run.id, phone=phone.info.id, phone_name=phone.info.name))
        if len(run.files) < len(order.files):
            emit(Told(text=sentence("told.files", names=", ".join(file.name for file in order.files))))
        return phone, run.lease

    def _meet(self, phone: Phone, run: ActiveRun) -> None:
        """Give the run a phone: what was typed there before, but nothing of how it looked."""
        run.mask.on(self._typed.setdefault(phone.info.id, Typed()))
        run.memory.screen.forget()

    async def _warm_up(self, order: RunOrder, run: ActiveRun, phone: Phone, lease: Lease, *, own: bool) -> None:
        """Look at the phone and ask the model; any error occurs again in `start`, which reports it."""
        try:
            if isinstance(phone, PhoneWarmUp):
                await phone.warm_up()
            run.wish, run.person = lease.phone, order.person
            await self._remember(order, run)
            if run.memory.recorded is None:
                context = self._context(run, phone, lease, lambda _event: None)
                on: ExecutorState = {"order": {"phone": run.wish, "files": []}}
                await look_and_ask(joined(NEW_RUN, NEW_SUBTASK, fresh(order, first=True), on), context, own=own)
        except (PhoneError, Stopped) as error:
            logger.info("run %s was not begun ahead: %s", run.id, error)
        except Exception:
            logger.exception("Run %s could not be prepared in advance", run.id)

    def _give_way(self, run: ActiveRun) -> None:
        """Give way because another run needs the phone that this run has borrowed."""
        self._giving_way.add(giving := asyncio.create_task(self._cool_down(run), name=f"{run.id} gives way"))
        giving.add_done_callback(self._giving_way.discard)

    async def _cool_down(self, run: ActiveRun) -> None:
        """Drop what was begun in advance, and give the phone back in its former state."""
        async with run.cooling:
            await self._end_warm_up(run)

    async def _end_warm_up(self, run: ActiveRun) -> None:
        warm, run.warm_up = run.warm_up, None
        if warm is not None:
            # Set before any wait, so that a run that is cut off meanwhile gives back what it has.
            run.lease, run.phone = warm.lease, warm.phone
            await cancel_warm_up(warm.work)
            await self._forget_look(run)
            await self._give_back(run)

    async def _forget_look(self, run: ActiveRun) -> None:
        """Discard what was seen and asked in advance."""
        run.memory.screen.forget()
        first, run.memory.first_answer = run.memory.first_answer, None
        if first is not None:
            run.memory.spent_ahead += await first.drop()

    async def _answer(self, run: ActiveRun, question: Question) -> Answer:
        """Wait for a person; after a while, give the phone back so that others can use it."""
        answer = asyncio.ensure_future(run.answers.answer_to(question.id))
        try:
            patience = self._dependencies.give_back if run.lease is not None else None
            await run.control.guard(asyncio.wait({answer}, timeout=patience), pausing=False)
            if not answer.done():
                await self._give_back(run)
                await run.control.guard(asyncio.wait({answer}), pausing=False)
            return answer.result()
        finally:
            answer.cancel()

    async def _give_back(self, run: ActiveRun) -> None:
        phone, run.phone = run.phone, None
        if phone is not None:
            try:
                async with asyncio.timeout(RESTORE_S):
                    await phone.restore()
            except (PhoneError, TimeoutError) as error:
                logger.warning("Run %s: the phone's settings could not be restored: %s", run.id, error)
        if run.lease is not None:
            run.lease = None
            await self._dependencies.leases.release(run.id)

    def _context(self, run: ActiveRun, phone: Phone, lease: Lease, emit: Emit) -> RunContext:
        have = self._dependencies
        if run.config is None:
            run.config = have.configs.take()
        screen = PhoneScreen(
            phone,
            have.phones,
            have.frames,
            run.control,
            run.mask,
            emit,
            run.memory.screen,
            model=run.config.acting,
            needs_list=run.memory.recorded is not None or run.config.models.vision.name == PILOT,
            grace=have.grace,
        )
        actions = have.actions.plus(*have.toolbox.offered_now())
        return RunContext(
            run=run.id,
            person=run.person,
            phone=phone,
            screen=screen,
            fence=lease.fence,
            config=run.config.offering(actions.models),
            actions=actions,
            skills=have.skills,
            toolbox=have.toolbox,
            policy=have.policy,
            readings=have.readings,
            mask=run.mask,
            journal=have.journal,
            frames=have.frames,
            secrets=have.secrets,
            control=run.control,
            emit=emit,
            memory=run.memory,
        )

    async def _cut(self, order: RunOrder, outcome: Outcome, summary: str) -> RunEnded:
        """Return the end of a sub-task that was cut off outside its graph, with what it had done and spent."""
        values = (await self._graph.aget_state(config_of(order))).values
        if not _is_about(order, values) or "past" not in values:
            return cut_off(order, outcome, summary)
        return ended(order, cast("ExecutorState", values), result_of(outcome, summary))


def _phone_in(values: Mapping[str, Any]) -> str:
    """Return the run's phone from its stored state; "" if it had none yet."""
    return str(values.get("order", {}).get("phone", ""))


def _is_about(order: RunOrder, values: Mapping[str, Any]) -> bool:
    """Whether the stored state is about this sub-task rather than an earlier one."""
    return bool(values.get("order", {}).get("subtask") == order.subtask)


async def _next(queue: AsyncIterator[Place | Lease]) -> Place | Lease:
    return await anext(queue)
