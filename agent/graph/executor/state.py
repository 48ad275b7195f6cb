"""What the executor graph keeps between its nodes: plain data only, pictures by reference.

The state is a tree with one branch for each subject. A node returns, by subject, the keys that are new (`{"step":
{"status": None}}`); `merged` puts them into the branch and leaves its other keys as they are. Updates are put together
by `joined`. Lists are never changed in place: what a node was given is what the last checkpoint has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict, cast

from agent.dialects.base import BadReply
from agent.effect_facts import effects_of, in_english
from agent.error_mapping import fault_of
from agent.graph.subjects import joined_subjects, merged
from agent.guards.seen_words import Seen
from agent.models.base import ModelReply, ToolCall
from agent.outcome import Outcome
from agent.picture import ImagePart
from agent.scene import PastStep, StepFailure, StepStatus
from agent.wording import restored, words
from devices.geometry import Size
from devices.wording import Words, said

VERSION: Final = 1
"""Of the shape of this state, kept with it."""

Node = Literal[
    "executor_entry",
    "screenshot",
    "vision_model",
    "action_summary",
    "parse_action",
    "execute_action",
    "call_user",
    "check_loop",
    "sum_up_past",
    "executor_exit",
]

Sentence = str | dict[str, Any]
"""A text, or a sentence of ours as `agent.wording.kept` has it."""


class FailureData(TypedDict):
    """Why an action was not done (see agent.scene.StepFailure)."""

    reason: Sentence
    """For people."""
    uncertain: bool
    """Whether it may have been done all the same."""
    unknown_app: bool
    """Whether the phone has no app of the name that was to be opened."""


class ReplyData(TypedDict):
    """A model's reply as it came, ready to be parsed (again)."""

    text: str
    """What it said, calls of tools excepted."""
    reasoning: str
    """What it thought aloud, where its endpoint tells."""
    tool_calls: list[dict[str, str]]
    """The calls of tools, each with `id`, `name` and `arguments`."""
    finish_reason: NotRequired[str]
    """How the answer ended; "recorded" where a recorded skill has answered."""
    memo: NotRequired[dict[str, Any]]
    """What the model keeps with its answer, for itself."""
    model: NotRequired[str]
    """The name of the model for which the request was rendered."""


class DecisionData(TypedDict):
    """A reply, understood."""

    thought: str
    """Why the model does this, in its words."""
    summary: str
    """What it does, in its words, for the card."""
    actions: list[dict[str, Any]]
    """The actions as plain data, in order."""


class SummaryData(TypedDict):
    """What the first steps of the past have come to, summed up."""

    steps: int
    """How many steps the text stands for."""
    text: str
    """The summary, which is data for the model."""
    tried: int
    """The number of past steps before which it is not tried again, after a failure."""


class ResultData(TypedDict):
    """How the sub-task ended."""

    outcome: str
    """An agent.outcome.Outcome."""
    summary: str
    """The end in a sentence, for people."""
    data: str | None
    """What was asked for."""
    on_screen: NotRequired[bool]
    """Whether every line of `data` was a label on the last screen."""
    needs_model: NotRequired[dict[str, Any] | None]
    """The plain form of an agent.outcome.NeedsModel, where it took a model."""


class StepData(TypedDict, total=False):
    """What a step is, while it is taken and afterwards."""

    number: int
    """The number of the step in the sub-task, from 1."""
    app: str
    """The package of the app in front."""
    frame: str | None
    """The picture that the model was shown, by reference."""
    performed: list[Sentence]
    """What was done, or was to be done and was not."""
    effects: list[dict[str, Any]]
    """What that has changed (agent.effect_facts.Effect)."""
    recorded_actions: list[dict[str, Any]]
    """What a recorded skill can be made of (agent.recorded_skills.step_record.RecordedAction)."""
    status: str | None
    """What became of the last action (agent.scene.StepStatus); None for done, or not known to be anything else."""
    failure: FailureData | None
    """Why the last action was not done."""


class StepState(StepData, total=False):
    """The step that is being taken."""

    picture_size: list[int]
    """Width and height of the picture that the model was shown: points of its actions are in these pixels."""
    app_name: str
    """What people call the app in front."""
    reply: ReplyData
    """The last answer of the acting model."""
    decision: DecisionData
    """What that answer decides."""
    action_index: int
    """The place of the next action of the decision, from 0."""
    touch_point: list[int] | None
    """Where the touch went, in pixels of the picture."""
    readings: list[dict[str, Any]]
    """What the independent reader said of presses of this step (agent.guards.reading.PressReading)."""
    unreported: dict[str, Any] | None
    """The event of the step before, until it is known what its action changed (see agent.graph.executor.steps)."""


class PastData(StepData):
    """One step taken (see agent.scene.PastStep)."""

    reply: str
    """The model's answer with its calls of tools, as it is shown to it again."""
    picture_size: list[int]
    """Width and height of the picture in whose pixels its places are."""
    thought: str
    """Why the model did this, in its words."""
    memo: dict[str, Any]
    """What the model has kept with its answer, for itself."""
    model: str
    """The name of the model that took it, "" where no model was asked."""


class OrderState(TypedDict, total=False):
    """What is to be done; no node changes it."""

    run: str
    """The id of the run."""
    subtask: int
    """The number of the sub-task in the run, from 1."""
    phone: str
    """The stable id of the phone that the sub-task was begun on."""
    task: str
    """What the person asked, in full."""
    goal: str
    """What this sub-task is to reach."""
    plan: str
    """The plan that the sub-task is a part of, and the form that the result is to have; "" for neither."""
    max_steps: int
    """How many steps may be taken."""
    files: list[str]
    """The paths on the phone of what came with the task."""


class QuestionState(TypedDict, total=False):
    """What a person is asked, and what their answer allows."""

    pending: dict[str, Any] | None
    """The open question (agent.questions.Question)."""
    between_steps: bool
    """Whether it was asked between two steps, by no action."""
    between_steps_count: int
    """How many such questions the run has asked."""
    answered_count: int
    """How many questions of the sub-task were answered."""
    binding: dict[str, Any] | None
    """What the answer is bound to: the target and what was shown around it (see agent.graph.executor.anchors)."""
    approved_action: int | None
    """The place, in the decision, of the action that a person has allowed."""
    standing_yes: dict[str, Any] | None
    """The permission given ahead that lets this action pass without a question (agent.standing_yes.StandingYes)."""
    secret: str | None
    """The id of a secret that a person has given and that is to be typed; its value is in memory only."""


class CopiedText(TypedDict):
    """What was copied in the task, and the package of the app that it was copied from."""

    app: str
    text: str


class SafetyState(TypedDict, total=False):
    """What the gate has to know of the run and of the sub-task."""

    denials: dict[str, int]
    """How often in the run something was tried that a person has not allowed, by its consequence."""
    matters: list[dict[str, Any]]
    """What the run was held up at, and what became of it (agent.graph.executor.matters.Matter)."""
    has_acted: bool
    """Whether the run has changed anything at all."""
    deeds: list[Sentence]
    """What was done in the sub-task without a question."""
    deeds_before_denial: int
    """How many of the deeds came before the last thing that a person did not allow."""
    changed_screens: dict[str, int]
    """How often in the sub-task the screen was another one when a person had allowed something, by its control."""
    approved_frames: dict[str, str]
    """The pictures that a person was shown with what they allowed in the sub-task, by its control."""
    standing: list[dict[str, Any]]
    """What a person has allowed ahead in the run (agent.standing_yes.StandingYes)."""
    held_secret: str | None
    """The id of a secret that was given before there was a field for it; the run keeps it."""
    secret_fields: list[list[str]]
    """The fields of the sub-task that got a secret (agent.guards.typed.place_of)."""
    secret_step: int | None
    """The number of the step that typed the last secret of the sub-task."""
    seen_words: Seen
    """Which words the apps have shown in the run (agent.guards.seen_words)."""
    released_texts: list[list[str]]
    """What a person has let out of the phone in the run: pairs of app and text."""
    secret_places: list[list[str]]
    """The places where secrets were seen in the run (agent.guards.masking)."""
    readable_apps: list[str]
    """The apps that forbid pictures and whose words a person lets the model read in the run."""
    moved: list[str]
    """Files and folders that the run has moved, as they are called since, also where it is not known whether it has:
    the new names are no words of the task.
    """
    copied: CopiedText | None
    """What is pasted in the run: nothing else that lies on the phone's clipboard is known."""


class ConversationState(TypedDict, total=False):
    """What the acting model is told, and what it and the person have said."""

    model_notices: list[str]
    """What the model is told next: why an answer could not be used, an answer of the person, a reminder."""
    user_messages: list[str]
    """What the person has answered or written in the run."""
    steering_notes: list[Sentence]
    """What the person has written in the run for the model to follow."""
    notes: list[str]
    """What the model has noted in the task."""
    notes_summary: str | None
    """The last summing up of the notes: the data of the sub-task unless the model names other data."""
    texts_read: list[str]
    """Texts of others that the model is shown as data: pages, results of searches."""
    addresses_found: list[str]
    """The addresses that searches of the run have returned."""
    sources: list[dict[str, str]]
    """The pages that the sub-task has read (agent.events.Source)."""
    past_summary: SummaryData | None
    """What the first steps of the past were summed up to; the past keeps all of them as the record."""
    input_tokens: int
    """How many tokens the acting model was last sent."""
    overflow: str
    """What became of a request that was too long for the model: "refused", then "summed up" until it has answered."""
    no_past_frames: bool
    """Whether the model is shown no pictures of the past, because a request was too long for it."""
    by_list: str
    """The model that is shown no pictures at all, because it has said nothing to several in a row; "" for none."""


class ProgressState(TypedDict, total=False):
    """How far the sub-task has come, what that has cost and how it ended."""

    bad_replies: int
    """Answers of the model in a row that could not be used."""
    verify_rounds: int
    """How often the model was told that the task is not proven to be done."""
    moves: list[list[str]]
    """Screen before, what was tried, screen after, for the guard against loops (agent.guards.loop_detection.Move)."""
    given_up: int
    """How many sub-tasks of the run have ended because nothing moved."""
    usage: dict[str, Any]
    """The tokens of the sub-task (agent.models.base.Usage)."""
    result: ResultData | None
    """How the sub-task has ended."""


class ExecutorState(TypedDict, total=False):
    """The state of one sub-task of a run."""

    version: int
    """The shape of the state (`VERSION`)."""
    order: Annotated[OrderState, merged]
    """What is to be done."""
    step: Annotated[StepState, merged]
    """The step that is being taken."""
    question: Annotated[QuestionState, merged]
    """What a person is asked."""
    safety: Annotated[SafetyState, merged]
    """What the gate has to know."""
    conversation: Annotated[ConversationState, merged]
    """What the acting model is told."""
    progress: Annotated[ProgressState, merged]
    """How far the sub-task has come."""
    past: list[PastData]
    """The steps taken, all of them."""


NO_STEP: Final[StepState] = {
    "performed": [],
    "effects": [],
    "recorded_actions": [],
    "status": None,
    "failure": None,
    "touch_point": None,
    "readings": [],
}
"""Of a step that has done nothing yet."""
NO_QUESTION: Final[QuestionState] = {
    "pending": None,
    "between_steps": False,
    "binding": None,
    "approved_action": None,
    "standing_yes": None,
    "secret": None,
}
"""Of a step in which nobody is asked anything."""


NEW_RUN: Final[ExecutorState] = {
    "version": VERSION,
    "question": {"between_steps_count": 0},
    "safety": {
        "denials": {},
        "matters": [],
        "has_acted": False,
        "held_secret": None,
        "seen_words": {},
        "released_texts": [],
        "secret_places": [],
        "readable_apps": [],
        "moved": [],
        "copied": None,
    },
    "conversation": {
        "user_messages": [],
        "steering_notes": [],
        "addresses_found": [],
        "no_past_frames": False,
        "by_list": "",
    },
    "progress": {"given_up": 0},
}
"""What a run keeps over all its sub-tasks, besides the order, its notes and what was allowed ahead."""
NEW_SUBTASK: Final[ExecutorState] = {
    "step": {
        **NO_STEP,
        "number": 1,
        "frame": None,
        "picture_size": [],
        "app": "",
        "app_name": "",
        "reply": {"text": "", "reasoning": "", "tool_calls": []},
        "decision": {"thought": "", "summary": "", "actions": []},
        "action_index": 0,
        "unreported": None,
    },
    "question": {**NO_QUESTION, "answered_count": 0},
    "safety": {
        "deeds": [],
        "deeds_before_denial": 0,
        "changed_screens": {},
        "approved_frames": {},
        "secret_fields": [],
        "secret_step": None,
    },
    "conversation": {
        "model_notices": [],
        "notes_summary": None,
        "texts_read": [],
        "sources": [],
        "past_summary": None,
        "input_tokens": 0,
        "overflow": "",
    },
    "progress": {"bad_replies": 0, "verify_rounds": 0, "moves": [], "usage": {}, "result": None},
    "past": [],
}
"""What each sub-task begins anew."""


REASONS_WITHIN: Final = 6
"""Steps within which the same reason of the phone counts as one trouble."""


def joined(*updates: ExecutorState) -> ExecutorState:
    """Several updates as one, or a state with an update; of what two of them have, the later counts."""
    return cast("ExecutorState", joined_subjects(updates))


def performed_of(step: StepData) -> tuple[str, ...]:
    """What a step did, as sentences."""
    return tuple(map(restored, step["performed"]))


def did_as(status: StepStatus, what: Words) -> Words:
    """The sentence that says `what` was to be done and what became of it."""
    return what if status is StepStatus.DONE else words(f"did.{status}", what=what)


def status_of(step: StepData) -> StepStatus:
    """What became of a step."""
    return StepStatus.DONE if step["status"] is None else StepStatus(step["status"])


def unsummed(state: ExecutorState) -> list[PastData]:
    """The steps of the past that are shown as they were."""
    summary = state["conversation"]["past_summary"]
    return state["past"][summary["steps"] :] if summary else state["past"]


def past_line(step: PastData) -> str:
    """A step taken, as other models than the acting one are told of it."""
    return f"{' · '.join(performed_of(step))} → {in_english(effects_of(step['effects']))}"


def last_reason(past: Sequence[PastData]) -> tuple[str, int]:
    """Why the phone did not do something in the last steps, for people, and in how many of these that was so; ("", 0)
    where there is no such reason.
    """
    reasons = [each["failure"]["reason"] for each in past[-REASONS_WITHIN:] if each["failure"] is not None]
    told = [reason for reason in reasons if reason]
    return (said(restored(told[-1])), told.count(told[-1])) if told else ("", 0)


def result_of(outcome: Outcome, summary: str, data: str | None = None) -> ResultData:
    """A result as plain data."""
    return {"outcome": outcome.value, "summary": summary, "data": data}


def ending(outcome: Outcome, summary: str) -> ExecutorState:
    """The update that ends the sub-task."""
    return {"progress": {"result": result_of(outcome, summary)}}


def ending_by(error: Exception) -> ExecutorState:
    """The update with which a fault ends the sub-task."""
    fault = fault_of(error)
    return ending(fault.outcome, fault.sentence)


def reply_of(step: StepState) -> ModelReply:
    """The last reply of a step."""
    data = step["reply"]
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return ModelReply(data["text"], calls, reasoning=data["reasoning"], finish_reason=data.get("finish_reason", ""))


def why_unusable(reply: ModelReply, error: BadReply) -> str:
    """What was wrong with an answer, in words for the model: how it ended explains more than how it reads."""
    if reply.finish_reason == "length":
        return f"It was cut off because it was too long; think and write less. {error}"
    if reply.finish_reason == "content_filter":
        return f"It was stopped by the content filter of your endpoint. Say less about the content. {error}"
    if is_empty(reply):
        return f"It was empty. {error}"
    return str(error)


def is_empty(reply: ModelReply) -> bool:
    """Whether the model has said nothing at all, its thoughts aside."""
    return not (reply.text.strip() or reply.tool_calls)


def reply_text(reply: ModelReply) -> str:
    """What the model said, calls included, as it is shown to it again."""
    calls = "\n".join(f'{{"name": "{call.name}", "arguments": {call.arguments}}}' for call in reply.tool_calls)
    return "\n".join(part for part in (reply.text, calls) if part)


def past_step(step: PastData, *, image: ImagePart | None, shown: str, retold: bool) -> PastStep:
    """A step taken, as the acting model is shown it: with its picture inside the window, and what stood beside that
    there or for as long as the endpoint keeps it; `retold` as PastStep has it.
    """
    failure = None
    if (data := step["failure"]) is not None:
        failure = StepFailure(restored(data["reason"]), data["uncertain"], data["unknown_app"])
    return PastStep(
        number=step["number"],
        reply=step["reply"],
        thought=step["thought"],
        performed=performed_of(step),
        effects=effects_of(step["effects"]),
        app=step["app"],
        space=Size(*step["picture_size"]),
        image=image,
        image_removed=image is None and step["frame"] is not None,
        shown=shown,
        retold=retold,
        status=status_of(step),
        failure=failure,
        memo=step["memo"],
    )
