"""call_user: waits for a person. Nothing happens in this node before the interrupt: it runs again on resume."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from agent.effect_facts import Answered, DoneByHand, NotAllowed, effects_of
from agent.graph.executor.approvals import counted
from agent.graph.executor.context import RunContext
from agent.graph.executor.matters import MatterFate, done_by_hand, with_fate
from agent.graph.executor.standing import given
from agent.graph.executor.state import ExecutorState, did_as, did_of, ended
from agent.graph.executor.steps import close_step
from agent.outcome import Outcome
from agent.questions import ALLOW, ALLOW_FOR_TASK, Answer, Question, QuestionKind
from agent.scene import StepFate
from agent.wording import sentence

Route = Command[Literal["screenshot", "execute_action", "check_loop", "executor_exit"]]

UNLOCKED = "The phone was locked. A person says that it is unlocked now."
NOT_ALLOWED = (
    "A person did not allow it: {what}. Do not try it again; go on without it, or finish with failure and say what was "
    "done and what was not."
)
STUCK = "You went in circles, so the person was asked how to go on. The person answered: {answer}"


async def call_user(state: ExecutorState, runtime: Runtime[RunContext]) -> Route:
    """Hand the answer on: to the model, or to the action that it allows."""
    answer = Answer.model_validate(interrupt(state["question"]))
    taken = _taken(state, runtime.context, answer)
    return replace(taken, update={**(taken.update or {}), "askings": state.get("askings", 0) + 1})


def _taken(state: ExecutorState, context: RunContext, answer: Answer) -> Route:
    asked = Question.model_validate(state["question"])
    context.screen.expire()
    if context.control.cancelled:
        return Command(goto="check_loop")
    if answer.expired:
        summary = sentence("ended.no_answer", question=asked.text)
        return Command(goto="executor_exit", update={"result": ended(Outcome.BLOCKED, summary)})
    said = [*state.get("said", []), answer.text] if asked.kind is QuestionKind.ASK else state.get("said", [])
    if state.get("aside"):
        told = UNLOCKED if asked.kind is QuestionKind.TAKE_OVER else STUCK.format(answer=answer.text)
        update: ExecutorState = {"question": None, "aside": False, "history": [], "told": [*state["told"], told]}
        update["said"] = said
        if asked.kind is QuestionKind.ASK:
            update["steers"] = [*state.get("steers", []), answer.text]
        return Command(goto="screenshot", update=update)
    allowed = asked.kind is QuestionKind.APPROVE and (
        answer.text == ALLOW or (answer.text == ALLOW_FOR_TASK and asked.to is not None)
    )
    if allowed or asked.kind is QuestionKind.SECRET:
        secret = answer.text if asked.kind is QuestionKind.SECRET else None
        go_on: ExecutorState = {"approved": state["index"], "secret": secret, "question": None}
        return Command(goto="execute_action", update={**go_on, "standing": given(state, asked, answer)})
    did, effect = list(did_of(state["did"])), list(effects_of(state["effect"]))
    fate: StepFate | None = None
    anchor = state.get("anchor") or {}
    counts: dict[str, Any] = {}
    if asked.kind is QuestionKind.APPROVE:
        action = context.actions.action_from(state["decision"]["actions"][state["index"]])
        what = context.actions.describe(action, context.screen.view)
        fate = StepFate.NOT_ALLOWED
        did.append(did_as(fate, what))
        told = NOT_ALLOWED.format(what=what)
        effect.append(NotAllowed(consequence=asked.consequence, text=anchor.get("typed", "")))
        counts["denied"] = counted(state.get("denied", {}), anchor.get("consequence"), 1)
        counts["deeds_before"] = len(state.get("deeds", []))
        counts["matters"] = with_fate(state.get("matters", []), MatterFate.DENIED, anchor, state["subtask"])
    elif asked.kind is QuestionKind.TAKE_OVER:
        counts["unlike"] = counted(state.get("unlike", {}), anchor.get("control"), 0)
        counts |= {"acted": True, "matters": done_by_hand(state.get("matters", []))}
        effect.append(DoneByHand())
        told = "The person has finished on the phone. Look what has changed."
    else:
        told = f"You asked: {asked.text} The person answered: {answer.text}"
        effect.append(Answered(text=answer.text))
    closed = close_step(state, context, did=did, effect=effect, told=[told], fate=fate)
    return Command(goto="check_loop", update={**closed, "said": said, **counts})
