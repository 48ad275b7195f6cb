"""execute_action: resolves, gates, journals, runs and records each decided action, in order."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.actions import Action, EnterSecret
from agent.control import Stopped
from agent.effect_facts import DeniedBefore, OtherWindow, effects_of
from agent.graph.executor.acting import BEGUN, begin, give_up
from agent.graph.executor.action_spec import AnySpec, InputAction, PhoneTool, Resolved, ResolvedInput
from agent.graph.executor.anchors import relocated
from agent.graph.executor.approvals import MAX_TRIES, Denied, counted, standing_effect
from agent.graph.executor.context import RunContext
from agent.graph.executor.matters import MatterStatus, acts, tried_again, without
from agent.graph.executor.outgoing import released_texts
from agent.graph.executor.phone_files import new_names
from agent.graph.executor.secrets import (
    KEPT,
    secret_action,
    secret_matter,
    secret_question,
    type_secret,
    what_was_typed,
)
from agent.graph.executor.stages import (
    CurrentStep,
    gate,
    journal,
    resolve,
    resolve_input,
    run,
    with_copied,
    with_elements,
)
from agent.graph.executor.state import ExecutorState, SafetyState, ending, ending_by, performed_of
from agent.graph.executor.targets import ResolvedTarget, spoken_as
from agent.guards.binding import digest
from agent.guards.secrets import place_of
from agent.observing import ScreenView, screen_of
from agent.ports.journal import LeaseLost
from agent.run import Outcome
from agent.scene import StepStatus
from agent.tools.spec import ActionError, Tool
from agent.wording import kept, sentence, words
from devices.errors import PhoneError, PhoneUnavailable
from devices.geometry import Size
from devices.wording import Words, said

Route = Command[Literal["call_user", "execute_action", "check_loop", "executor_exit"]]

INTERRUPTED = (
    "The work was interrupted while this was being done: {what}. It may or may not have happened. It was not sent "
    "again. Look at the screen first, and do not repeat what has happened."
)
OTHERWISE = (
    "A person allowed it, but the screen, or what would be sent or paid, is not the same any more. So it was not done. "
    "Look again."
)
FIELD_GONE = "A person gave it, but the field is not there any more. Nothing was typed. Look again."


async def execute_action(state: ExecutorState, runtime: Runtime[RunContext]) -> Route:
    """Do the decided actions in order. Once one fails, changes the app or needs a person's approval, the remaining ones
    are skipped.
    """
    context = runtime.context
    context.mask.restore(state["safety"]["secret_places"])
    context.mask.let_read(state["safety"]["readable_apps"])
    actions = [context.actions.action_from(data) for data in state["step"]["decision"]["actions"]]
    step = CurrentStep(state, context)
    approved = state["question"]["approved_action"]
    if approved is not None:
        step.index = approved
        return await _do_approved(step, actions[approved])
    sight = chosen_on = context.screen.view
    if sight is None or chosen_on is None:
        what = context.actions.describe(actions[step.index], None)
        step.set_status(StepStatus.INTERRUPTED, what)
        step.add_notices(INTERRUPTED.format(what=what))
        step.safety["moved"] = [*step.safety["moved"], *(name for each in actions for name in new_names(each))]
        await step.recall_cut()
        return Command(goto="check_loop", update=step.update())
    try:
        while step.index < len(actions):
            asked = await _do(step, actions[step.index], sight, chosen_on)
            if asked is not None and (standing_yes := asked["question"].get("standing_yes")) is not None:
                step.add_effects(standing_effect(standing_yes))
                step.question["approved_action"] = step.index
                return Command(goto="execute_action", update=step.update(asked))
            if asked is not None:
                return Command(goto="call_user", update=step.update(asked))
            step.index += 1
            fresh = context.screen.fresh
            if fresh is not None and step.index < len(actions):
                if fresh.package != sight.observation.package:
                    step.add_notices("The app changed, so the rest of your actions was not done.")
                    break
                covered = context.mask.covers_words(fresh)
                sight = ScreenView(fresh, replace(sight.screen, covered=covered), sight.targets)
    except Stopped:
        return Command(goto="check_loop", update=step.update())
    except ActionError as trouble:
        action = actions[step.index]
        spec = context.actions.spec_of(action)
        if isinstance(trouble, Denied):
            step.safety["denials"] = counted(step.safety["denials"], trouble.consequence)
            step.safety["matters"] = tried_again(state, trouble.about)
            step.add_effects(DeniedBefore(tries=trouble.tries))
            if trouble.tries >= MAX_TRIES:
                summary = sentence("ended.denied", what=trouble.what, number=trouble.tries)
                return Command(goto="executor_exit", update=step.update(ending(Outcome.BLOCKED, summary)))
        elif step.step_state["status"] == StepStatus.REFUSED and acts(action, spec):
            _remember(step, MatterStatus.REFUSED, action, sight)
        elif trouble.uncertain and not isinstance(spec, InputAction):
            _remember(step, MatterStatus.UNCERTAIN, action, sight)
        if not step.step_state["performed"]:
            step.set_status(StepStatus.NOT_DONE, context.actions.describe(action, sight))
        step.fail(trouble)
        rest = len(actions) - step.index - 1
        if rest > 0:
            step.add_notices(f"The other {rest} of your actions were not done.")
    except (LeaseLost, PhoneUnavailable) as error:
        return Command(goto="executor_exit", update=step.update(ending_by(error)))
    return Command(goto="check_loop", update=step.update())


async def _do(step: CurrentStep, action: Action, view: ScreenView, chosen_on: ScreenView) -> ExecutorState | None:
    """Do one action. Returns an update instead if a person must be asked, or has approved it in advance.

    `view` is the current screen, `chosen_on` the one that the model was shown.
    """
    action = with_copied(step, action)
    resolved = await with_elements(step, resolve(step, action, view, chosen_on))
    asked = await gate(step, resolved)
    if asked is None:
        await _do_allowed(step, resolved)
    return asked


async def _do_allowed(step: CurrentStep, resolved: Resolved) -> None:
    """Do what needs no approval or was approved. Raises ActionError if it failed."""
    before: SafetyState = {**step.safety}
    step.record_intent(resolved)
    await journal(step, resolved)
    try:
        done = await run(step, resolved)
    except ActionError as trouble:
        if not trouble.uncertain:
            step.safety |= before
        raise
    step.safety["moved"] = before["moved"]
    step.record_result(done)
    if acts(resolved.action, resolved.spec):
        safety = step.safety
        if step.question["approved_action"] is None:  # otherwise it is a separate matter
            safety["deeds"] = [*safety["deeds"], kept(step.context.mask.sentence(resolved.what))]
        safety["has_acted"] = True
        safety["matters"] = without(safety["matters"], MatterStatus.REFUSED)
    step.safety["readable_apps"] = step.context.mask.readable
    if isinstance(resolved, ResolvedInput) and not step.is_last and step.context.screen.fresh is None:
        raise ActionError("What your last action did could not be seen. Look before you go on.")


def _remember(step: CurrentStep, status: MatterStatus, action: Action, view: ScreenView) -> None:
    """Record what became of an action that nobody was asked about."""
    what = step.context.mask.text(said(step.context.actions.describe(action, view)))
    step.record_matter(status, {"about": digest([status, view.observation.package, what]), "what": what})


async def _fate_after(step: CurrentStep, trouble: ActionError) -> MatterStatus:
    """Return what became of an approved action after this error; an earlier process may have begun it."""
    if not trouble.uncertain:
        return MatterStatus.NOT_DONE
    done = await step.context.journal.state_of(step.key) == "done"
    return MatterStatus.DONE if done else MatterStatus.UNCERTAIN


async def _do_approved(step: CurrentStep, action: Action) -> Route:
    """Do what a person approved, or type what they gave; an input only if its target is still as shown."""
    context, binding = step.context, step.question["binding"]
    action = with_copied(step, action)
    spec, what = context.actions.spec_of(action), context.actions.describe(action, None)
    try:
        if isinstance(spec, Tool | PhoneTool):  # its arguments were approved, independent of the screen
            await _do_allowed(step, Resolved(action=action, spec=spec, what=what, sight=context.screen.view))
            step.record_matter(MatterStatus.DONE, binding)
            step.question["approved_action"] = None
            return Command(goto="check_loop", update=step.update())
        return await _do_on_screen(step, spec, action, what)
    except Stopped:
        performed = bool(step.step_state["performed"])
        step.record_matter(MatterStatus.UNCERTAIN if performed else MatterStatus.NOT_DONE, binding)
        if not performed:
            step.set_status(StepStatus.INTERRUPTED_BEFORE, what)
    except ActionError as trouble:
        step.record_matter(await _fate_after(step, trouble), binding)
        if not step.step_state["performed"]:
            step.set_status(StepStatus.NOT_DONE, what)
        step.fail(trouble)
    except (LeaseLost, PhoneUnavailable) as error:
        return Command(goto="executor_exit", update=step.update(ending_by(error)))
    except PhoneError as error:
        step.record_matter(MatterStatus.NOT_DONE, binding)
        step.set_status(StepStatus.NOT_DONE, what)
        step.add_notices(f"The phone could not be looked at again, so it was not done: {error}")
    return _after_touch(step)


async def _do_on_screen(step: CurrentStep, spec: AnySpec, action: Action, what: Words) -> Route:
    """Look again, and act once if the target is still as approved; otherwise let the model look.

    The order is journal, look, input. The journal must be on disk before the input, so that nothing is done twice after
    a crash. Since a disk may be slow, it is written before the look, so that only the phone's own check of its window
    comes between observation and input. A run stopped between journal and look has done nothing.
    """
    context, safety, state = step.context, step.safety, step.state
    secret, binding = step.question["secret"], step.question["binding"]
    if secret is not None and binding is None:  # the person entered it before its field was on the screen
        safety["held_secret"] = secret
        step.add_performed(what)
        step.add_notices(KEPT)
        step.question |= {"approved_action": None, "secret": None}
        return Command(goto="check_loop", update=step.update())
    control = (binding or {}).get("control")
    follows = isinstance(spec, InputAction) or secret is not None or safety["held_secret"] is not None
    if follows:  # otherwise a person is asked for the secret for this field
        await begin(context, step.key, step.journal_data, BEGUN)
    looked = asyncio.get_running_loop().time()
    try:
        now = await context.screen.peek()
    except (Stopped, PhoneError, asyncio.CancelledError):
        if follows:
            await give_up(context, step.key, "the screen could not be looked at before it")
        raise
    where = relocated(binding, now, facts=secret is None or "window" in (binding or {}))
    if where is None:
        if follows:
            await give_up(context, step.key, "the screen is not as it was allowed")
        step.set_status(StepStatus.NOT_DONE, what)
        step.record_matter(MatterStatus.NOT_DONE, binding)
        if secret is not None:
            context.secrets.take(secret)
        step.add_notices(OTHERWISE if secret is None else FIELD_GONE)
        shown = (binding or {}).get("frame")
        if control is not None and shown is not None:
            safety["approved_frames"] = {**safety["approved_frames"], control: shown}
        safety["changed_screens"] = counted(safety["changed_screens"], control)
        step.question["approved_action"] = None
        return Command(goto="check_loop", update=step.update())
    # The points of the action are pixels of the picture on which it was decided.
    before = context.screen.view
    space = before.screen.space if before is not None else Size(*state["step"]["picture_size"])
    screen, targets = screen_of(now, space, covered=context.mask.covers_words(now))
    sight = ScreenView(now, screen, targets, state["step"]["frame"])
    if isinstance(spec, InputAction) and secret is None:
        try:
            resolved = resolve_input(spec, action, where, sight)
        except ActionError:
            await give_up(context, step.key, "it has no place to go")
            raise
        safety["released_texts"] = released_texts(state, spoken_as(resolved.physical, sight)[0], now.package)
        await _do_allowed(step, replace(resolved, looked=looked))
        step.record_matter(MatterStatus.DONE, binding)
        safety["changed_screens"] = counted(safety["changed_screens"], control, 0)
        return _after_touch(step)
    if secret is None:  # the approval was for the field
        assert isinstance(action, EnterSecret)
        secret = safety["held_secret"]
        if secret is None:
            asked = secret_question(state, context, sight, where, action.question, allowed=True)
            return Command(goto="call_user", update=step.update(asked))
        safety["held_secret"] = None
    await _type_secret(step, action, where, sight, secret, looked)
    return _after_touch(step)


def _after_touch(step: CurrentStep) -> Route:
    """Continue with the next step, unless another window got the approved input: then a person must check."""
    step.question["approved_action"] = None
    other = next((each for each in effects_of(step.step_state["effects"]) if isinstance(each, OtherWindow)), None)
    if other is None:
        return Command(goto="check_loop", update=step.update())
    what, window = performed_of(step.step_state)[-1], other.window.partition("/")[0]
    summary = sentence("ended.swapped", what=what, window=window)
    return Command(goto="executor_exit", update=step.update(ending(Outcome.BLOCKED, summary)))


async def _type_secret(
    step: CurrentStep, action: Action, target: ResolvedTarget, view: ScreenView, secret: str, looked: float
) -> None:
    context, safety, typed = step.context, step.safety, secret_action(action, target)
    done, told = what_was_typed(context, action, target, view)
    step.add_performed(done)
    try:
        effects, waits = await type_secret(context, step.key, view, typed, target, secret, looked)
    finally:
        safety["secret_places"] = context.mask.places
    what, spec = words("did.secret", question=typed.question), context.actions.spec_of(typed)
    step.record_action(Resolved(action=typed, spec=spec, what=what, sight=view), target=target.element, touches=True)
    if target.element is not None:
        place = place_of(view.observation.package, target.element)
        safety["secret_fields"] = [*safety["secret_fields"], place]
        safety["secret_step"] = step.step_state["number"]
    safety["has_acted"] = True
    step.record_matter(MatterStatus.DONE, {"about": secret_matter(view), "what": context.mask.text(said(done))})
    step.add_effects(*effects)
    step.add_notices(*told, *([waits] if waits else []))
