"""call_user: waits for a person. Nothing happens in this node before the interrupt: it runs again on resume."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from agent.actions import action_from
from agent.describing import describe
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ANSWERED, ExecutorState, ended
from agent.graph.executor.steps import close_step
from agent.outcome import Outcome
from agent.questions import ALLOW, Answer, Question, QuestionKind
from agent.wording import sentence

UNLOCKED = "The phone was locked. A person says that it is unlocked now."
STUCK = "You went in circles, so the person was asked how to go on. The person answered: {answer}"


async def call_user(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["screenshot", "execute_action", "check_loop", "executor_exit"]]:
    """Hand the answer on: to the model, or to the action that it allows."""
    answer = Answer.model_validate(interrupt(state["question"]))
    context = runtime.context
    asked = Question.model_validate(state["question"])
    context.live.fresh = None
    if context.control.cancelled:
        return Command(goto="check_loop")
    if answer.expired:
        summary = sentence("ended.no_answer", question=asked.text)
        return Command(goto="executor_exit", update={"result": ended(Outcome.BLOCKED, summary)})
    if state.get("aside"):
        told = UNLOCKED if asked.kind is QuestionKind.TAKE_OVER else STUCK.format(answer=answer.text)
        update = {"question": None, "aside": False, "history": [], "told": [*state["told"], told]}
        return Command(goto="screenshot", update=update)
    allowed = asked.kind is QuestionKind.APPROVE and answer.text == ALLOW
    if allowed or asked.kind is QuestionKind.SECRET:
        secret = answer.text if asked.kind is QuestionKind.SECRET else None
        return Command(goto="execute_action", update={"approved": state["index"], "secret": secret, "question": None})
    did, effect = list(state["did"]), list(state["effect"])
    if asked.kind is QuestionKind.APPROVE:
        what = describe(action_from(state["decision"]["actions"][state["index"]]), context.live.sight)
        did.append(f"not allowed: {what}")
        told = f"A person did not allow it: {what}. Do not try it again; go on without it, or finish with failure."
    elif asked.kind is QuestionKind.TAKE_OVER:
        told = "The person has finished on the phone. Look what has changed."
    else:
        told = f"You asked: {asked.text} The person answered: {answer.text}"
        effect.append(f"{ANSWERED}{answer.text}")
    return Command(goto="screenshot", update=close_step(state, context, did=did, effect=effect, told=[told]))
