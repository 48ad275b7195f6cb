"""The stages of one action: it is resolved, gated, journalled and run, and what came of it is recorded in its step."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from agent.actions import Action, AskUser, Drag, EnterSecret, Scroll, Swipe, TakeOver, action_data
from agent.effect_facts import effects_data, effects_of
from agent.graph.executor import questions
from agent.graph.executor.acting import BEGUN, TOOL_BEGUN, begin, run_tool, send_input
from agent.graph.executor.action_spec import AnySpec, InputAction, PersonAction, PhoneContext, PhoneTool
from agent.graph.executor.anchors import anchor_of
from agent.graph.executor.context import RunContext
from agent.graph.executor.covered_words import ReadWords, require_covered
from agent.graph.executor.follower import RECORDED
from agent.graph.executor.gate import (
    aim_again,
    field_aim,
    is_its_input,
    is_unjudged,
    question_before_input,
    question_before_tool,
    spot_of,
)
from agent.graph.executor.secrets import asked_for_field, asked_instead
from agent.graph.executor.state import ExecutorState, NotDoneData, did_as, did_of, spent, usage_data
from agent.graph.executor.still_there import StillThere, still_there
from agent.graph.executor.targets import ResolvedTarget, resolve_target, spoken_as
from agent.guards.masking import without_words_of
from agent.guards.reading import PressReading, is_press
from agent.models.base import Usage
from agent.observing import ScreenView
from agent.ports.journal import ActionKey
from agent.ports.tool_calls import CallKey
from agent.recorded_skills.recording import as_scroll, recorded, recorded_words
from agent.scene import StepFate
from agent.tools.calling import Worker
from agent.tools.spec import ActionError, Done, Tool, ToolContext
from agent.wording import kept
from devices.inputs import Input
from devices.phone import Element
from devices.wording import Words

FOUND_KEPT: Final = 200
"""Addresses that searches of a run returned, the newest."""
READ_LETTERS: Final = 12_000
"""Of all texts of others that the model is shown at once: about 3,000 tokens at every step."""
EXECUTOR: Final = "executor"
"""The name by which calls of tools in a run are recorded."""
FINISH_ALONE = "Finish alone, after you have seen on the screen what your last action did."
UNJUDGED = (
    "This app does not say what its controls are, so no rule has judged what you pressed. Press nothing there that "
    "sends, pays, deletes, installs or agrees to something without asking the person first."
)
NOWHERE: Final = ResolvedTarget(None, None)


class OpenStep:
    """The step as it goes on: what is read of the state, what is added to it, and the update that the state gets."""

    def __init__(self, state: ExecutorState, context: RunContext) -> None:
        self.state = state
        self.context = context
        self.did = list(did_of(state["did"]))
        self.effect = list(effects_of(state["effect"]))
        self.told = list(state["told"])
        self.notes = list(state["notes"])
        self.index = state["index"]
        self.usage = spent(state)
        self.fate: StepFate | None = None
        self.not_done: NotDoneData | None = None
        self.readings = list(state.get("readings", []))
        self.read = list(state.get("read", []))
        self.found = list(state.get("found", []))
        self.touched = list(state.get("touched", []))
        self.changed: dict[str, Any] = {}
        """What else is another than it was."""

    @property
    def data(self) -> dict[str, Any]:
        """The action that is worked on, as it was decided."""
        return self.state["decision"]["actions"][self.index]

    @property
    def recorded(self) -> dict[str, Any]:
        """The action that is worked on as the journal has it, with what the independent reader said of it."""
        own = [each for each in self.readings if each["index"] == self.index]
        return {**self.data, "readings": own} if own else self.data

    @property
    def is_last(self) -> bool:
        """Whether no other action follows it."""
        return self.index + 1 == len(self.state["decision"]["actions"])

    @property
    def key(self) -> ActionKey:
        """The place of the action that is worked on in the journal."""
        return ActionKey(self.context.run, self.state["subtask"], self.state["step"], self.index)

    def record(self, done: Done) -> None:
        """Add what came of an action, without secrets."""
        cover = self.context.mask.text
        self.effect += done.effects
        self.told += map(cover, done.told)
        self.notes += map(cover, done.notes)
        self.usage += done.usage
        if done.gathered is not None:
            self.changed["gathered"] = cover(done.gathered)
        if done.read:
            self.read = newest((*self.read, *map(cover, done.read)))
            self.changed["read"] = self.read
        if done.sources:
            pages = [*self.changed.get("sources", self.state.get("sources", [])), *map(asdict, done.sources)]
            self.changed["sources"] = [*{page["url"]: page for page in pages}.values()]
        if done.found:
            self.found = [*dict.fromkeys([*self.found, *done.found])][-FOUND_KEPT:]
            self.changed["found"] = self.found

    def end(self, fate: StepFate, what: Words) -> None:
        """Add what became of the action that this step ends with."""
        self.fate = fate
        self.did.append(did_as(fate, what))

    def fail(self, error: ActionError) -> None:
        """Add why an action was not done."""
        self.told.append(str(error))
        self.not_done = {
            "reason": kept(error.reason),
            "uncertain": error.uncertain,
            "unknown_app": error.unknown_app,
        }

    def keep(self, it: Resolved, *, target: Element | None = None, touches: bool = False, seconds: float = 0.0) -> None:
        """Add what a skill can be made of: the action, what it touched and on what screen, without secrets."""
        data = self.context.mask.told(self.data if it.action.kind == self.data["kind"] else action_data(it.action))
        seen = None if it.sight is None else it.sight.told.observation
        if target is not None and it.sight is not None and it.sight.screen.covered:
            target = without_words_of(target)
        if seen is not None and it.action.kind == "note":
            made = recorded_words(data, str(data.get("text", "")), seen)
        else:
            if isinstance(it.action, Swipe) and seen is not None and it.where.point and it.where.end:
                direction = as_scroll(it.where.point, it.where.end, seen)
                data = data if direction is None else {"kind": "scroll", "direction": direction}
                touches = direction is None
            looks_up = isinstance(it.spec, Tool) and it.spec.repeatable
            made = recorded(data, seen, target, touches=touches, seconds=seconds, looks_up=looks_up)
        made = made.model_copy(update={"locale": self.context.phone.info.locale})
        self.touched.append(made.model_dump(mode="json"))
        self.changed["touched"] = self.touched

    def record_reading(self, reading: PressReading, usage: Usage) -> None:
        """Add what the independent reader said of a press of this step."""
        self.usage += usage
        self.readings.append({"index": self.index, **reading.data})
        self.changed["readings"] = self.readings

    def update(self, **more: object) -> dict[str, object]:
        """The update of the graph's state, with `more` beside it."""
        return {
            "did": [kept(each) for each in self.did],
            "effect": effects_data(self.effect),
            "told": self.told,
            "fate": None if self.fate is None else self.fate.value,
            "not_done": self.not_done,
            "notes": self.notes,
            "index": self.index,
            "usage": usage_data(self.usage),
            **self.changed,
            **more,
        }


@dataclass(frozen=True)
class Resolved:
    """An action with all that it is about: its spec and words, the screen as it is now (None when this process has not
    seen it), and of an input where it goes and what is sent.
    """

    action: Action
    spec: AnySpec
    what: Words
    sight: ScreenView | None
    where: ResolvedTarget = NOWHERE
    physical: Input | None = None
    looked: float | None = None
    """When the look was begun that has shown what a person had allowed, in seconds of the loop's clock: it is in the
    journal then, and nothing else may come before the input."""


def resolve(step: OpenStep, action: Action, sight: ScreenView, chosen_on: ScreenView) -> Resolved:
    """Find what the action is about on the screen as it is now. Raises ActionError when it is gone."""
    spec = step.context.actions.spec_of(action)
    if not isinstance(spec, InputAction):
        return Resolved(action, spec, step.context.actions.describe(action, sight), sight)
    if sight is chosen_on:
        return resolve_input(spec, action, resolve_target(action, sight), sight)
    where = aim_again(action, step.context.actions.describe(action, chosen_on), chosen_on, sight)
    return resolve_input(spec, action, where, sight)


def resolve_input(spec: InputAction[Any], action: Action, where: ResolvedTarget, sight: ScreenView) -> Resolved:
    """An input with where it goes on this screen. Raises ActionError when it has no place to go."""
    what, physical = spec.describe(action, sight.told), spec.to_input(action, where, sight)
    if physical is None:
        raise ActionError(f"Not done: {what} has no place to go on this screen. Name an element or a point.")
    return Resolved(action, spec, what, sight, where, physical)


async def with_elements(step: OpenStep, it: Resolved) -> Resolved:
    """A press of a screen that has told no elements, with those that come when they are waited for. A list that is late
    says nothing of what is pressed: no rule would hold it. Raises ActionError, Stopped and PhoneUnavailable.
    """
    if not isinstance(it.spec, InputAction) or it.sight is None or it.physical is None:
        return it
    seen, (same, there) = it.sight.observation, spoken_as(it.physical, it.sight)
    if seen.elements is not None or not is_press(same, spot_of(it.sight, there, same)):
        return it
    now = await step.context.screen.told_late(seen)
    if now is seen:
        return it
    sight = replace(it.sight, observation=now)
    where = resolve_target(it.action, sight)
    return resolve_input(it.spec, it.action, where, sight)


async def gate(step: OpenStep, it: Resolved) -> dict[str, Any] | None:
    """What a person is asked first, None when it may be done. Raises ActionError when it is refused."""
    state, context, spec = step.state, step.context, it.spec
    try:
        if isinstance(spec, PersonAction):
            return _question_to_person(step, it)
        if isinstance(it.action, ReadWords):
            require_covered(it.action, it.sight)
        if isinstance(spec, Tool | PhoneTool):
            return question_before_tool(state, context, spec, spec.resolve(it.action))
        assert it.sight is not None
        assert it.physical is not None
        question = await question_before_input(
            state, context, it.sight, spec, it.action, it.where, it.physical, step.record_reading
        )
    except ActionError:
        step.end(StepFate.REFUSED, it.what)
        raise
    if question is None and is_unjudged(context, it.sight, it.action, it.where):
        told, once = context.live.told, f"unjudged: {it.sight.observation.package}"
        step.told += [UNJUDGED] if once not in told else []
        told.add(once)
    return question


def _question_to_person(step: OpenStep, it: Resolved) -> dict[str, Any] | None:
    """What a person is asked by an action that is for them; None for one that asks nothing."""
    state, context, sight, action = step.state, step.context, it.sight, it.action
    assert sight is not None
    if isinstance(action, EnterSecret):
        return asked_for_field(state, context, sight, action)
    if not isinstance(action, AskUser | TakeOver):
        return None
    secret = asked_instead(state, context, sight, action) if isinstance(action, AskUser) else None
    if secret is not None:
        return secret
    step.did.append(it.what)
    if isinstance(action, TakeOver):
        step.keep(it)
    anchor = anchor_of(field_aim(action, sight), sight, facts=False)
    return {"question": questions.question(state, context, action), "anchor": anchor}


async def journal(step: OpenStep, it: Resolved) -> None:
    """Write down what is about to be done. Raises ActionError when it was begun before, LeaseLost."""
    match it.spec:
        case InputAction() if it.looked is not None:
            step.did.append(it.what)
        case InputAction():
            step.did.append(it.what)
            await begin(step.context, step.key, step.recorded, BEGUN)
        case PhoneTool(journalled=True):
            step.did.append(it.what)
            await begin(step.context, step.key, step.data, TOOL_BEGUN.format(what=it.what))
        case Tool():
            step.did.append(it.what)


async def run(step: OpenStep, it: Resolved) -> Done:
    """Do it, once. Raises ActionError when nothing, or nothing certain, came of it."""
    match it.spec:
        case PersonAction():
            return Done(told=(FINISH_ALONE,))
        case Tool():
            done = await _call_tool(step, it.spec, it.spec.resolve(it.action))
            step.keep(it)
            return done
        case PhoneTool(run=work_of):
            work = work_of(it.spec.resolve(it.action), _phone_context(step, it.sight))
        case InputAction():
            return await _run_input(step, it)
    if it.spec.journalled:
        done = await run_tool(step.context, step.key, it.spec.cut_off, work)
    else:
        done = await work
        step.did.append(it.what)
    step.keep(it)
    return done


async def _call_tool(step: OpenStep, tool: Tool[Any], action: Action) -> Done:
    """Call a tool that needs no phone: in the same record, and so with the same cache, as the members of the task."""
    have, state = step.context, step.state
    task, box = have.run.task, have.toolbox
    caller = box.caller(Worker(task, EXECUTOR, state["subtask"]), ())
    context = await box.with_what_is_known(_tool_context(step))
    key = CallKey(task, EXECUTOR, state["subtask"], state["step"], step.index)
    done, _cached = await caller.perform(tool, action, key, context)
    have.live.documents += done.documents
    return done


async def _run_input(step: OpenStep, it: Resolved) -> Done:
    assert it.sight is not None
    assert it.physical is not None
    if it.where.point is not None:
        spot = it.where.point.mapped(it.sight.observation.size, it.sight.screen.space)
        step.changed["mark"] = [spot.x, spot.y]
    own = step.state["reply"].get("finish_reason") == RECORDED
    # A recording answers at once: where nothing has taken time since the look, it is itself the last word.
    again = it.looked is None and not (own and step.index == 0 and step.context.screen.is_new)
    judged = _judged(step, it, it.sight, it.physical) if again else None
    clock = asyncio.get_running_loop().time
    began = clock()
    # No call of a model goes on beside a look after a step of a recording: it is shown at rest.
    last = step.is_last and not own
    sent = await send_input(step.context, step.key, it.physical, it.sight, last=last, looked=it.looked, judged=judged)
    moves = isinstance(it.action, Swipe | Drag | Scroll)  # between points, which are others on another screen
    step.keep(
        it,
        target=None if moves else it.where.element,
        touches=it.where.point is not None and not isinstance(it.action, Scroll),
        seconds=clock() - began,
    )
    return Done(sent)


def newest(texts: Iterable[str]) -> list[str]:
    """The newest of these texts that the model is shown at once; the last one is always among them."""
    shown: list[str] = []
    for text in reversed(tuple(texts)):
        if shown and sum(map(len, shown)) + len(text) > READ_LETTERS:
            break
        shown.insert(0, text)
    return shown


def _judged(step: OpenStep, it: Resolved, sight: ScreenView, physical: Input) -> StillThere | None:
    """What a press that nobody was asked about has to meet."""
    action, where, context = it.action, it.where, step.context
    if not is_its_input(action, where, physical, sight):
        action, where = spoken_as(physical, sight)
    read = any(each["index"] == step.index for each in step.readings)
    spot = spot_of(sight, where, action)
    cover = context.mask.observation
    return still_there(action, where, sight.observation, spot, context.policy, cover, read=read)


def _tool_context(step: OpenStep) -> ToolContext:
    have = step.context
    return ToolContext(
        task_id=have.run.task,
        person=have.person,
        member=EXECUTOR,
        task=step.state["task"],
        said=(step.state["task"], *step.state.get("said", [])),
        found=tuple(step.found),
        notes=tuple(step.notes),
        memory=(*have.live.facts, *have.live.told_others),
        documents=have.live.documents,
        seen=step.state.get("seen", {}),
        phone_id=have.phone.info.id,
        models=have.models,
        control=have.control,
        mask=have.mask,
        frames=have.frames,
        emit=have.emit,
    )


def _phone_context(step: OpenStep, sight: ScreenView | None) -> PhoneContext:
    have, base = step.context, _tool_context(step)
    shared: dict[str, Any] = {field.name: getattr(base, field.name) for field in fields(base)}
    told = None if sight is None else sight.told
    return PhoneContext(**shared, run=have.run, phone=have.phone, screen=have.screen, sight=told)
