"""The stages of one action: its target is resolved, it is gated, journalled and run, and its result is recorded in the
step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, Final

from agent.actions import Action, AskUser, Drag, EnterSecret, Scroll, Swipe, TakeOver, action_data
from agent.effect_facts import Effect, effects_data
from agent.graph.executor import questions
from agent.graph.executor.acting import BEGUN, TOOL_BEGUN, begin, run_tool, send_input
from agent.graph.executor.action_spec import (
    InputAction,
    PersonAction,
    PhoneContext,
    PhoneTool,
    Resolved,
    ResolvedInput,
)
from agent.graph.executor.anchors import anchor_of, target_check
from agent.graph.executor.context import RunContext
from agent.graph.executor.field_text import NOT_COPIED, CutText, EditText, PasteText, SameText, read_field
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
from agent.graph.executor.matters import MatterStatus, with_matter
from agent.graph.executor.phone_files import new_names
from agent.graph.executor.phone_tools import ReadWords, require_covered
from agent.graph.executor.reader import has_reader
from agent.graph.executor.secrets import asked_for_field, asked_instead
from agent.graph.executor.state import (
    ConversationState,
    ExecutorState,
    QuestionState,
    SafetyState,
    StepState,
    did_as,
    joined,
)
from agent.graph.executor.targets import ResolvedTarget, resolve_target, spoken_as
from agent.graph.subjects import spent
from agent.guards.masking import without_words_of
from agent.guards.reading import PressReading, is_press
from agent.guards.seen_words import with_words
from agent.models.base import Usage
from agent.observing import ScreenView
from agent.ports.journal import ActionKey, CallKey
from agent.recorded_skills.recording import as_scroll, recorded, recorded_words
from agent.scene import StepStatus
from agent.tools.calling import Worker
from agent.tools.spec import ActionError, ActionResult, Tool, ToolContext
from agent.wording import kept
from devices.phone import Element, Judged
from devices.wording import Words

FOUND_KEPT: Final = 200
"""How many addresses returned by searches a run remembers: the newest ones."""
READ_LETTERS: Final = 12_000
"""The maximum characters of texts by others that the model is shown at once, about 3,000 tokens per step."""
EXECUTOR: Final = "executor"
"""The member name under which a run's tool calls are recorded."""
FINISH_ALONE = "Finish alone, after you have seen on the screen what your last action did."
UNJUDGED = (
    "This app does not say what its controls are, so no rule has judged what you pressed. Press nothing there that "
    "sends, pays, deletes, installs or agrees to something without asking the person first."
)


class CurrentStep:
    """The current step while its actions are done: holds copies of the subjects of the state that they change, and
    makes the resulting update.
    """

    def __init__(self, state: ExecutorState, context: RunContext) -> None:
        self.state = state
        """The state as it was passed to the node."""
        self.order = state["order"]
        self.context = context
        self.step_state: StepState = {**state["step"], "status": None, "failure": None}
        self.question: QuestionState = {**state["question"]}
        self.safety: SafetyState = {**state["safety"]}
        self.conversation: ConversationState = {**state["conversation"]}
        self.usage = spent(state["progress"])

    @property
    def index(self) -> int:
        """The index of the current action."""
        return self.step_state["action_index"]

    @index.setter
    def index(self, index: int) -> None:
        self.step_state["action_index"] = index

    @property
    def current(self) -> ExecutorState:
        """The state including the changes by this step's earlier actions; the next action is judged by it."""
        return {**self.state, "safety": self.safety, "conversation": self.conversation}

    @property
    def data(self) -> dict[str, Any]:
        """The current action as the model decided it, as plain data."""
        return self.step_state["decision"]["actions"][self.index]

    @property
    def journal_data(self) -> dict[str, Any]:
        """The current action as it is stored in the journal: its data and, if there are any, the reader's judgements of
        it.
        """
        own = [each for each in self.step_state["readings"] if each["index"] == self.index]
        return {**self.data, "readings": own} if own else self.data

    @property
    def is_last(self) -> bool:
        """Whether no other action follows the current one."""
        return self.index + 1 == len(self.step_state["decision"]["actions"])

    @property
    def key(self) -> ActionKey:
        """The key of the current action in the journal."""
        return ActionKey(self.context.run, self.order["subtask"], self.step_state["number"], self.index)

    def add_performed(self, what: str) -> None:
        """Add a sentence about what is done, or about to be done."""
        self.step_state["performed"] = [*self.step_state["performed"], kept(what)]

    def add_notices(self, *notices: str) -> None:
        """Add notices for the model's next request."""
        self.conversation["model_notices"] = [*self.conversation["model_notices"], *notices]

    def add_effects(self, *effects: Effect) -> None:
        """Add effects to those of the step."""
        self.step_state["effects"] = [*self.step_state["effects"], *effects_data(effects)]

    def record_intent(self, it: Resolved) -> None:
        """Record, before the action is done, what must be known even if its result remains unknown: the new paths of
        moved files, and a text that is cut.
        """
        self.safety["moved"] = [*self.safety["moved"], *new_names(it.action)]
        if isinstance(it, ResolvedInput) and isinstance(it.action, CutText):
            seen = it.sight.observation
            self.record_result(
                ActionResult(copied=read_field(seen, covered=it.sight.screen.covered)[1], read_in=seen.package)
            )

    async def recall_cut(self) -> None:
        """Restore the text that an earlier process may have cut in this step before it was interrupted, from the
        journal.
        """
        for index in range(self.index, len(self.step_state["decision"]["actions"])):
            begun = await self.context.journal.action_of(replace(self.key, index=index))
            if begun is not None and (cut := begun.get("cut")) is not None:
                self.record_result(ActionResult(copied=cut["text"], read_in=cut["app"]))

    def record_result(self, done: ActionResult) -> None:
        """Add the result of an action, with secrets covered."""
        cover, conversation = self.context.mask.text, self.conversation
        self.add_effects(*done.effects)
        self.add_notices(*map(cover, done.notices))
        self.usage += done.usage
        conversation["notes"] = [*conversation["notes"], *map(cover, done.notes)]
        if done.gathered is not None:
            conversation["notes_summary"] = cover(done.gathered)
        if done.copied is not None:
            self.safety["copied"] = {"app": done.read_in, "text": cover(done.copied)}
        if done.moved:
            self.safety["moved"] = [*self.safety["moved"], done.moved]
        if done.read_in:
            words = [line for each in (*done.read, done.copied or "") for line in cover(each).splitlines()]
            self.safety["seen_words"] = with_words(self.safety["seen_words"], done.read_in, "", words)
        if done.read:
            conversation["texts_read"] = newest((*conversation["texts_read"], *map(cover, done.read)))
        if done.sources:
            pages = [*conversation["sources"], *map(asdict, done.sources)]
            conversation["sources"] = [*{page["url"]: page for page in pages}.values()]
        if done.found:
            found = dict.fromkeys([*conversation["addresses_found"], *done.found])
            conversation["addresses_found"] = [*found][-FOUND_KEPT:]

    def set_status(self, status: StepStatus, what: Words) -> None:
        """Set what became of the last action of this step; `what` describes the action."""
        self.step_state["status"] = status.value
        self.add_performed(did_as(status, what))

    def fail(self, error: ActionError) -> None:
        """Record why an action was not done, for the model and for people."""
        self.add_notices(str(error))
        self.step_state["failure"] = {
            "reason": kept(error.reason),
            "uncertain": error.uncertain,
            "unknown_app": error.unknown_app,
        }

    def record_matter(self, status: MatterStatus, known: Mapping[str, Any] | None) -> None:
        """Record what became of an action that the gate stopped. `known` is its `about` and `what` (see
        agent.graph.executor.matters.with_fate).
        """
        self.safety["matters"] = with_matter(self.safety["matters"], status, known, self.order["subtask"])

    def record_action(
        self, it: Resolved, *, target: Element | None = None, touches: bool = False, seconds: float = 0.0
    ) -> None:
        """Record the action, its target and its screen, without secrets, so that a skill can be made of it.

        `touches` says whether it touches the screen, and `seconds` is how long it took, including the wait for its
        effect on the screen.
        """
        data = self.context.mask.cover_data(
            self.data if it.action.kind == self.data["kind"] else action_data(it.action)
        )
        seen = None if it.sight is None else it.sight.for_model.observation
        if target is not None and it.sight is not None and it.sight.screen.covered:
            target = without_words_of(target)
        if seen is not None and it.action.kind == "note":
            made = recorded_words(data, str(data.get("text", "")), seen)
        else:
            if isinstance(it, ResolvedInput) and isinstance(it.action, Swipe) and it.where.point and it.where.end:
                direction = as_scroll(it.where.point, it.where.end, it.sight.for_model.observation)
                data = data if direction is None else {"kind": "scroll", "direction": direction}
                touches = direction is None
            looks_up = isinstance(it.spec, Tool) and it.spec.repeatable
            made = recorded(data, seen, target, touches=touches, seconds=seconds, looks_up=looks_up)
        made = made.model_copy(update={"locale": self.context.phone.info.locale})
        self.step_state["recorded_actions"] = [*self.step_state["recorded_actions"], made.model_dump(mode="json")]

    def record_reading(self, reading: PressReading, usage: Usage) -> None:
        """Add the independent reader's judgement of a press of this step, and the tokens it used."""
        self.usage += usage
        self.step_state["readings"] = [*self.step_state["readings"], {"index": self.index, **reading.data}]

    def update(self, *more: ExecutorState) -> ExecutorState:
        """Return the update of the graph's state, combined with `more`."""
        own: ExecutorState = {
            "step": self.step_state,
            "question": self.question,
            "safety": self.safety,
            "conversation": self.conversation,
            "progress": {"usage": self.usage.data()},
        }
        return joined(own, *more)


def resolve(step: CurrentStep, action: Action, view: ScreenView, chosen_on: ScreenView) -> Resolved:
    """Return the action with its spec, description and, if it is one input, its target on the current screen (`view`).
    `chosen_on` is the screen that the model decided on. Raises ActionError if the target is gone or the input is
    impossible.
    """
    spec = step.context.actions.spec_of(action)
    if not isinstance(spec, InputAction):
        what = step.context.actions.describe(action, view)
        return Resolved(action=action, spec=spec, what=what, sight=view)
    if view is chosen_on:
        where = resolve_target(action, view)
    else:
        where = aim_again(action, step.context.actions.describe(action, chosen_on), chosen_on, view)
    return resolve_input(spec, action, where, view)


def with_copied(step: CurrentStep, action: Action) -> Action:
    """Return a paste action with the copied text filled in; other actions are returned unchanged. Raises ActionError if
    nothing was copied.
    """
    if not isinstance(action, PasteText):
        return action
    copied = step.safety["copied"]
    if copied is None:
        raise ActionError(NOT_COPIED)
    return action.model_copy(update={"text": copied["text"]})


def resolve_input(spec: InputAction[Any], action: Action, target: ResolvedTarget, view: ScreenView) -> ResolvedInput:
    """Return the action as an input for this screen. Raises ActionError if there is no place on the screen to send it
    to, or if it is impossible for another reason.
    """
    what, physical = spec.describe(action, view.for_model), spec.to_input(action, target, view)
    if physical is None:
        raise ActionError(f"Not done: {what} has no place to go on this screen. Name an element or a point.")
    return ResolvedInput(action=action, spec=spec, what=what, sight=view, where=target, physical=physical)


async def with_elements(step: CurrentStep, it: Resolved) -> Resolved:
    """Wait for the elements of a press on a screen without any, and return the press with them.

    Without elements, no rule could recognise what is pressed. Other actions are returned unchanged. Raises ActionError,
    Stopped and PhoneUnavailable.
    """
    if not isinstance(it, ResolvedInput):
        return it
    seen, (same, there) = it.sight.observation, spoken_as(it.physical, it.sight)
    if seen.elements is not None or not is_press(same, spot_of(it.sight, there, same)):
        return it
    now = await step.context.screen.wait_for_elements(seen)
    if now is seen:
        return it
    sight = replace(it.sight, observation=now)
    return resolve_input(it.spec, it.action, resolve_target(it.action, sight), sight)


async def gate(step: CurrentStep, it: Resolved) -> ExecutorState | None:
    """Return the update that asks a person before this action, or that has the approval given in advance; None if
    neither is needed. Raises ActionError if it is refused, Stopped and PhoneUnavailable.
    """
    state, context, spec = step.current, step.context, it.spec
    try:
        if isinstance(spec, PersonAction):
            return _question_to_person(step, it)
        if isinstance(it.action, ReadWords):
            require_covered(it.action, it.sight)
        if isinstance(spec, Tool | PhoneTool):
            return question_before_tool(state, context, spec, spec.resolve(it.action))
        assert isinstance(it, ResolvedInput)
        question = await question_before_input(state, context, it, step.record_reading)
    except ActionError:
        step.set_status(StepStatus.REFUSED, it.what)
        raise
    if question is None and is_unjudged(context, it):
        told, once = context.memory.sent_notices, f"unjudged: {it.sight.observation.package}"
        if once not in told:
            step.add_notices(UNJUDGED)
        told.add(once)
    return question


def _question_to_person(step: CurrentStep, it: Resolved) -> ExecutorState | None:
    """Return the update with the question of an action for a person; None if it asks nothing."""
    state, context, sight, action = step.current, step.context, it.sight, it.action
    assert sight is not None
    if isinstance(action, EnterSecret):
        return asked_for_field(state, context, sight, action)
    if not isinstance(action, AskUser | TakeOver):
        return None
    secret = asked_instead(state, context, sight, action) if isinstance(action, AskUser) else None
    if secret is not None:
        return secret
    step.add_performed(it.what)
    if isinstance(action, TakeOver):
        step.record_action(it)
    anchor = anchor_of(field_aim(action, sight), sight, facts=False)
    return questions.asking(questions.question_to_person(state, context, action), anchor)


async def journal(step: CurrentStep, it: Resolved) -> None:
    """Record in the journal that this action is about to be done, if it must not be repeated. Raises ActionError if it
    was begun before, and LeaseLost.
    """
    if isinstance(it, ResolvedInput):
        step.add_performed(it.what)
        if it.looked is None:
            # A cut text is no longer on the phone, so the journal keeps it in case this process ends.
            cut = {"cut": step.safety["copied"]} if isinstance(it.action, CutText) else {}
            await begin(step.context, step.key, step.journal_data | cut, BEGUN)
    elif isinstance(it.spec, PhoneTool) and it.spec.journalled:
        step.add_performed(it.what)
        await begin(step.context, step.key, step.data, TOOL_BEGUN.format(what=it.what))
    elif isinstance(it.spec, Tool):
        step.add_performed(it.what)


async def run(step: CurrentStep, it: Resolved) -> ActionResult:
    """Do the action once, and return its result. An action for a person is not done here; the result only tells the
    model to finish alone. Raises ActionError if the action was not done or may not have been done, and Stopped.
    """
    match it.spec:
        case PersonAction():
            return ActionResult(notices=(FINISH_ALONE,))
        case Tool():
            done = await _call_tool(step, it.spec, it.spec.resolve(it.action))
            step.record_action(it)
            return done
        case PhoneTool(run=work_of):
            work = work_of(it.spec.resolve(it.action), _phone_context(step, it.sight))
        case InputAction():
            assert isinstance(it, ResolvedInput)
            return await _run_input(step, it)
    if it.spec.journalled:
        done = await run_tool(step.context, step.key, it.spec.cut_off, work)
    else:
        done = await work
        step.add_performed(it.what)
    # The tool chose where to touch, which is unknown here, so a recording leaves the step to a model.
    step.record_action(it, touches="touches" in it.spec.traits)
    return done


async def _call_tool(step: CurrentStep, tool: Tool[Any], action: Action) -> ActionResult:
    """Call a tool that needs no phone, using the same record and cache as the task's members."""
    have, subtask = step.context, step.order["subtask"]
    task, box = have.run.task, have.toolbox
    caller = box.caller(Worker(task, EXECUTOR, subtask), ())
    context = await box.with_what_is_known(_tool_context(step))
    key = CallKey(task, EXECUTOR, subtask, step.step_state["number"], step.index)
    done, _cached = await caller.perform(tool, action, key, context)
    have.memory.documents += done.documents
    return done


async def _run_input(step: CurrentStep, it: ResolvedInput) -> ActionResult:
    if it.where.point is not None:
        spot = it.where.point.mapped(it.sight.observation.size, it.sight.screen.space)
        step.step_state["touch_point"] = [spot.x, spot.y]
    own = step.step_state["reply"].get("finish_reason") == RECORDED
    # A recording answers at once: if no time has passed since the look, no further check is needed.
    again = it.looked is None and not (own and step.index == 0 and step.context.screen.is_new)
    judged = _judged(step, it) if again else None
    clock = asyncio.get_running_loop().time
    began = clock()
    # After a step of a recording, no model call runs in parallel, so the look waits for a still screen.
    last = step.is_last and not own
    sent = await send_input(step.context, step.key, it.physical, it.sight, last=last, looked=it.looked, judged=judged)
    moves = isinstance(it.action, Swipe | Drag | Scroll)  # between points, which differ on another screen
    if not moves and it.where.element is not None:
        step.context.memory.screen_history.touch(step.step_state["number"], it.where.element, it.sight.observation)
    step.record_action(
        it,
        target=None if moves else it.where.element,
        touches=isinstance(it.action, EditText | CutText)  # whichever field has the focus
        or (it.where.point is not None and not isinstance(it.action, Scroll)),
        seconds=clock() - began,
    )
    return ActionResult(sent)


def newest(texts: Iterable[str]) -> list[str]:
    """Return the newest of these texts, as many as the model is shown at once (`READ_LETTERS`) and always at least the
    last one.
    """
    shown: list[str] = []
    for text in reversed(tuple(texts)):
        if shown and sum(map(len, shown)) + len(text) > READ_LETTERS:
            break
        shown.insert(0, text)
    return shown


def _judged(step: CurrentStep, it: ResolvedInput) -> Judged | None:
    """Return what a press without approval must still match, and what a text is derived from."""
    action, where, sight, context = it.action, it.where, it.sight, step.context
    if isinstance(action, EditText | CutText):
        field, text = read_field(sight.observation, covered=sight.screen.covered)
        return SameText(field, text, sight.observation.without_picture(), context.mask.observation)
    if not is_its_input(action, where, it.physical, sight):
        action, where = spoken_as(it.physical, sight)
    read = any(each["index"] == step.index for each in step.step_state["readings"])
    spot = spot_of(sight, where, action)
    cover = context.mask.observation
    return target_check(action, where, sight.observation, spot, context.policy, cover, read=read)


def _tool_context(step: CurrentStep) -> ToolContext:
    have, task, conversation = step.context, step.order["task"], step.conversation
    return ToolContext(
        task_id=have.run.task,
        person=have.person,
        member=EXECUTOR,
        task=task,
        said=(task, *conversation["user_messages"]),
        found=tuple(conversation["addresses_found"]),
        notes=tuple(conversation["notes"]),
        memory=(*have.memory.facts, *have.memory.facts_of_others),
        documents=have.memory.documents,
        seen=step.safety["seen_words"],
        phone_id=have.phone.info.id,
        models=have.config.models,
        control=have.control,
        mask=have.mask,
        frames=have.frames,
        emit=have.emit,
    )


def _phone_context(step: CurrentStep, view: ScreenView | None) -> PhoneContext:
    have, base = step.context, _tool_context(step)
    shared: dict[str, Any] = {field.name: getattr(base, field.name) for field in fields(base)}
    told = None if view is None else view.for_model
    return PhoneContext(
        **shared,
        run=have.run,
        key=step.key,
        phone=have.phone,
        screen=have.screen,
        policy=have.policy,
        sight=told,
        unknown_is_judged=has_reader(have) or have.config.guard == "strict",
    )
