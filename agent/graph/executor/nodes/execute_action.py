"""execute_action: gate, journal, act, settle, and say what changed."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.actions import (
    Action,
    AskUser,
    EnterSecret,
    Finish,
    Note,
    SendFile,
    SumUp,
    TakeOver,
    Wait,
    WaitFor,
    action_from,
)
from agent.control import Stopped
from agent.describing import describe
from agent.graph.executor import asking
from agent.graph.executor.acting import Trouble, act
from agent.graph.executor.anchors import anchor_of, found_again
from agent.graph.executor.context import RunContext
from agent.graph.executor.gating import aim_again, enter_waits, field_aim, gated, require_field, secret_action
from agent.graph.executor.hands import Aim, aim, to_input
from agent.graph.executor.noting import noted, sum_up
from agent.graph.executor.quiet import wait, wait_for
from agent.graph.executor.sending import file_question, send_file
from agent.graph.executor.state import ExecutorState, ended_by, usage_data, usage_of
from agent.graph.executor.steps import close_step
from agent.observing import Sight
from agent.ports.journal import ActionKey, LeaseLost
from devices.errors import PhoneError, PhoneUnavailable
from devices.inputs import TypeText

Route = Command[Literal["call_user", "check_loop", "screenshot", "executor_exit"]]

INTERRUPTED = (
    "The work was interrupted while this was being done: {what}. It may or may not have happened. It was not sent "
    "again. Look at the screen first, and do not repeat what has happened."
)
OTHERWISE = (
    "A person allowed it, but the screen, or what would be sent or paid, is not the same any more. So it was not done. "
    "Look again."
)
ENTER_WAITS = (
    "It was typed, but Enter was not pressed, because that {reason}. Press the button for it: a person is asked then."
)
FIELD_GONE = "A person gave it, but the field is not there any more. Nothing was typed. Look again."


class _Progress:
    """What this step has done so far, as the state will have it."""

    def __init__(self, state: ExecutorState) -> None:
        self.did = list(state["did"])
        self.effect = list(state["effect"])
        self.told = list(state["told"])
        self.notes = list(state["notes"])
        self.index = state["index"]
        self.mark = state.get("mark")
        self.gathered = state.get("gathered")
        self.usage = usage_of(state)
        self.covered = state.get("covered", [])

    def update(self, **more: object) -> dict[str, object]:
        """The update of the graph's state, with `more` beside it."""
        return {
            "did": self.did,
            "effect": self.effect,
            "told": self.told,
            "notes": self.notes,
            "index": self.index,
            "mark": self.mark,
            "gathered": self.gathered,
            "usage": usage_data(self.usage),
            "covered": self.covered,
            **more,
        }


async def execute_action(state: ExecutorState, runtime: Runtime[RunContext]) -> Route:
    """Do the decided actions in order; the rest is dropped at the first that fails or changes the app."""
    context = runtime.context
    context.mask.restore(state.get("covered", []))
    actions = [action_from(data) for data in state["decision"]["actions"]]
    progress = _Progress(state)
    sight = context.live.sight
    approved = state.get("approved")
    if approved is not None:
        return await _approved(state, context, actions[approved], progress)
    if sight is None:
        what = describe(actions[progress.index], None)
        progress.did.append(f"interrupted: {what}")
        progress.told.append(INTERRUPTED.format(what=what))
        return Command(goto="check_loop", update=progress.update())
    chosen_on = sight
    try:
        while progress.index < len(actions):
            action = actions[progress.index]
            question = await _one(state, context, sight, action, progress, chosen_on)
            if question is not None:
                return Command(goto="call_user", update=progress.update(**question))
            progress.index += 1
            fresh = context.live.fresh
            if fresh is not None and progress.index < len(actions):
                if fresh.package != sight.observation.package:
                    progress.told.append("The app changed, so the rest of your actions was not done.")
                    break
                sight = Sight(context.mask.observation(fresh), sight.screen, sight.targets)
    except Stopped:
        return Command(goto="check_loop", update=progress.update())
    except Trouble as trouble:
        progress.told.append(str(trouble))
        rest = len(actions) - progress.index - 1
        if rest > 0:
            progress.told.append(f"The other {rest} of your actions were not done.")
    except (LeaseLost, PhoneUnavailable) as error:
        return Command(goto="executor_exit", update=progress.update(result=ended_by(error)))
    return Command(goto="check_loop", update=progress.update())


async def _one(
    state: ExecutorState, context: RunContext, sight: Sight, action: Action, progress: _Progress, chosen_on: Sight
) -> dict[str, Any] | None:
    """Do one action. Returns what to ask a person instead, when it needs one.

    `sight` is the screen as it is now, `chosen_on` the one that the model was shown.
    """
    what = describe(action, sight)
    match action:
        case AskUser() | TakeOver() | EnterSecret():
            try:
                require_field(context, sight, action)
            except Trouble:
                progress.did.append(f"refused: {what}")
                raise
            progress.did.append(what)
            anchor = anchor_of(field_aim(action, sight), sight, facts=False)
            return {"question": asking.question(state, context, action), "anchor": anchor}
        case Note():
            progress.notes.append(noted(action, context, sight))
            progress.did.append(what)
        case SumUp():
            words, usage = await sum_up(action, context, state, progress.notes, sight)
            progress.did.append(what)
            progress.usage += usage
            progress.gathered = words
            progress.notes.append(words)
            progress.told.append(f"Your notes were summed up: {words}")
        case Wait():
            progress.did.append(what)
            progress.effect.append(await wait(context, sight, action))
        case WaitFor():
            progress.did.append(what)
            progress.effect.append(await wait_for(context, sight, action))
        case SendFile():
            try:
                question = file_question(state, context, sight, action)
            except Trouble:
                progress.did.append(f"refused: {what}")
                raise
            if question is not None:
                return question
            await _send_file(state, context, action, progress)
        case Finish():
            progress.told.append("Finish alone, after you have seen on the screen what your last action did.")
        case _:
            where = aim(action, sight) if sight is chosen_on else aim_again(action, chosen_on, sight)
            try:
                question = await gated(state, context, sight, action, where)
            except Trouble:
                progress.did.append(f"refused: {what}")
                raise
            if question is not None:
                return question
            await _send(state, context, sight, action, where, progress)
    return None


async def _send(
    state: ExecutorState, context: RunContext, sight: Sight, action: Action, where: Aim, progress: _Progress
) -> None:
    """Journal and act, once."""
    what = describe(action, sight)
    key = ActionKey(state["run"], state["subtask"], state["step"], progress.index)
    physical = to_input(action, where, sight)
    if physical is None:
        raise Trouble(f"Not done: {what} has no place to go on this screen. Name an element or a point.")
    progress.did.append(what)
    if where.point is not None:
        spot = where.point.mapped(sight.observation.size, sight.screen.space)
        progress.mark = [spot.x, spot.y]
    actions = state["decision"]["actions"]
    last = progress.index + 1 == len(actions)
    progress.effect.append(await act(context, key, actions[progress.index], physical, sight, last=last))
    if not last and context.live.fresh is None:
        raise Trouble("What your last action did could not be seen. Look before you go on.")


async def _send_file(state: ExecutorState, context: RunContext, action: SendFile, progress: _Progress) -> None:
    """Journal and send, once."""
    key = ActionKey(state["run"], state["subtask"], state["step"], progress.index)
    progress.did.append(describe(action, None))
    progress.effect.append(await send_file(context, key, state["decision"]["actions"][progress.index], action))


async def _approved(state: ExecutorState, context: RunContext, action: Action, progress: _Progress) -> Route:
    """Look again; act once if the target is still there as it was approved, else let the model look."""
    progress.index = state["approved"] or 0
    secret = state.get("secret")
    try:
        if isinstance(action, SendFile):  # what was approved is a path: the screen has no part in it
            await _send_file(state, context, action, progress)
            return Command(goto="check_loop", update=progress.update(approved=None))
        now = context.mask.observation(await context.control.guard(context.phone.observe(fit=context.fit)))
        again = found_again(state.get("anchor"), now)
        if again is None:
            progress.did.append(f"not done: {describe(action, None)}")
            told = OTHERWISE
            if secret is not None:
                context.secrets.take(secret)
                told = FIELD_GONE
            update = close_step(state, context, did=progress.did, effect=progress.effect, told=[told])
            return Command(goto="screenshot", update=update)
        sight = again.sight(context.live.sight, state)
        if secret is not None:
            await _type_secret(state, context, sight, secret_action(action), again.aim, progress)
        else:
            await _send(state, context, sight, action, again.aim, progress)
    except Stopped:
        if not progress.did:
            progress.did.append(f"interrupted before: {describe(action, None)}")
    except Trouble as trouble:
        progress.told.append(str(trouble))
    except (LeaseLost, PhoneUnavailable) as error:
        return Command(goto="executor_exit", update=progress.update(result=ended_by(error)))
    except PhoneError as error:
        progress.did.append(f"not done: {describe(action, None)}")
        progress.told.append(f"The phone could not be looked at again, so it was not done: {error}")
    return Command(goto="check_loop", update=progress.update(approved=None))


async def _type_secret(
    state: ExecutorState, context: RunContext, sight: Sight, action: EnterSecret, where: Aim, progress: _Progress
) -> None:
    """Type what the person gave, straight from memory; journal and history know only that it happened."""
    value = context.secrets.take(state.get("secret") or "")
    if value is None:
        raise Trouble("The secret is gone because the service was restarted. Ask for it again if it is needed.")
    context.mask.add(value)
    if where.element is not None:
        context.mask.cover_field(sight.observation.package, where.element)
    progress.covered = context.mask.places
    key = ActionKey(state["run"], state["subtask"], state["step"], progress.index)
    waits = enter_waits(context, sight, where) if action.submit else ""
    submit = action.submit and not waits
    physical = TypeText(value, at=where.point, clear=True, submit=submit, secret=True)
    progress.effect.append(await act(context, key, state["decision"]["actions"][progress.index], physical, sight))
    if waits:
        progress.told.append(ENTER_WAITS.format(reason=waits))
