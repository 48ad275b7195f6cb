"""parse_action: turns the model's reply into typed actions, or tells the model why it is unusable. A claim
of success is checked against the last screen.
"""

from __future__ import annotations

import logging
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from agent.actions import Action, ElementTarget, Finish, action_data
from agent.control import Stopped
from agent.dialects.base import BadReply, Decision
from agent.dialects.scene_text import numbered
from agent.dialects.tools import ToolsDialect
from agent.effect_facts import PlainText, effects_data
from agent.graph.executor.context import RunContext
from agent.graph.executor.follower import RECORDED
from agent.graph.executor.following import is_proven, keep_names, needs_no_picture
from agent.graph.executor.matters import MatterStatus, matters_of, told_done, told_open
from agent.graph.executor.outgoing import unsent
from agent.graph.executor.proof import is_shown
from agent.graph.executor.state import (
    ExecutorState,
    ending,
    is_empty,
    joined,
    past_line,
    reply_of,
    result_of,
    unsummed,
    why_unusable,
)
from agent.graph.executor.targets import aimed
from agent.graph.subjects import spent
from agent.models.base import PILOT, ModelRequest, Purpose, Usage, prompted
from agent.models.errors import ModelAnswerUnusable, ModelError
from agent.models.json_answers import ask
from agent.observing import ScreenView
from agent.prompts import prompt
from agent.recorded_skills.recording import recorded_words
from agent.request_words import Act, asks_for_act
from agent.run import Outcome
from agent.wording import has_words, kept, restored, sentence, words
from devices.wording import sentence_of

logger = logging.getLogger(__name__)


class Verdict(BaseModel):
    """Whether the claim is proven, and what is missing if not."""

    proven: bool
    reason: str = ""


async def verify(
    state: ExecutorState, context: RunContext, view: ScreenView, claim: Finish
) -> tuple[Verdict | str, Usage]:
    """Ask a model whether the last screen proves a claim of success.

    Returns its verdict or, if there is none, a sentence that says why, and the tokens used. Never raises an error of
    the model.
    """
    image = None if context.screen.by_list else view.screen.image
    if image is None and not view.screen.elements:
        return sentence("verify.nothing"), Usage()
    order, run = state["order"], state["order"]["run"]
    steps = "\n".join(f"{past['number']}. {past_line(past)}" for past in unsummed(state))
    if summary := state["conversation"]["past_summary"]:
        steps = f"(1 to {summary['steps']}, summed up) {summary['text']}\n{steps}"
    elements = "\n".join(view.screen.lines(numbered))
    dated = f"{local.sentence}\n" if (local := context.local_time) else ""
    facts = (
        f"Task: {order['task']}\nThis part: {order['goal']}\n\nSteps:\n{steps or '(none)'}\n\n"
        f"{dated}Claim: {claim.summary}\nData: {claim.data or '(none)'}\n\n"
        f"Last screen ({view.screen.app}):\n{elements or '(no element list)'}"
    )
    pictures = () if image is None or needs_no_picture(state, context, view) else (image,)
    request = ModelRequest(
        Purpose.VERIFY,
        prompted(prompt("verify"), facts, *pictures),
        schema=Verdict,
        conversation=f"{run}-verify",
        task=context.run.task,
    )
    try:
        verdict, usage = await ask(context.config.models.for_purpose(Purpose.VERIFY), request, Verdict)
    except ModelAnswerUnusable as error:
        logger.info("run %s: the verification gave no usable verdict: %s", run, error)
        return sentence("verify.unusable", why=sentence_of(error)), error.usage
    except ModelError as error:
        logger.warning("Run %s: the result could not be verified by a model: %s", run, error)
        return sentence("verify.failed", why=sentence_of(error)), error.usage
    return verdict, usage


BAD_REPLIES = 3
"""Unusable answers in a row that end the sub-task."""

Route = Command[Literal["execute_action", "check_loop", "screenshot", "executor_exit"]]


async def parse_action(state: ExecutorState, runtime: Runtime[RunContext]) -> Route:
    """Parse the reply into actions. A reply that cannot be parsed is reported to the model, and never treated as
    success.
    """
    context = runtime.context
    sight = context.screen.view
    if sight is None:
        return Command(goto="screenshot")
    context.memory.screen_history.add(state["order"]["subtask"], state["step"]["number"], sight.observation)
    reply = reply_of(state["step"])
    try:
        own = reply.finish_reason == RECORDED
        dialect = ToolsDialect(context.actions.models) if own else context.profile.dialect
        decision = dialect.parse(reply, sight.screen.space)
    except BadReply as error:
        can_ask_otherwise = is_empty(reply) and not context.screen.by_list and bool(sight.screen.elements)
        return _bad(state, why_unusable(reply, error), can_ask_otherwise=can_ask_otherwise)
    try:
        _check_elements(decision, sight)
        actions = _held_to_list(decision, sight)
    except BadReply as error:
        if not sight.is_listed:
            context.screen.wait_for_lists()
        return _bad(state, str(error))
    notices = [*decision.told]
    if len(actions) > 1 and isinstance(actions[-1], Finish):
        # A model that acts and finishes in one answer has not seen the effect.
        actions = actions[:-1]
        notices.append("Finish alone, after you have seen on the screen what your last action did.")
    update: ExecutorState = {
        "progress": {"bad_replies": 0},
        "conversation": {"model_notices": notices} if notices else {},
        "step": {
            "decision": {
                "thought": decision.thought,
                "summary": decision.summary,
                "actions": [action_data(action) for action in actions],
            }
        },
    }
    first = actions[0]
    if isinstance(first, Finish):
        return await _finish(state, context, sight, first, update)
    return Command(goto="execute_action", update=update)


def _bad(state: ExecutorState, reason: str, *, can_ask_otherwise: bool = False) -> Route:
    """Reject an answer. `can_ask_otherwise` means that it was empty, perhaps because of a picture (a filter, or a
    template that drops what follows one), so the same is asked with only the list before the sub-task ends.
    """
    count = state["progress"]["bad_replies"] + 1
    update: ExecutorState = {
        "progress": {"bad_replies": count},
        "step": {"performed": [kept(words("did.unusable"))], "effects": effects_data([PlainText(text=reason)])},
    }
    if count >= BAD_REPLIES and can_ask_otherwise:
        update = joined(
            update, {"progress": {"bad_replies": 0}, "conversation": {"by_list": state["step"]["reply"]["model"]}}
        )
    elif count >= BAD_REPLIES:
        enough = ending(Outcome.FAILED, sentence("ended.bad_answers", number=count, why=reason))
        return Command(goto="executor_exit", update=joined(update, enough))
    told = [f"Your last answer could not be used and nothing was done. {reason}"]
    return Command(goto="check_loop", update=joined(update, {"conversation": {"model_notices": told}}))


def _check_elements(decision: Decision, view: ScreenView) -> None:
    for action in decision.actions:
        target = getattr(action, "target", None)
        if isinstance(target, ElementTarget) and target.element >= len(view.targets):
            have = f"0 to {len(view.targets) - 1}" if view.targets else "none"
            raise BadReply(f"There is no element {target.element} on this screen; the numbers are {have}.")


def _held_to_list(decision: Decision, view: ScreenView) -> tuple[Action, ...]:
    """Return the actions. If the model was shown no list and named its targets in words, they are moved to where those
    words are in the list that has arrived since. Raises BadReply.
    """
    if view.is_listed or not decision.named:
        return decision.actions
    return tuple(aimed(action, words, view) for action, words in zip(decision.actions, decision.named, strict=True))


async def _finish(
    state: ExecutorState, context: RunContext, view: ScreenView, claim: Finish, update: ExecutorState
) -> Route:
    if context.control.has_notes:
        unread: ExecutorState = {
            "step": {"performed": [kept(words("did.noted"))]},
            "conversation": {
                "model_notices": ["You cannot finish yet: the person has written something. Read it first."]
            },
        }
        return Command(goto="check_loop", update=joined(update, unread))
    safety, rounds = state["safety"], state["progress"]["verify_rounds"]
    outcome = Outcome.SUCCEEDED if claim.status == "success" else Outcome.FAILED
    if claim.needs_model is not None:
        outcome = Outcome.BLOCKED
    summary = claim.summary if has_words(claim.summary) else ""
    matters, act = matters_of(state), asks_for_act(state["order"]["task"])
    deeds = [restored(each) for each in safety["deeds"]]
    known, done = told_open(matters), told_done(matters, deeds)
    if any(matter.fate is MatterStatus.DENIED for matter in matters):
        outcome = Outcome.DECLINED
        if claim.status != "success":
            done = [summary]
        elif (
            not act and summary and (state["conversation"]["texts_read"] or len(deeds) > safety["deeds_before_denial"])
        ):
            # A question that was answered in another way: the answer is what the person wants to read.
            done.append(sentence("matter.says", text=summary))
        summary = "\n".join(filter(None, [*known, *done]))
    elif outcome is Outcome.SUCCEEDED and (wrong := [*known, *_not_done(state, context, view, act)]):
        if rounds == 0:
            return _once_more(" ".join(wrong), update)
        unclear = [matter for matter in matters if matter.fate is MatterStatus.UNCERTAIN]
        outcome = Outcome.UNVERIFIED if len(unclear) == len(wrong) else Outcome.FAILED
        summary = "\n".join([*wrong, *done])
    elif (
        outcome is Outcome.SUCCEEDED
        and context.config.models.vision.name != PILOT
        and not is_proven(state)
        and not _shows_it(state, context, view)
    ):
        try:
            verdict, usage = await context.control.guard(verify(state, context, view, claim))
        except Stopped:
            return Command(goto="check_loop")
        update = joined(update, {"progress": {"usage": (spent(state["progress"]) + usage).data()}})
        if isinstance(verdict, str) or not verdict.proven:
            reason = verdict if isinstance(verdict, str) else verdict.reason
            if not isinstance(verdict, str) and rounds == 0:
                return _once_more(reason, update)
            outcome = Outcome.UNVERIFIED
            summary = sentence("ended.unproven", summary=summary, why=reason).strip()
    await keep_names(state, context, view, outcome)
    told = context.mask.cover_data(action_data(claim))
    read = recorded_words(told, told["data"] or "", view.for_model.observation)
    result = result_of(outcome, summary, claim.data or state["conversation"]["notes_summary"])
    finished: ExecutorState = {
        "step": {
            "performed": [kept(context.actions.describe(claim, None))],
            "recorded_actions": [read.model_dump(mode="json")],
        },
        "progress": {
            "result": {
                **result,
                "on_screen": bool(claim.data) and not read.touches,
                "needs_model": None if claim.needs_model is None else claim.needs_model.model_dump(mode="json"),
            }
        },
    }
    return Command(goto="executor_exit", update=joined(update, finished))


def _shows_it(state: ExecutorState, context: RunContext, view: ScreenView) -> bool:
    """Whether code can see that the task is done; not if words of the screen are covered."""
    seen = view.observation
    return not context.mask.covers_words(seen) and is_shown(state, context.memory.screen_history, seen)


def _not_done(state: ExecutorState, context: RunContext, view: ScreenView, act: Act) -> list[str]:
    """Return what a claim of success omits although code can see it: a message still in its field, or that nothing was
    done at all for a task that requires an action.
    """
    seen = view.observation
    lines = unsent(state, seen, seen.app_name or context.policy.app_name(seen.package))
    if context.config.models.vision.name == PILOT:
        return lines  # it follows each clause to its end, and a screenshot needs no action
    found = act == "looks" and state["conversation"]["texts_read"]
    if act in {"does", "looks"} and not (found or state["safety"]["has_acted"] or state["order"]["plan"]):
        lines.append(sentence("matter.nothing"))
    return lines


def _once_more(reason: str, update: ExecutorState) -> Route:
    """Give the model one more round, telling it what is missing."""
    told = f"Not proven yet that the task is done: {reason} Do what is missing, or show it."
    more: ExecutorState = {
        "progress": {"verify_rounds": 1},
        "step": {"performed": [kept(words("did.unproven"))], "effects": effects_data([PlainText(text=reason)])},
        "conversation": {"model_notices": [told]},
    }
    return Command(goto="check_loop", update=joined(update, more))
