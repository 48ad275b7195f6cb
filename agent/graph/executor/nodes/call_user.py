"""call_user: waits for a person's answer. Nothing happens in it before the interrupt, because the node runs
again on resume.
"""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from agent.effect_facts import Answered, DoneByHand, Effect, NotAllowed, effects_data
from agent.graph.executor.approvals import counted, standing_after
from agent.graph.executor.context import RunContext
from agent.graph.executor.matters import MatterStatus, with_matter, without
from agent.graph.executor.state import ConversationState, ExecutorState, SafetyState, StepState, did_as, ending, joined
from agent.graph.executor.steps import close_step
from agent.questions import ALLOW, ALLOW_FOR_TASK, Answer, Question, QuestionKind
from agent.run import Outcome
from agent.scene import StepStatus
from agent.wording import kept, sentence

Next = Literal["screenshot", "execute_action", "check_loop", "executor_exit"]
Route = Command[Next]

UNLOCKED = "The phone was locked. A person says that it is unlocked now."
NOT_ALLOWED = (
    "A person did not allow it: {what}. Do not try it again; go on without it, or finish with failure and say what was "
    "done and what was not."
)
STUCK = "You went in circles, so the person was asked how to go on. The person answered: {answer}"


async def call_user(state: ExecutorState, runtime: Runtime[RunContext]) -> Route:
    """Wait for the answer to the open question, then pass it on to the model or to the action that it permits."""
    answer = Answer.model_validate(interrupt(state["question"]["pending"]))
    goto, update = _taken(state, runtime.context, answer)
    answered: ExecutorState = {"question": {"answered_count": state["question"]["answered_count"] + 1}}
    return Command(goto=goto, update=joined(update, answered))


def _taken(state: ExecutorState, context: RunContext, answer: Answer) -> tuple[Next, ExecutorState]:
    asked = Question.model_validate(state["question"]["pending"])
    context.screen.expire()
    if context.control.cancelled:
        return "check_loop", {}
    if answer.expired:
        return "executor_exit", ending(Outcome.BLOCKED, sentence("ended.no_answer", question=asked.text))
    step, safety, conversation = state["step"], state["safety"], state["conversation"]
    messages = conversation["user_messages"]
    if asked.kind is QuestionKind.ASK:
        messages = [*messages, answer.text]
    if state["question"]["between_steps"]:
        notice = UNLOCKED if asked.kind is QuestionKind.TAKE_OVER else STUCK.format(answer=answer.text)
        told: ConversationState = {
            "user_messages": messages,
            "model_notices": [*conversation["model_notices"], notice],
        }
        if asked.kind is QuestionKind.ASK:
            told["steering_notes"] = [*conversation["steering_notes"], answer.text]
        return "screenshot", {
            "question": {"pending": None, "between_steps": False},
            "progress": {"moves": []},
            "conversation": told,
        }
    allowed = asked.kind is QuestionKind.APPROVE and (
        answer.text == ALLOW or (answer.text == ALLOW_FOR_TASK and asked.to is not None)
    )
    if allowed or asked.kind is QuestionKind.SECRET:
        secret = answer.text if asked.kind is QuestionKind.SECRET else None
        return "execute_action", {
            "question": {"approved_action": step["action_index"], "secret": secret, "pending": None},
            "safety": {"standing": standing_after(state, asked, answer)},
        }
    closing: StepState = {}
    changed: SafetyState = {}
    binding = state["question"]["binding"] or {}
    effect: Effect
    if asked.kind is QuestionKind.APPROVE:
        action = context.actions.action_from(step["decision"]["actions"][step["action_index"]])
        what = context.actions.describe(action, context.screen.view)
        closing["status"] = StepStatus.NOT_ALLOWED.value
        closing["performed"] = [*step["performed"], kept(did_as(StepStatus.NOT_ALLOWED, what))]
        notice = NOT_ALLOWED.format(what=what)
        effect = NotAllowed(consequence=asked.consequence, text=binding.get("typed", ""))
        changed["denials"] = counted(safety["denials"], binding.get("consequence"), 1)
        changed["deeds_before_denial"] = len(safety["deeds"])
        changed["matters"] = with_matter(safety["matters"], MatterStatus.DENIED, binding, state["order"]["subtask"])
    elif asked.kind is QuestionKind.TAKE_OVER:
        changed["changed_screens"] = counted(safety["changed_screens"], binding.get("control"), 0)
        changed["has_acted"] = True
        changed["matters"] = without(safety["matters"], MatterStatus.NOT_DONE)
        effect = DoneByHand()
        notice = "The person has finished on the phone. Look what has changed."
    else:
        notice = f"You asked: {asked.text} The person answered: {answer.text}"
        effect = Answered(text=answer.text)
    closing["effects"] = [*step["effects"], *effects_data([effect])]
    told = {"user_messages": messages, "model_notices": [notice]}
    return "check_loop", joined(close_step(state, context, closing), {"conversation": told, "safety": changed})
