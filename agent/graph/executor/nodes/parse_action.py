"""parse_action: from the model's words to typed actions, or back to the model with the reason why not."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.actions import ElementTarget, Finish, action_data
from agent.control import Stopped
from agent.dialects.base import BadReply, Decision
from agent.graph.executor.context import RunContext
from agent.graph.executor.replies import reply_of, why_unusable
from agent.graph.executor.state import ExecutorState, ended, usage_data, usage_of
from agent.graph.executor.verify import verify
from agent.observing import Sight
from agent.outcome import Outcome
from agent.wording import sentence

BAD_REPLIES = 3
"""Unusable answers in a row that end the sub-task."""
NAME_OF_PILOT = "offline"

Route = Command[Literal["execute_action", "check_loop", "screenshot", "executor_exit"]]


async def parse_action(state: ExecutorState, runtime: Runtime[RunContext]) -> Route:
    """Understand the reply. What cannot be understood is told to the model, never read as success."""
    context = runtime.context
    sight = context.live.sight
    if sight is None:
        return Command(goto="screenshot")
    try:
        decision = context.dialect.parse(reply_of(state), sight.screen.space)
        _check_elements(decision, sight)
    except BadReply as error:
        return _bad(state, why_unusable(reply_of(state), error))
    actions = decision.actions
    update: dict[str, Any] = {"bad_replies": 0}
    if len(actions) > 1 and isinstance(actions[-1], Finish):
        # Whoever finishes in the same breath as acting has not seen what came of it.
        actions = actions[:-1]
        update["told"] = ["Finish alone, after you have seen on the screen what your last action did."]
    update["decision"] = {
        "thought": decision.thought,
        "summary": decision.summary,
        "actions": [action_data(action) for action in actions],
    }
    first = actions[0]
    if isinstance(first, Finish):
        return await _finish(state, context, sight, first, update)
    return Command(goto="execute_action", update=update)


def _bad(state: ExecutorState, reason: str) -> Route:
    count = state["bad_replies"] + 1
    did = "nothing: the answer could not be used"
    update: dict[str, Any] = {"bad_replies": count, "did": [did], "effect": [reason]}
    if count >= BAD_REPLIES:
        update["result"] = ended(Outcome.FAILED, sentence("ended.bad_answers", number=count, why=reason))
        return Command(goto="executor_exit", update=update)
    update["told"] = [f"Your last answer could not be used and nothing was done. {reason}"]
    return Command(goto="check_loop", update=update)


def _check_elements(decision: Decision, sight: Sight) -> None:
    for action in decision.actions:
        target = getattr(action, "target", None)
        if isinstance(target, ElementTarget) and target.element >= len(sight.targets):
            have = f"0 to {len(sight.targets) - 1}" if sight.targets else "none"
            raise BadReply(f"There is no element {target.element} on this screen; the numbers are {have}.")


async def _finish(
    state: ExecutorState, context: RunContext, sight: Sight, claim: Finish, update: dict[str, Any]
) -> Route:
    if context.control.has_notes:
        update["did"] = ["nothing: the person has just written"]
        update["told"] = ["You cannot finish yet: the person has written something. Read it first."]
        return Command(goto="check_loop", update=update)
    outcome = Outcome.SUCCEEDED if claim.status == "success" else Outcome.FAILED
    summary = claim.summary
    if outcome is Outcome.SUCCEEDED and context.models.vision.name != NAME_OF_PILOT:
        try:
            verdict, usage = await context.control.guard(verify(state, context, sight, claim))
        except Stopped:
            return Command(goto="check_loop")
        update["usage"] = usage_data(usage_of(state) + usage)
        if isinstance(verdict, str) or not verdict.proven:
            reason = verdict if isinstance(verdict, str) else verdict.reason
            if not isinstance(verdict, str) and state["verify_rounds"] == 0:
                update["verify_rounds"] = 1
                update["did"] = ["finish: not accepted yet"]
                update["effect"] = [reason]
                update["told"] = [f"Not proven yet that the task is done: {reason} Do what is missing, or show it."]
                return Command(goto="check_loop", update=update)
            outcome = Outcome.UNVERIFIED
            summary = sentence("ended.unproven", summary=summary, why=reason).strip()
    update["did"] = [f"finish: {claim.status}"]
    update["result"] = ended(outcome, summary, claim.data or state.get("gathered"))
    return Command(goto="executor_exit", update=update)
