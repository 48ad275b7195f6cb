"""The executor graph's state: plain JSON data, with pictures stored elsewhere and referenced by name.

The state is a tree with one branch per subject. A node returns only the keys that it changes, grouped by subject
(`{"step": {"status": None}}`). The reducer `merged` overwrites these keys in the branch and keeps the others. `joined`
combines several updates. Lists are never changed in place, because the last checkpoint holds the same objects.
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
from agent.run import Outcome
from agent.scene import ImagePart, PastStep, StepFailure, StepStatus
from agent.wording import restored, words
from devices.geometry import Size
from devices.wording import Words, said

VERSION: Final = 1
"""The version of this state's layout, stored in the state."""

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
"""A plain text, or one of the service's own sentences as JSON data (`agent.wording.kept`)."""


class FailureData(TypedDict):
    """An `agent.scene.StepFailure` as plain data: why an action was not done, or may not have been done."""

    reason: Sentence
    """The reason, as a sentence for people."""
    uncertain: bool
    """Whether the action may have been done anyway."""
    unknown_app: bool
    """Whether the phone has no app of the name that was to be opened."""


class ReplyData(TypedDict):
    """A model's unparsed reply as plain data, so that it can be parsed again after a restart."""

    text: str
    """The text of the reply, without its tool calls."""
    reasoning: str
    """The model's reasoning, if its endpoint returns it."""
    tool_calls: list[dict[str, str]]
    """The tool calls, each with `id`, `name` and `arguments`."""
    finish_reason: NotRequired[str]
    """Why the reply ended, as the endpoint reports it; "recorded" if a recorded skill replied instead of a model."""
    memo: NotRequired[dict[str, Any]]
    """Plain data that the model stored with its reply for its own later use."""
    model: NotRequired[str]
    """The name of the model for which the request was rendered."""


class DecisionData(TypedDict):
    """The parsed content of a reply: the actions to do, and why."""

    thought: str
    """The model's reason for its actions, in its own words."""
    summary: str
    """What the model does, in its own words, for the card in the chat."""
    actions: list[dict[str, Any]]
    """The actions as plain data, in order."""


class SummaryData(TypedDict):
    """A summary that replaces the oldest past steps in what the model is shown."""

    steps: int
    """How many past steps the summary covers, counted from the first."""
    text: str
    """The summary. It is shown to the model as data."""
    tried: int
    """After a failed attempt to summarise: the number of past steps at which it is tried again; otherwise 0."""


class ResultData(TypedDict):
    """How the sub-task ended."""

    outcome: str
    """The value of an `agent.run.Outcome`."""
    summary: str
    """A sentence for people about how the sub-task ended."""
    data: str | None
    """The information that the task asked for; None if there is none."""
    on_screen: NotRequired[bool]
    """Whether every line of `data` was a label on the last screen."""
    needs_model: NotRequired[dict[str, Any] | None]
    """An `agent.run.NeedsModel` as plain data, if the sub-task is blocked because no model is configured."""


class StepData(TypedDict, total=False):
    """The data of a step that exist both while it is carried out and in the history."""

    number: int
    """The number of the step in the sub-task, from 1."""
    app: str
    """The package of the app in front."""
    frame: str | None
    """The reference of the picture that the model was shown; None if it was shown none."""
    performed: list[Sentence]
    """Sentences about what was done, or what was intended but not done."""
    effects: list[dict[str, Any]]
    """What the actions changed, as plain data (`agent.effect_facts.Effect`)."""
    recorded_actions: list[dict[str, Any]]
    """The actions in the form from which a recorded skill can be made
    (`agent.recorded_skills.step_record.RecordedAction`).
    """
    status: str | None
    """What became of the last action, as a value of `agent.scene.StepStatus`. None means that it was done, as far as is
    known.
    """
    failure: FailureData | None
    """Why the last action was not done; None if it was."""


class StepState(StepData, total=False):
    """The current step."""

    picture_size: list[int]
    """Width and height in pixels of the picture that the model was shown. The points in its actions are in these
    pixels.
    """
    app_name: str
    """The name that people know the app in front by."""
    reply: ReplyData
    """The last reply of the acting model."""
    decision: DecisionData
    """The parsed content of that reply."""
    action_index: int
    """The index in the decision of the next action to do, from 0."""
    touch_point: list[int] | None
    """Where the screen was touched (x, y), in pixels of the picture; None if it was not touched."""
    readings: list[dict[str, Any]]
    """What the independent reader, a second model, said about presses of this step
    (`agent.guards.reading.PressReading`).
    """
    unreported: dict[str, Any] | None
    """The `Step` event of the previous step, held back until it is known what its action changed (see
    `agent.graph.executor.steps`); None if there is none.
    """


class PastData(StepData):
    """A finished step in the history, from which an `agent.scene.PastStep` is made."""

    reply: str
    """The model's reply with its tool calls, in the form in which it is shown to the model again."""
    picture_size: list[int]
    """Width and height in pixels of the picture that the model was shown. The points in the step are in these pixels.
    """
    thought: str
    """The model's reason for this step, in its own words."""
    memo: dict[str, Any]
    """Plain data that the model stored with its reply for its own later use."""
    model: str
    """The name of the model that took the step; "" if no model was asked."""


class OrderState(TypedDict, total=False):
    """What is to be done. No node changes this subject."""

    run: str
    """The id of the run."""
    subtask: int
    """The number of the sub-task in the run, from 1."""
    phone: str
    """The stable id of the phone on which the sub-task began."""
    task: str
    """The person's whole request."""
    goal: str
    """What this sub-task is to achieve."""
    plan: str
    """The plan that the sub-task belongs to and the form that its result must have, as text; "" if there is neither."""
    max_steps: int
    """The maximum number of steps."""
    files: list[str]
    """The paths on the phone of the files that came with the task."""


class QuestionState(TypedDict, total=False):
    """The open question to a person, and what the answer permits."""

    pending: dict[str, Any] | None
    """The open question (`agent.questions.Question`) as plain data; None if there is none."""
    between_steps: bool
    """Whether the question was asked between two steps, and not because of an action."""
    between_steps_count: int
    """How many questions the run has asked between steps."""
    answered_count: int
    """How many questions of the sub-task have been answered."""
    binding: dict[str, Any] | None
    """What the answer applies to: the action's target and what was shown around it, as data (see
    `agent.graph.executor.anchors`). None if it applies to no target.
    """
    approved_action: int | None
    """The index in the decision of the action that a person approved; None if there is none."""
    standing_yes: dict[str, Any] | None
    """The approval given in advance (`agent.questions.StandingYes`) that lets the current action pass without a
    question; None if there is none.
    """
    secret: str | None
    """The id of a secret that a person entered and that is to be typed; None if there is none. Its value is only in
    memory.
    """


class CopiedText(TypedDict):
    """The text that was copied in this run, and the package of the app that it comes from."""

    app: str
    text: str


class SafetyState(TypedDict, total=False):
    """What the gate, which decides whether a person is asked before an action, needs to know about the run and the
    sub-task.
    """

    denials: dict[str, int]
    """How often the run tried something that a person denied, by the digest that identifies the consequence of the
    action.
    """
    matters: list[dict[str, Any]]
    """Actions of the run that the gate stopped, and what became of each (`agent.graph.executor.matters.Matter`)."""
    has_acted: bool
    """Whether the run has done any action that may have changed something; looking something up does not count."""
    deeds: list[Sentence]
    """Sentences about actions of the sub-task that were done without a question."""
    deeds_before_denial: int
    """How many entries of `deeds` precede the last denial by a person."""
    changed_screens: dict[str, int]
    """How often in the sub-task the screen changed between a person's approval and the action, by the digest of the
    control.
    """
    approved_frames: dict[str, str]
    """The reference of the picture that a person was shown when they approved such an action whose screen then changed,
    by the digest of the control.
    """
    standing: list[dict[str, Any]]
    """The approvals that a person gave the run in advance (`agent.questions.StandingYes`)."""
    held_secret: str | None
    """The id of a secret that a person entered before its field was on the screen; None if there is none."""
    secret_fields: list[list[str]]
    """The fields into which the sub-task typed a secret (`agent.guards.secrets.place_of`)."""
    secret_step: int | None
    """The number of the step that typed the last secret of the sub-task; None if there was none."""
    seen_words: Seen
    """The uncommon words, numbers and addresses that each app has shown during the run (`agent.guards.seen_words`)."""
    released_texts: list[list[str]]
    """Pairs of a package and a text that a person allowed to leave the phone during the run."""
    secret_places: list[list[str]]
    """The places on screens where secrets were seen during the run (`agent.guards.masking`)."""
    readable_apps: list[str]
    """The packages of apps that forbid screenshots but whose words a person allows the model to read during the run."""
    moved: list[str]
    """New paths of files and folders that the run has moved or may have moved. The task does not mention these names,
    so sending such a file needs an approval.
    """
    copied: CopiedText | None
    """What the run copied and may paste; None if nothing. Other content of the phone's clipboard is unknown and never
    pasted.
    """


class ConversationState(TypedDict, total=False):
    """What the acting model is told, and what it and the person have said."""

    model_notices: list[str]
    """News for the model's next request: why a reply was unusable, a person's answer, or a reminder."""
    user_messages: list[str]
    """What the person answered or wrote during the run."""
    steering_notes: list[Sentence]
    """Instructions that the person wrote during the run, for the model to follow."""
    notes: list[str]
    """What the model noted during the task."""
    notes_summary: str | None
    """The last summary of the notes. It is the data of the result unless the model states other data. None if there is
    none.
    """
    texts_read: list[str]
    """Texts by others that the model is shown as data, such as web pages and search results."""
    addresses_found: list[str]
    """The addresses that searches returned during the run."""
    sources: list[dict[str, str]]
    """The pages that the sub-task read (`agent.events.Source`)."""
    past_summary: SummaryData | None
    """The summary of the oldest steps; None if there is none. `past` still contains all steps."""
    input_tokens: int
    """How many tokens the last request to the acting model contained."""
    overflow: str
    """How a request that was too long for the model is being handled: "refused" until the past is summarised, then
    "summed up" until the model answers; otherwise "".
    """
    no_past_frames: bool
    """Whether the model is shown no pictures of past steps any more, because a request was too long for it."""
    by_list: str
    """The name of the model that is shown only element lists, because it returned several empty replies to pictures in
    a row; "" if there is none.
    """


class ProgressState(TypedDict, total=False):
    """The progress of the sub-task, its token usage and its result."""

    bad_replies: int
    """How many unusable replies the model has given in a row."""
    verify_rounds: int
    """How often the model was told that its claim of success is not proven."""
    moves: list[list[str]]
    """The latest moves for the loop guard, each as screen before, what was tried, screen after
    (`agent.guards.loop_detection.Move`).
    """
    given_up: int
    """How many sub-tasks of the run ended because nothing changed any more."""
    usage: dict[str, Any]
    """The tokens used by the sub-task (`agent.models.base.Usage`)."""
    result: ResultData | None
    """The result of the sub-task; None while it runs."""


class ExecutorState(TypedDict, total=False):
    """The state of one sub-task of a run."""

    version: int
    """The version of the state's layout (`VERSION`)."""
    order: Annotated[OrderState, merged]
    """What is to be done."""
    step: Annotated[StepState, merged]
    """The current step."""
    question: Annotated[QuestionState, merged]
    """The open question to a person."""
    safety: Annotated[SafetyState, merged]
    """What the gate needs to know."""
    conversation: Annotated[ConversationState, merged]
    """What the acting model is told."""
    progress: Annotated[ProgressState, merged]
    """The progress of the sub-task."""
    past: list[PastData]
    """All finished steps, oldest first."""


NO_STEP: Final[StepState] = {
    "performed": [],
    "effects": [],
    "recorded_actions": [],
    "status": None,
    "failure": None,
    "touch_point": None,
    "readings": [],
}
"""The values of a step in which nothing was done yet."""
NO_QUESTION: Final[QuestionState] = {
    "pending": None,
    "between_steps": False,
    "binding": None,
    "approved_action": None,
    "standing_yes": None,
    "secret": None,
}
"""The values while no question is open."""


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
"""The initial values of what lasts for all sub-tasks of a run. The order, the notes and the approvals given in advance
are set separately.
"""
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
"""The values with which each sub-task begins."""


REASONS_WITHIN: Final = 6
"""How many of the last steps are searched for a repeated failure reason."""


def joined(*updates: ExecutorState) -> ExecutorState:
    """Combine several updates into one, or apply updates to a state. For a key in two of them, the later one wins."""
    return cast("ExecutorState", joined_subjects(updates))


def performed_of(step: StepData) -> tuple[str, ...]:
    """Return sentences about what a step did."""
    return tuple(map(restored, step["performed"]))


def did_as(status: StepStatus, what: Words) -> Words:
    """Return the sentence that says what became of the action `what`: `what` itself if it was done, otherwise for
    example that it was refused.
    """
    return what if status is StepStatus.DONE else words(f"did.{status}", what=what)


def status_of(step: StepData) -> StepStatus:
    """Return what became of a step's last action; DONE if the step has no status."""
    return StepStatus.DONE if step["status"] is None else StepStatus(step["status"])


def unsummed(state: ExecutorState) -> list[PastData]:
    """Return the past steps that no summary covers, which the model is still shown one by one."""
    summary = state["conversation"]["past_summary"]
    return state["past"][summary["steps"] :] if summary else state["past"]


def past_line(step: PastData) -> str:
    """Describe a past step in one line of English, for models other than the acting one."""
    return f"{' · '.join(performed_of(step))} → {in_english(effects_of(step['effects']))}"


def last_reason(past: Sequence[PastData]) -> tuple[str, int]:
    """Return the latest reason for which an action of the last `REASONS_WITHIN` steps was not done, as text for people,
    and how many of these steps failed for the same reason; ("", 0) if there is no reason.
    """
    reasons = [each["failure"]["reason"] for each in past[-REASONS_WITHIN:] if each["failure"] is not None]
    told = [reason for reason in reasons if reason]
    return (said(restored(told[-1])), told.count(told[-1])) if told else ("", 0)


def result_of(outcome: Outcome, summary: str, data: str | None = None) -> ResultData:
    """Return a result as plain data."""
    return {"outcome": outcome.value, "summary": summary, "data": data}


def ending(outcome: Outcome, summary: str) -> ExecutorState:
    """Return the update that ends the sub-task with this outcome. `summary` tells people how it ended."""
    return {"progress": {"result": result_of(outcome, summary)}}


def ending_by(error: Exception) -> ExecutorState:
    """Return the update that ends the sub-task because of this error, with the error's outcome and sentence."""
    fault = fault_of(error)
    return ending(fault.outcome, fault.sentence)


def reply_of(step: StepState) -> ModelReply:
    """Rebuild the last reply of a step from its plain data."""
    data = step["reply"]
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return ModelReply(data["text"], calls, reasoning=data["reasoning"], finish_reason=data.get("finish_reason", ""))


def why_unusable(reply: ModelReply, error: BadReply) -> str:
    """Explain to the model why its reply could not be used. A reason in how the reply ended, such as being cut off,
    comes before the parsing error.
    """
    if reply.finish_reason == "length":
        return f"It was cut off because it was too long; think and write less. {error}"
    if reply.finish_reason == "content_filter":
        return f"It was stopped by the content filter of your endpoint. Say less about the content. {error}"
    if is_empty(reply):
        return f"It was empty. {error}"
    return str(error)


def is_empty(reply: ModelReply) -> bool:
    """Whether the reply has neither text nor tool calls, whatever its reasoning."""
    return not (reply.text.strip() or reply.tool_calls)


def reply_text(reply: ModelReply) -> str:
    """Return the reply's text and its tool calls, in the form in which the model is shown them again."""
    calls = "\n".join(f'{{"name": "{call.name}", "arguments": {call.arguments}}}' for call in reply.tool_calls)
    return "\n".join(part for part in (reply.text, calls) if part)


def past_step(step: PastData, *, image: ImagePart | None, shown: str, retold: bool) -> PastStep:
    """Build the `PastStep` that the acting model is shown for a past step.

    `image` is its picture if it is still within the image window. `shown` is the text that was shown next to it, if
    that is to be repeated, otherwise "". `retold` means that the step is only shown in words, because another model
    took it or a later one.
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
