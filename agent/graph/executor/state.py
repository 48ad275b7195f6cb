"""What the executor graph keeps between its nodes: plain data only, pictures by reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from agent.dialects.base import BadReply
from agent.effect_facts import effects_of, in_english
from agent.error_mapping import fault_of
from agent.guards.seen_words import Seen
from agent.models.base import ModelReply, ToolCall, Usage
from agent.outcome import Outcome
from agent.scene import NotDone, StepFate
from agent.wording import restored, words
from devices.wording import Words

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


class NotDoneData(TypedDict):
    """Why an action was not done (see agent.scene.NotDone); the reason as agent.wording keeps it."""

    reason: str | dict[str, Any]
    uncertain: bool
    unknown_app: bool


class PastData(TypedDict):
    """One step taken (see agent.scene.PastStep), its picture by reference, what was done and its effect as plain data.

    `touched` is kept where a recorded skill is followed: what a model does in between counts for steps of it.
    """

    number: int
    reply: str
    thought: str
    did: list[str | dict[str, Any]]
    effect: list[dict[str, Any]]
    app: str
    frame: str | None
    fate: str
    not_done: NotDoneData | None
    memo: dict[str, Any]
    touched: NotRequired[list[dict[str, Any]]]


class ReplyData(TypedDict):
    """A model's reply as it came, ready to be parsed (again)."""

    text: str
    reasoning: str
    tool_calls: list[dict[str, str]]
    finish_reason: NotRequired[str]
    memo: NotRequired[dict[str, Any]]


class DecisionData(TypedDict):
    """A reply, understood: actions as plain data."""

    thought: str
    summary: str
    actions: list[dict[str, Any]]


class EarlierData(TypedDict):
    """What the first `steps` of the past have come to, summed up. It is not tried again before so many `tried`."""

    steps: int
    text: str
    tried: int


class ResultData(TypedDict):
    """How the sub-task ended. `on_screen` is True where every line of `data` was a label on the last screen."""

    outcome: str
    summary: str
    data: str | None
    on_screen: NotRequired[bool]


class ExecutorState(TypedDict, total=False):
    """The state of one sub-task of a run. `run` to `files` are the order; the rest is worked on.

    `files` are the paths on the phone of what came with the task.

    `index` is the next action of the decision; `did`, `effect`, `mark` and `touched` (see
    agent.recorded_skills.recording.RecordedAction) collect what this step has done so far;
    `question` is what a person is asked (`aside`: between two steps, by no action; `asides` counts those, `askings` the
    questions that were answered), `approved` the action index that a person allowed, `secret` the id of a secret that
    waits to be typed, `entered` the fields that got one, `entered_at` the number of the step that typed the last
    one, `held` that of one which was given before it had a field,
    `covered` the places where secrets were seen (see agent.guards.masking), `readable` the apps that forbid pictures
    and whose words a person lets be told, `said` what the person has answered or written in this run; the last four are
    kept for the whole run as is `given_up`, the sub-tasks that ended because nothing moved; `told` is what the model is
    told next, `steers` all that the person has written in this run,
    `fate` what became of the last action, as an agent.scene.StepFate (None where its sentences in `did` tell), and
    `not_done` why it was not done; `history` feeds the guard against loops; `denied` counts the tries of
    what a person has not allowed, and `unlike` the approvals whose screen was not the same any more, by what they were
    for (see agent.graph.executor.approvals); the whole run keeps the former, `matters`
    (agent.graph.executor.matters.Matter as data) and whether it has `acted` at all, and `shown` has the pictures that
    were allowed in the latter. `deeds` are what was done in this sub-task without a question, `deeds_before` how many
    of them before the last no. `standing` is what a person has allowed ahead (agent.standing_yes.StandingYes as data),
    kept for the whole run; `passed` is the one of them that lets this action pass. `untold` is the event of the last
    step, until it is known what its action changed (see agent.graph.executor.steps); `seen` tells which words the apps
    have shown (agent.guards.seen_words), `handed_out` what a person has let out of the phone; the run keeps both;
    `readings` are what the independent reader said of presses of this step (agent.guards.reading.PressReading as data);
    `read` are texts of others that the model is shown as data (pages, results of searches), `found` the addresses that
    searches returned; the whole run keeps the latter; `sources` are the pages that this sub-task has read;
    `earlier` is what the first steps of `past` were summed up to, which keeps all of them as the record; `sent` is how
    many tokens the acting model was last sent, `refused` what became of a request that was too long for it ("refused",
    then "summed up" until the model has answered), and `narrow` says that it is shown no past pictures because of that;
    `gathered` is the last summing up of the notes, the data of the sub-task unless the model names other data.
    """

    run: str
    phone: str
    subtask: int
    task: str
    goal: str
    plan: str
    max_steps: int
    files: list[str]
    step: int
    bad_replies: int
    verify_rounds: int
    frame: str | None
    size: list[int]
    app: str
    app_name: str
    reply: ReplyData
    decision: DecisionData
    index: int
    did: list[str | dict[str, Any]]
    effect: list[dict[str, Any]]
    mark: list[int] | None
    touched: list[dict[str, Any]]
    question: dict[str, Any] | None
    approved: int | None
    anchor: dict[str, Any] | None
    denied: dict[str, int]
    matters: list[dict[str, Any]]
    acted: bool
    deeds: list[str | dict[str, Any]]
    deeds_before: int
    unlike: dict[str, int]
    shown: dict[str, str]
    standing: list[dict[str, Any]]
    passed: dict[str, Any] | None
    secret: str | None
    held: str | None
    entered: list[list[str]]
    entered_at: int | None
    said: list[str]
    seen: Seen
    handed_out: list[list[str]]
    askings: int
    covered: list[list[str]]
    readable: list[str]
    aside: bool
    asides: int
    given_up: int
    told: list[str]
    steers: list[str | dict[str, Any]]
    fate: str | None
    not_done: NotDoneData | None
    untold: dict[str, Any] | None
    notes: list[str]
    past: list[PastData]
    history: list[list[str]]
    earlier: EarlierData | None
    sent: int
    refused: str
    narrow: bool
    gathered: str | None
    read: list[str]
    found: list[str]
    sources: list[dict[str, str]]
    readings: list[dict[str, Any]]
    usage: dict[str, Any]
    result: ResultData | None


def did_of(data: list[str | dict[str, Any]]) -> tuple[str, ...]:
    """What a step did, as sentences."""
    return tuple(map(restored, data))


def did_as(fate: StepFate, what: Words) -> Words:
    """The sentence that says `what` was to be done and what became of it."""
    return what if fate is StepFate.DONE else words(f"did.{fate}", what=what)


def fate_of(state: PastData | ExecutorState) -> StepFate:
    """What became of a step that was taken, or of the one that the state is about."""
    return StepFate.DONE if state["fate"] is None else StepFate(state["fate"])


def unsummed(state: ExecutorState) -> list[PastData]:
    """The steps of the past that are shown as they were."""
    earlier = state.get("earlier")
    return state["past"][earlier["steps"] :] if earlier else state["past"]


def past_line(step: PastData) -> str:
    """A step taken, as other models than the acting one are told of it."""
    return f"{' · '.join(did_of(step['did']))} → {in_english(effects_of(step['effect']))}"


def ended(outcome: Outcome, summary: str, data: str | None = None) -> ResultData:
    """A result as plain data."""
    return {"outcome": outcome.value, "summary": summary, "data": data}


def ended_by(error: Exception) -> ResultData:
    """The result of a sub-task that a fault has ended."""
    fault = fault_of(error)
    return ended(fault.outcome, fault.sentence)


def spent(state: Mapping[str, Any]) -> Usage:
    """The tokens spent so far, by the state of a sub-task or of a whole task."""
    return Usage.of(state.get("usage", {}))


def usage_data(usage: Usage) -> dict[str, Any]:
    """Tokens as plain data."""
    return usage.data()


def reply_of(state: ExecutorState) -> ModelReply:
    """The last reply of this step."""
    data = state["reply"]
    calls = tuple(ToolCall(**call) for call in data["tool_calls"])
    return ModelReply(data["text"], calls, reasoning=data["reasoning"], finish_reason=data.get("finish_reason", ""))


def why_unusable(reply: ModelReply, error: BadReply) -> str:
    """What was wrong with an answer, in words for the model: how it ended explains more than how it reads."""
    if reply.finish_reason == "length":
        return f"It was cut off because it was too long; think and write less. {error}"
    if reply.finish_reason == "content_filter":
        return f"It was stopped by the content filter of your endpoint. Say less about the content. {error}"
    if not (reply.text.strip() or reply.tool_calls):
        return f"It was empty. {error}"
    return str(error)


def reply_text(reply: ModelReply) -> str:
    """What the model said, calls included, as it is shown to it again."""
    calls = "\n".join(f'{{"name": "{call.name}", "arguments": {call.arguments}}}' for call in reply.tool_calls)
    return "\n".join(part for part in (reply.text, calls) if part)


def not_done_of(data: NotDoneData | None) -> NotDone | None:
    """Why an action was not done, from plain data."""
    return None if data is None else NotDone(restored(data["reason"]), data["uncertain"], data["unknown_app"])
