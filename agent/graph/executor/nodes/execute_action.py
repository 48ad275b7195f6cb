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
from agent.effect_facts import effects_data, effects_of
from agent.graph.executor import questions
from agent.graph.executor.acting import ActionError, act
from agent.graph.executor.anchors import anchor_of, found_again
from agent.graph.executor.approvals import MAX_TRIES, Denied, counted
from agent.graph.executor.context import RunContext
from agent.graph.executor.gate import aim_again, field_aim, gated
from agent.graph.executor.notes import noted, sum_up
from agent.graph.executor.secrets import (
    KEPT,
    asked_for_field,
    asked_instead,
    secret_action,
    secret_question,
    type_secret,
    what_was_typed,
)
from agent.graph.executor.sending import file_question, send_file
from agent.graph.executor.state import ExecutorState, did_of, ended, ended_by, usage_data, usage_of
from agent.graph.executor.targets import ResolvedTarget, resolve_target, to_input
from agent.graph.executor.wait import wait, wait_for
from agent.observing import ScreenView
from agent.outcome import Outcome
from agent.ports.journal import ActionKey, LeaseLost
from agent.wording import kept, sentence, words
from devices.errors import PhoneError, PhoneUnavailable

Route = Command[Literal["call_user", "check_loop", "executor_exit"]]

INTERRUPTED = (
    "The work was interrupted while this was being done: {what}. It may or may not have happened. It was not sent "
    "again. Look at the screen first, and do not repeat what has happened."
)
OTHERWISE = (
    "A person allowed it, but the screen, or what would be sent or paid, is not the same any more. So it was not done. "
    "Look again."
)
FIELD_GONE = "A person gave it, but the field is not there any more. Nothing was typed. Look again."


class _Progress:
    """What this step has done so far, as the state will have it."""

    def __init__(self, state: ExecutorState) -> None:
        self.did = list(did_of(state["did"]))
        self.effect = list(effects_of(state["effect"]))
        self.told = list(state["told"])
        self.notes = list(state["notes"])
        self.index = state["index"]
        self.mark = state.get("mark")
        self.gathered = state.get("gathered")
        self.usage = usage_of(state)
        self.covered = state.get("covered", [])
        self.held = state.get("held")
        self.denied = state.get("denied", {})
        self.unlike = state.get("unlike", {})

    def update(self, **more: object) -> dict[str, object]:
        """The update of the graph's state, with `more` beside it."""
        return {
            "did": [kept(each) for each in self.did],
            "effect": effects_data(self.effect),
            "told": self.told,
            "notes": self.notes,
            "index": self.index,
            "mark": self.mark,
            "gathered": self.gathered,
            "usage": usage_data(self.usage),
            "covered": self.covered,
            "held": self.held,
            "denied": self.denied,
            "unlike": self.unlike,
            **more,
        }


async def execute_action(state: ExecutorState, runtime: Runtime[RunContext]) -> Route:
    """Do the decided actions in order; the rest is dropped at the first that fails or changes the app."""
    context = runtime.context
    context.mask.restore(state.get("covered", []))
    actions = [action_from(data) for data in state["decision"]["actions"]]
    progress = _Progress(state)
    sight = context.screen.view
    approved = state.get("approved")
    if approved is not None:
        return await _approved(state, context, actions[approved], progress)
    if sight is None:
        what = describe(actions[progress.index], None)
        progress.did.append(words("did.interrupted", what=what))
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
            fresh = context.screen.fresh
            if fresh is not None and progress.index < len(actions):
                if fresh.package != sight.observation.package:
                    progress.told.append("The app changed, so the rest of your actions was not done.")
                    break
                sight = ScreenView(fresh, sight.screen, sight.targets)
    except Stopped:
        return Command(goto="check_loop", update=progress.update())
    except ActionError as trouble:
        if isinstance(trouble, Denied):
            progress.denied = counted(progress.denied, trouble.consequence)
            if trouble.tries >= MAX_TRIES:
                summary = sentence("ended.denied", what=trouble.what, number=trouble.tries)
                result = ended(Outcome.BLOCKED, summary)
                return Command(goto="executor_exit", update=progress.update(result=result))
        if not progress.did:
            progress.did.append(words("did.not_done", what=describe(actions[progress.index], sight)))
        progress.told.append(str(trouble))
        rest = len(actions) - progress.index - 1
        if rest > 0:
            progress.told.append(f"The other {rest} of your actions were not done.")
    except (LeaseLost, PhoneUnavailable) as error:
        return Command(goto="executor_exit", update=progress.update(result=ended_by(error)))
    return Command(goto="check_loop", update=progress.update())


async def _one(
    state: ExecutorState,
    context: RunContext,
    sight: ScreenView,
    action: Action,
    progress: _Progress,
    chosen_on: ScreenView,
) -> dict[str, Any] | None:
    """Do one action. Returns what to ask a person instead, when it needs one.

    `sight` is the screen as it is now, `chosen_on` the one that the model was shown.
    """
    what = describe(action, sight)
    match action:
        case EnterSecret():
            try:
                return asked_for_field(state, context, sight, action)
            except ActionError:
                progress.did.append(words("did.refused", what=what))
                raise
        case AskUser() | TakeOver():
            secret = asked_instead(state, context, sight, action) if isinstance(action, AskUser) else None
            if secret is not None:
                return secret
            progress.did.append(what)
            anchor = anchor_of(field_aim(action, sight), sight, facts=False)
            return {"question": questions.question(state, context, action), "anchor": anchor}
        case Note():
            progress.notes.append(noted(action, context, sight))
            progress.did.append(what)
        case SumUp():
            summed, usage = await sum_up(action, context, state, progress.notes, sight)
            progress.did.append(what)
            progress.usage += usage
            progress.gathered = summed
            progress.notes.append(summed)
            progress.told.append(f"Your notes were summed up: {summed}")
        case Wait():
            progress.did.append(what)
            progress.effect.extend(await wait(context, sight, action))
        case WaitFor():
            progress.did.append(what)
            progress.effect.extend(await wait_for(context, sight, action))
        case SendFile():
            try:
                question = file_question(state, context, sight, action)
            except ActionError:
                progress.did.append(words("did.refused", what=what))
                raise
            if question is not None:
                return question
            await _send_file(state, context, action, progress)
        case Finish():
            progress.told.append("Finish alone, after you have seen on the screen what your last action did.")
        case _:
            where = resolve_target(action, sight) if sight is chosen_on else aim_again(action, chosen_on, sight)
            try:
                question = await gated(state, context, sight, action, where)
            except ActionError:
                progress.did.append(words("did.refused", what=what))
                raise
            if question is not None:
                return question
            await _send(state, context, sight, action, where, progress)
    return None


async def _send(
    state: ExecutorState,
    context: RunContext,
    sight: ScreenView,
    action: Action,
    where: ResolvedTarget,
    progress: _Progress,
) -> None:
    """Journal and act, once."""
    what = describe(action, sight)
    key = ActionKey(state["run"], state["subtask"], state["step"], progress.index)
    physical = to_input(action, where, sight)
    if physical is None:
        raise ActionError(f"Not done: {what} has no place to go on this screen. Name an element or a point.")
    progress.did.append(what)
    if where.point is not None:
        spot = where.point.mapped(sight.observation.size, sight.screen.space)
        progress.mark = [spot.x, spot.y]
    actions = state["decision"]["actions"]
    last = progress.index + 1 == len(actions)
    progress.effect.extend(await act(context, key, actions[progress.index], physical, sight, last=last))
    if not last and context.screen.fresh is None:
        raise ActionError("What your last action did could not be seen. Look before you go on.")


async def _send_file(state: ExecutorState, context: RunContext, action: SendFile, progress: _Progress) -> None:
    """Journal and send, once."""
    key = ActionKey(state["run"], state["subtask"], state["step"], progress.index)
    progress.did.append(describe(action, None))
    progress.effect.extend(await send_file(context, key, state["decision"]["actions"][progress.index], action))


async def _approved(state: ExecutorState, context: RunContext, action: Action, progress: _Progress) -> Route:
    """Look again; act once if the target is still there as it was approved, else let the model look."""
    progress.index = state["approved"] or 0
    secret = state.get("secret")
    try:
        if isinstance(action, SendFile):  # what was approved is a path: the screen has no part in it
            await _send_file(state, context, action, progress)
            return Command(goto="check_loop", update=progress.update(approved=None))
        if secret is not None and state.get("anchor") is None:  # it was given before there was a field
            progress.held = secret
            progress.did.append(describe(action, None))
            progress.told.append(KEPT)
            return Command(goto="check_loop", update=progress.update(approved=None, secret=None))
        now = await context.screen.peek()
        anchor = state.get("anchor")
        again = found_again(anchor, now, facts=secret is None or "window" in (anchor or {}))
        if again is None:
            progress.did.append(words("did.not_done", what=describe(action, None)))
            told = OTHERWISE
            if secret is not None:
                context.secrets.take(secret)
                told = FIELD_GONE
            progress.told.append(told)
            control = (anchor or {}).get("control")
            unlike = counted(progress.unlike, control)
            return Command(goto="check_loop", update=progress.update(approved=None, unlike=unlike))
        sight = again.sight(context.screen.view, state)
        if secret is None and isinstance(action, EnterSecret):  # what is allowed is the field
            if progress.held is None:
                asked = secret_question(state, context, sight, again.aim, action.question, allowed=True)
                return Command(goto="call_user", update=progress.update(**asked))
            secret, progress.held = progress.held, None
        if secret is not None:
            await _type_secret(state, context, sight, action, again.aim, progress, secret)
        else:
            await _send(state, context, sight, action, again.aim, progress)
            progress.unlike = counted(progress.unlike, (anchor or {}).get("control"), 0)
    except Stopped:
        if not progress.did:
            progress.did.append(words("did.interrupted_before", what=describe(action, None)))
    except ActionError as trouble:
        if not progress.did:
            progress.did.append(words("did.not_done", what=describe(action, None)))
        progress.told.append(str(trouble))
    except (LeaseLost, PhoneUnavailable) as error:
        return Command(goto="executor_exit", update=progress.update(result=ended_by(error)))
    except PhoneError as error:
        progress.did.append(words("did.not_done", what=describe(action, None)))
        progress.told.append(f"The phone could not be looked at again, so it was not done: {error}")
    return Command(goto="check_loop", update=progress.update(approved=None))


async def _type_secret(
    state: ExecutorState,
    context: RunContext,
    sight: ScreenView,
    action: Action,
    where: ResolvedTarget,
    progress: _Progress,
    secret: str,
) -> None:
    """Type it into the field, once."""
    done, told = what_was_typed(action, where, sight)
    progress.did.append(done)
    try:
        effect, waits = await type_secret(
            state, context, sight, progress.index, secret_action(action, where), where, secret
        )
    finally:
        progress.covered = context.mask.places
    progress.effect.extend(effect)
    progress.told.extend([*told, *([waits] if waits else [])])
