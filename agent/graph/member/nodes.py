"""The nodes of a member's graph: its model, its tools, and its questions to the person."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from agent.context_window import SummedUp, summed_up
from agent.control import Stopped
from agent.error_mapping import BY_PERSON, Fault, fault_of
from agent.events import RunEnded, RunEvent
from agent.graph.member.context import MemberContext, MemberOrder, MemberSession
from agent.graph.member.state import (
    ASK,
    GIVE_UP,
    ConversationState,
    MemberState,
    SafetyState,
    joined,
    message_of,
)
from agent.graph.streaming import ProseOnly, Thoughts
from agent.graph.subjects import spent, with_sources
from agent.guards.masking import Mask
from agent.limits import BudgetReached
from agent.models.base import Message, ModelRequest, Purpose, ToolCall, ToolSpec
from agent.models.errors import InputTooLong, ModelError
from agent.models.json_answers import objects_in
from agent.ports.memory import memory_block
from agent.ports.stores import Frames
from agent.prompts import prompt
from agent.questions import ALLOW, DENY, Answer, Question, QuestionKind, QuestionOrigin
from agent.run import Outcome
from agent.tools.calling import CallResult
from agent.tools.spec import ToolContext
from agent.wording import has_words, sentence
from devices.wording import said

MOST_STRIKES: Final = 2
"""How many unusable answers in a row are tolerated; the next one ends the work."""
MOST_ASKED: Final = 1000
"""The maximum characters of a model's question."""
REFUSED: Final = "refused"
SUMMED_UP: Final = "summed up"
NO_ROOM: Final = "Not done: you have no calls left. Write your last message now, and say what is missing."
ONE_QUESTION: Final = "Not asked: one question at a time."
NO_SECRETS: Final = (
    "Refused and not asked: you never get a password, PIN or code. A run on the phone can have one typed there, unseen "
    "by any model: say in your last message which one is needed. If you wanted to know something else, ask again with "
    "choices."
)
SAY_SOMETHING: Final = "That was empty. Write your last message: what you found, or what could not be done."
LEFT_OUT: Final = "{number:,} more calls of this answer were left out and not done."
OWN_TOOLS: Final = (
    ToolSpec(
        ASK,
        "Ask the person something that only they can know, and wait. Not for what you can find out yourself.",
        {
            "type": "object",
            "properties": {
                "question": {"type": "string"},
                "choices": {"type": "array", "items": {"type": "string"}, "description": "Up to 5 answers to offer."},
            },
            "required": ["question"],
            "additionalProperties": False,
        },
    ),
    ToolSpec(
        GIVE_UP,
        "End the work because it cannot be done. Say why, and what is known all the same.",
        {
            "type": "object",
            "properties": {"reason": {"type": "string"}},
            "required": ["reason"],
            "additionalProperties": False,
        },
    ),
)

FromModel = Command[Literal["member_model", "member_tools", "__end__"]]
FromTools = Command[Literal["member_model", "member_question", "__end__"]]
FromQuestion = Command[Literal["member_model", "member_tools", "__end__"]]


async def member_model(state: MemberState, runtime: Runtime[MemberContext]) -> FromModel:
    """Get one answer from the member's model: tool calls, or its last message. The work cannot end before the model has
    read new notes from the person.
    """
    context, desk = runtime.context, runtime.context.session
    notes, conversation = desk.take_notes(), state["conversation"]
    written = [{"role": "user", "text": f"The person writes: {note}"} for note in notes]
    history = [*conversation["history"], *written]
    update: MemberState = {
        "conversation": {"history": history, "user_messages": [*conversation["user_messages"], *notes]}
    }
    request = ModelRequest(
        Purpose.MEMBER,
        (Message("system", (_instructions(context),)), *map(message_of, _with_memory(history, context.memory))),
        tools=(*context.caller.specs(), *OWN_TOOLS),
        conversation=f"{context.order.task}-{context.member.name}-{context.order.number}",
        task=context.order.task,
        member=context.member.name,
        temperature=desk.guidance.temperature,
        max_tokens=desk.guidance.max_tokens,
    )
    stream = Thoughts(context.member.name, desk.emit, is_answer=context.order.is_whole)
    model, refused = desk.models.for_role(context.member.model), conversation["overflow"]
    try:
        await _check_budget(state, desk)
        shorter = await desk.run_restartable(
            lambda: summed_up(
                request.messages,
                model,
                desk.models.basic,
                task=context.order.task,
                conversation=request.conversation,
                refused=refused == REFUSED,
                cover=context.mask.text,
            )
        )
        if shorter is not None:
            # Stored before anything is asked, so that nothing is summarised again after a crash.
            return Command(goto="member_model", update=joined(update, _with_summary(state, history, shorter)))
        reply = await desk.run_restartable(lambda: model.complete(request, on_delta=ProseOnly(stream)))
    except InputTooLong as error:
        if refused:
            return Command(goto="__end__", update=joined(update, _cut(error, desk)))
        return Command(goto="member_model", update=joined(update, {"conversation": {"overflow": REFUSED}}))
    except (ModelError, Stopped, BudgetReached) as error:
        return Command(goto="__end__", update=joined(update, _cut(error, desk)))
    finally:
        stream.flush()
    usage = spent(state["progress"]) + reply.usage
    room = max(0, context.member.max_calls - state["calls"]["made"])
    calls = reply.tool_calls or _printed(reply.text, request.tools)
    kept = calls[: max(1, room)]
    answered: MemberState = {
        "progress": {"usage": usage.data()},
        "calls": {"turn": state["calls"]["turn"] + 1, "left_out": len(calls) - len(kept)},
        "conversation": {"overflow": ""},
    }
    update = joined(update, answered)
    await desk.reached_limit(usage)
    text = context.mask.text(reply.text.strip())
    if calls:
        made = [asdict(replace(call, id=call.id or f"c{at}")) for at, call in enumerate(kept)]
        asked = {"role": "assistant", "text": "" if not reply.tool_calls else text, "calls": made}
        wanted: MemberState = {"calls": {"wanted": made}, "conversation": {"history": [*history, asked]}}
        return Command(goto="member_tools", update=joined(update, wanted))
    if desk.has_notes:
        so_far = [*history, {"role": "assistant", "text": text or "(nothing)"}]
        read: MemberState = {
            "calls": {"strikes": 0 if has_words(text) else state["calls"]["strikes"]},
            "conversation": {"history": so_far},
        }
        return Command(goto="member_model", update=joined(update, read))
    if has_words(text):
        return Command(goto="__end__", update=joined(update, _done(state, context, text)))
    if state["calls"]["strikes"] >= MOST_STRIKES:
        failed = _result(Outcome.FAILED, sentence("member.no_answer", member=context.member.name))
        return Command(goto="__end__", update=joined(update, failed))
    again = [{"role": "assistant", "text": "(nothing)"}, {"role": "user", "text": SAY_SOMETHING}]
    empty: MemberState = {
        "calls": {"strikes": state["calls"]["strikes"] + 1},
        "conversation": {"history": [*history, *again]},
    }
    return Command(goto="member_model", update=joined(update, empty))


def _with_summary(state: MemberState, history: list[dict[str, Any]], shorter: SummedUp) -> MemberState:
    """Replace old turns of the history with a summary, keeping the instructions."""
    summary = {"role": "user", "text": shorter.summary}
    return {
        "conversation": {
            "history": [*history[: shorter.before - 1], summary, *history[shorter.since - 1 :]],
            "overflow": SUMMED_UP if state["conversation"]["overflow"] else "",
        },
        "progress": {"usage": (spent(state["progress"]) + shorter.usage).data()},
    }


async def member_tools(state: MemberState, runtime: Runtime[MemberContext]) -> FromTools:
    """Run the tool calls of the last answer. If the node is repeated after a crash or a question, the results of
    finished calls are taken from the record.
    """
    context, desk, conversation = runtime.context, runtime.context.session, state["conversation"]
    calls = [ToolCall(**call) for call in state["calls"]["wanted"]]
    if state["calls"]["made"] >= context.member.max_calls:
        return _without_room(state, context, calls)
    others = [call for call in calls if call.name not in {ASK, GIVE_UP}]
    known = tool_context(
        context.order,
        desk,
        context.frames,
        context.mask,
        user_messages=conversation["user_messages"],
        notes=state["findings"]["notes"],
        memory=(*context.memory, *context.facts_of_others),
    )
    try:
        called = await desk.run_restartable(
            lambda: context.caller.call(
                others,
                known,
                turn=state["calls"]["turn"],
                allowed=state["safety"]["allowed"],
                denied=state["safety"]["denied"],
            )
        )
    except (Stopped, BudgetReached) as error:
        return Command(goto="__end__", update=_cut(error, desk))
    waits = next((each for each in called if each.state == "asks"), None)
    if waits is not None:
        update: MemberState = {
            "question": {
                "pending": _approval(state, context, waits),
                "call": "",
                "approval": waits.approval,
                "what": context.mask.text(waits.question),
            }
        }
        return Command(goto="member_question", update=update)
    asking = next((call for call in calls if call.name == ASK), None)
    if asking is not None and not _choices(asking) and context.asks_for_secret(_asked(asking)):
        asking = None
    update = _after(state, calls, called, asking)
    if (given_up := next((call for call in calls if call.name == GIVE_UP), None)) is not None:
        reason = str(_arguments(given_up).get("reason", "")).strip() or sentence("member.gave_up")
        reason = context.mask.text(reason)
        result = _done(state, context, reason) if state["safety"]["declined"] else _result(Outcome.FAILED, reason)
        return Command(goto="__end__", update=joined(update, result))
    if asking is None:
        return Command(goto="member_model", update=update)
    asked: MemberState = {"question": {"pending": _question(state, context, asking), "call": asking.id}}
    return Command(goto="member_question", update=joined(update, asked))


async def member_question(state: MemberState, runtime: Runtime[MemberContext]) -> FromQuestion:
    """Wait for the person's answer. Nothing happens in the node before the interrupt, because it runs again when the
    answer arrives.
    """
    answer = Answer.model_validate(interrupt(state["question"]["pending"]))
    question, conversation, safety = state["question"], state["conversation"], state["safety"]
    update: MemberState = {"question": {"pending": None, "answered_count": question["answered_count"] + 1}}
    if answer.expired:
        blocked = _result(Outcome.BLOCKED, sentence("member.nobody_answered", member=runtime.context.member.name))
        return Command(goto="__end__", update=joined(update, blocked))
    if not question["call"]:
        said_of: SafetyState
        if answer.text == ALLOW:
            said_of = {"allowed": [*safety["allowed"], question["approval"]]}
        else:
            said_of = {
                "denied": [*safety["denied"], question["approval"]],
                "declined": [*safety["declined"], question["what"]],
            }
        return Command(goto="member_tools", update=joined(update, {"safety": said_of}))
    told = {"role": "tool", "text": f"The person answers: {answer.text}", "call": question["call"]}
    heard: ConversationState = {
        "history": [*conversation["history"], told],
        "user_messages": [*conversation["user_messages"], answer.text],
    }
    return Command(goto="member_model", update=joined(update, {"conversation": heard}))


def _with_memory(history: list[dict[str, Any]], facts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the history with remembered facts in its first message. They are in no state."""
    first, *rest = history
    return [{**first, "text": f"{first['text']}{memory_block(facts)}"}, *rest]


def _instructions(context: MemberContext) -> str:
    return f"{context.member.prompt}\n\n{prompt('member', calls=context.member.max_calls)}"


async def _check_budget(state: MemberState, session: MemberSession) -> None:
    fault = await session.reached_limit(spent(state["progress"]))
    if fault is not None:
        raise BudgetReached(fault)


def _printed(text: str, tools: Sequence[ToolSpec]) -> tuple[ToolCall, ...]:
    """Parse a call that a model without native calls printed alone as JSON: {"name": …, "arguments": {…}}."""
    if not text.strip().startswith(("{", "```", "<tool_call>")):
        return ()
    names = {tool.name for tool in tools}
    for found in objects_in(text):
        name, arguments = found.get("name"), found.get("arguments", found.get("parameters"))
        if isinstance(name, str) and name in names and isinstance(arguments, dict):
            return (ToolCall("printed", name, json.dumps(arguments, ensure_ascii=False)),)
    return ()


def _arguments(call: ToolCall) -> dict[str, Any]:
    return next(iter(objects_in(call.arguments)), {})


def _after(
    state: MemberState, calls: Sequence[ToolCall], called: Sequence[CallResult], asking: ToolCall | None
) -> MemberState:
    """Return the history with the calls' results and findings; the result of `asking` is the answer."""
    told = {each.call.id: each.told for each in called}
    not_asked = NO_SECRETS if asking is None else ONE_QUESTION
    results = []
    for call in calls:
        if call is asking:
            continue
        text = told.get(call.id, not_asked if call.name == ASK else "Done." if call.name == GIVE_UP else NO_ROOM)
        results.append({"role": "tool", "text": text, "call": call.id})
    if state["calls"]["left_out"] and results:
        results[-1]["text"] += "\n" + LEFT_OUT.format(number=state["calls"]["left_out"])
    done = [each.done for each in called if each.done is not None]
    ok = (each.done.usage for each in called if each.done is not None and each.state == "ok")
    usage = sum(ok, spent(state["progress"]))
    findings = state["findings"]
    uncertain = [each.question for each in called if each.uncertain]
    return {
        "conversation": {"history": [*state["conversation"]["history"], *results]},
        "calls": {"made": state["calls"]["made"] + len(calls), "left_out": 0, "strikes": 0},
        "findings": {
            "notes": [*findings["notes"], *(n for each in done for n in each.notes if n not in findings["notes"])],
            "data": [*findings["data"], *(each.gathered for each in done if each.gathered)],
            "sources": with_sources(findings["sources"], [asdict(page) for each in done for page in each.sources]),
        },
        "progress": {"usage": usage.data()},
        "safety": {"unsure": [*state["safety"]["unsure"], *uncertain]},
    }


def _without_room(state: MemberState, context: MemberContext, calls: Sequence[ToolCall]) -> FromTools:
    """Handle a model that calls although no calls are left: it is told so, and the next time the work ends."""
    if state["calls"]["strikes"] >= MOST_STRIKES:
        words = sentence("member.too_many_calls", member=context.member.name, calls=context.member.max_calls)
        return Command(goto="__end__", update=_result(Outcome.FAILED, words))
    results = [{"role": "tool", "text": NO_ROOM, "call": call.id} for call in calls]
    update: MemberState = {
        "conversation": {"history": [*state["conversation"]["history"], *results]},
        "calls": {"strikes": state["calls"]["strikes"] + 1, "left_out": 0},
    }
    return Command(goto="member_model", update=update)


def tool_context(
    order: MemberOrder,
    session: MemberSession,
    frames: Frames,
    mask: Mask,
    *,
    user_messages: Sequence[str] = (),
    notes: Sequence[str] = (),
    memory: tuple[str, ...] = (),
) -> ToolContext:
    """Return what a member's tools work with. `user_messages` and `notes` are those since the assignment; `memory` are
    remembered facts that workers were told.
    """
    return ToolContext(
        task_id=order.task,
        person=order.person,
        member=order.member,
        task=order.text,
        said=(order.text, *order.said, *user_messages),
        found=(),
        notes=(*order.notes, *notes),
        memory=memory,
        documents=order.documents,
        phone_id=session.phone,
        models=session.models,
        control=session.control,
        mask=mask,
        frames=frames,
        emit=_only_of_tasks(session),
    )


def _only_of_tasks(session: MemberSession) -> Callable[[RunEvent], None]:
    def tell(event: RunEvent) -> None:
        assert not isinstance(event, RunEnded), "a tool has no run that could end"
        session.emit(event)

    return tell


def _question(state: MemberState, context: MemberContext, call: ToolCall) -> dict[str, Any]:
    """Return a member's question. If an answer could be a secret, only the choices are accepted."""
    text, offered = _asked(call), _choices(call)
    return Question(
        id=_question_id(state, context),
        origin=QuestionOrigin.MEMBER,
        kind=QuestionKind.ASK,
        text=context.mask.text(text),
        choices=tuple(context.mask.text(each) for each in offered),
        strict=bool(offered) and context.asks_for_secret(text),
    ).model_dump(mode="json")


def _asked(call: ToolCall) -> str:
    return " ".join(str(_arguments(call).get("question", "")).split())[:MOST_ASKED] or "?"


def _choices(call: ToolCall) -> list[str]:
    choices = _arguments(call).get("choices")
    return [str(each)[:80] for each in choices[:5]] if isinstance(choices, list) else []


def _approval(state: MemberState, context: MemberContext, called: CallResult) -> dict[str, Any]:
    assert called.gate is not None
    lines = [sentence("ask.reason", reason=said(called.gate.reason)), *called.details]
    return Question(
        id=_question_id(state, context),
        origin=QuestionOrigin.MEMBER,
        kind=QuestionKind.APPROVE,
        text=context.mask.text(sentence("ask.may", what=called.question)),
        choices=(ALLOW, DENY),
        detail=context.mask.text("\n".join(" ".join(line.split()) for line in lines)),
        consequence=called.gate.consequence,
    ).model_dump(mode="json")


def _question_id(state: MemberState, context: MemberContext) -> str:
    """Return an id that is the same if the question comes again after a restart; each asking has its own."""
    order, asked = context.order, state["question"]["answered_count"] + 1
    return f"{order.task}.member{order.number}.{state['calls']['turn']}.{asked}"


def _done(state: MemberState, context: MemberContext, text: str) -> MemberState:
    """End the work with a last message; code first adds what a person denied and what may not have been done."""
    lines = [sentence("matter.denied", what=what) for what in state["safety"]["declined"]]
    lines += [sentence("matter.uncertain", what=what) for what in state["safety"]["unsure"]]
    if not lines:
        return _result(Outcome.SUCCEEDED, text)
    outcome = Outcome.DECLINED if state["safety"]["declined"] else Outcome.UNVERIFIED
    lines.append(sentence("member.says", member=context.member.name, text=text))
    return _result(outcome, "\n".join(lines))


def _result(outcome: Outcome, summary: str, fault: Fault | None = None) -> MemberState:
    told = fault and fault.data()
    return {"progress": {"result": {"outcome": outcome.value, "summary": str(summary), "fault": told}}}


def _cut(error: ModelError | Stopped | BudgetReached, session: MemberSession) -> MemberState:
    """End the work that was cut off. A shutdown is not an end: Stopped is raised again, to be continued later.

    Only a fault of the whole task ends the task: another member may manage without this model.
    """
    if isinstance(error, Stopped):
        if not session.control.cancelled:
            raise error
        return _result(BY_PERSON.outcome, BY_PERSON.sentence, BY_PERSON)
    if isinstance(error, BudgetReached):
        return _result(error.fault.outcome, error.fault.sentence, error.fault)
    fault = fault_of(error)
    return _result(fault.outcome, fault.sentence)
